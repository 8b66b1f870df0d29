"""Work: requests of a coordinator to a worker, and the state of their dialogue."""

from covey.core.directory.session import Session
from covey.core.identity import Identity
from covey.core.ledger.draft import Draft
from covey.core.ledger.marks import Marks, Step, Together, is_part_of, pair_of
from covey.core.ledger.message import Message
from covey.core.ledger.receipt import Receipt
from covey.ports.store import Store, Transaction
from covey.services.mail.mail import Mail
from covey.services.mail.recipients import SendPolicy


class Work:
    def __init__(self, store: Store, mail: Mail) -> None:
        self._store = store
        self._mail = mail

    async def last(self, worker: Session, actor: Identity) -> Message | None:
        """Return the last message of the two about the actor's work; None if there is none. Messages of others in the
        thread are left out."""
        pair = _pair(worker, actor)

        async def operation(tx: Transaction) -> Message | None:
            first = await tx.messages.latest_of(pair)
            if first is None or not is_part_of(pair, first.sender):
                return None
            said = [one for one in await tx.messages.thread(first.thread) if is_part_of(pair, one.sender)]
            return said[-1] if said else None

        return await self._store.read(operation)

    async def give(self, draft: Draft, worker: Session, actor: Identity) -> Receipt:
        """Send a worker something to do: its answer is finished work."""
        return await self._mail.send(draft, actor, SendPolicy(), Marks(_pair(worker, actor), step=Step.WORK))


def _pair(worker: Session, actor: Identity) -> str:
    return pair_of(Together.WORK, actor, Identity(worker.agent, worker.id))
