"""The limit of rounds of a negotiation in a space."""

from covey.core.work.negotiation import ROUNDS, ROUNDS_SETTING
from covey.ports.store import Transaction


async def rounds_of(tx: Transaction) -> int:
    """Return the limit. The operator sets it, also for negotiations in progress."""
    return int(await tx.settings.get(ROUNDS_SETTING) or ROUNDS)
