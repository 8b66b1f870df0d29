"""How many rounds a negotiation may have in a space."""

from covey.core.negotiation import ROUNDS, ROUNDS_SETTING
from covey.ports.store import Transaction


async def rounds_of(tx: Transaction) -> int:
    """Return how many; the operator sets it, also for those that go on."""
    return int(await tx.settings.get(ROUNDS_SETTING) or ROUNDS)
