"""Moves of pruning, in the middle of a story: only closed and old records are pruned."""

from datetime import timedelta

from hypothesis import strategies as st

from covey.adapters.memory import MemoryBlobs, MemoryPages
from covey.core.channels.post import PostState
from covey.core.ledger.delivery import WAITING
from covey.core.ledger.offer import Offer
from covey.core.ledger.ticket import TicketState
from covey.core.names import MessageId, OfferId, Scope
from covey.ports.store import Operation, Transaction
from covey.services.care.retention import PruneRequest
from tests.properties.draws import maybe_scope, often, seldom, which
from tests.properties.moves import move
from tests.properties.sameness import Snapshot
from tests.properties.twins import THE_OPERATOR, Twins
from tests.properties.world import finish


class PruneMoves(Twins):
    @move(1, who=which, age=st.sampled_from((0, 0, 60, 600)), scope=maybe_scope, only_unscoped=seldom)
    def prune(self, who: int, age: int, scope: Scope | None, only_unscoped: bool) -> None:
        before = self.clock.now() - timedelta(seconds=age)
        self._prune(PruneRequest(before, None if only_unscoped else scope, only_unscoped), who)

    @move(1, who=which, scope=maybe_scope, but_one=seldom, narrowly=often)
    def close_and_prune(self, who: int, scope: Scope | None, but_one: bool, narrowly: bool) -> None:
        """Let the operator close everything in a scope, or everything without one. Sometimes one message stays open."""
        assert self.before is not None
        for task in self.before.tasks.values():
            if task.scope == scope and not task.is_finished:
                self.both(lambda services, task_id=task.id: services.tasks.cancel(task_id, THE_OPERATOR))
        self.before = finish(self.worlds[0].store.read(self.all_records))
        chosen = [m.id for m in self.before.messages.values() if m is not None and m.scope == scope]
        for message_id in chosen[1:] if but_one else chosen:
            self._close(message_id)
        self.clock.advance(1)
        both_kinds = PruneRequest(self.clock.now())
        self._prune(PruneRequest(self.clock.now(), scope, scope is None) if narrowly else both_kinds, who)

    def _close(self, message_id: MessageId) -> None:
        assert self.before is not None
        self.both(lambda services: services.mail.settle(message_id, THE_OPERATOR))
        for ticket in self.before.tickets.values():
            if ticket.message_id == message_id and ticket.state is not TicketState.CLOSED:
                self.both(lambda services, owed=ticket.id: services.dialogue.waive(owed, THE_OPERATOR))

    def _prune(self, wanted: PruneRequest, who: int) -> None:
        actor = self.actor(who)
        before = finish(self.worlds[0].store.read(self.all_records))
        self.both(lambda services: services.prune(MemoryBlobs(), MemoryPages()).survey(wanted))
        self.both(lambda services: services.prune(MemoryBlobs(), MemoryPages()).prune(wanted, actor, _tell_nobody))
        for world in self.worlds:
            finish(world.store.read(lambda tx: _check(tx, before, wanted)))
        self.offers = [shown for shown in self.offers if finish(self.worlds[0].store.read(_offer(shown[0])))]
        self.before = None  # pruned records can't be compared


def _tell_nobody(_done: int, _of: int | None) -> None: ...


def _offer(offer_id: OfferId) -> Operation[Offer | None]:
    return lambda tx: tx.offers.get(offer_id)


async def _check(tx: Transaction, before: Snapshot, wanted: PruneRequest) -> None:
    """Check that no open, recent or unselected message was pruned, and that pruned ids are remembered."""
    for message_id, message in before.messages.items():
        is_there = await tx.messages.get(message_id) is not None
        assert is_there != await tx.pruned.has(message_id)
        if is_there or message is None:
            continue
        thread = {m.id: m.scope for m in before.messages.values() if m is not None and m.thread == message.thread}
        copies = [copy for copy in before.deliveries.values() if copy.message_id in thread]
        debts = [ticket for ticket in before.tickets.values() if ticket.message_id in thread]
        assert message.created_at < wanted.before
        assert all(copy.updated_at < wanted.before for copy in copies)
        assert all(ticket.state is TicketState.CLOSED for ticket in debts), "what was owed was pruned"
        assert not any(copy.state in WAITING for copy in copies), "what waited was pruned"
        assert not any(before.posts[c.id].state is PostState.PENDING for c in copies if c.id in before.posts)
        assert not [run for run in before.runs if run.request in thread and not run.has_ended], "its child ran"
        for task in before.tasks.values():
            assert task.id not in thread or task.is_finished, "what was not finished was pruned"
            left = await tx.tasks.get(task.id)  # pruning first ends the tasks whose deadline has passed
            if left is not None and not left.is_finished:
                assert task.parent not in thread, "a part of it is not finished"
        assert wanted.scope is None or set(thread.values()) <= {wanted.scope, None}
        assert not wanted.is_unscoped or set(thread.values()) == {None}
