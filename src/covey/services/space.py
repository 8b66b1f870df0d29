"""All services of one space. Each service is created, and its module imported, at its first use."""

from collections.abc import Callable

import covey.ports as ports
from covey.core.coroutine import Complete, complete
from covey.core.errors import BeyondToken
from covey.core.identity import Grade, Identity
from covey.core.late import late
from covey.core.limits import RECHECK_SECONDS


class Services:
    """The services over some adapters.

    A short-lived program needs one or two services, and should not wait for the import of the others. So imports are
    late, and the properties below have no annotations: their types are inferred.
    """

    def __init__(
        self,
        ports: "ports.Ports",
        recheck: float = RECHECK_SECONDS,
        holder: Identity | None = None,
        launching: "Callable[[Services], ports.Launching] | None" = None,
        whole: "Services | None" = None,
        complete: Complete = complete,
    ) -> None:
        self._ports = ports
        self._recheck = recheck
        self._holder = holder
        """The identity whose token limits these services."""
        self._launch = launching
        """Creates the supervisor of children; None if this program can't have children."""
        self._whole = whole or self
        self._complete = complete
        """Runs the cleanup after a cancelled caller."""

    def narrowed_to(self, holder: Identity) -> "Services":
        """Return these services with the rights of the holder of a token.

        An agent's token limits them: reads return the agent's own mail, writes are made in its name, and operations on
        the whole space raise BeyondToken.
        """
        from covey.core.authority import is_bound

        if not is_bound(holder):
            return self
        from covey.services.scoped.ports import ScopedPorts

        return Services(
            ScopedPorts(self._ports, holder), self._recheck, holder, whole=self._whole, complete=self._complete
        )

    @property
    def vouched(self) -> Identity | None:
        """The identity that the store's own credentials prove, as a token would; None if they prove none."""
        author = self._ports.author
        return None if author is None else Identity(author, None, Grade.TOKEN)

    def _check_whole(self, action: str) -> None:
        if self._holder is not None:
            raise BeyondToken(self._holder.agent, action)

    @property
    def clock(self) -> "ports.Clock":
        return self._ports.clock

    @late
    def approvals(self):
        from covey.services.dialogue.asks import Approvals

        return Approvals(self.clock, self._ports.ids, self.mail, self.asks)

    @late
    def asks(self):
        from covey.services.dialogue.asks import Asks

        return Asks(
            self._ports.store, self.clock, self._ports.ids, self.mail, self.waiting, self.waits, self.recently_shown
        )

    @late
    def attachments(self):
        from covey.services.mail.attachments import Attachments

        return Attachments(self._ports.blobs, self._ports.files)

    @late
    def attention(self):
        from covey.services.attention.attention import Attention

        return Attention(
            self._ports.store, self.clock, self._notice_ports, self.upkeep, self.waiting, self.recently_shown
        )

    @late
    def audit(self):
        from covey.services.care.audit import Audit

        self._check_whole("audit the space")
        return Audit(self._ports.store)

    @late
    def bridge(self):
        """The bridge that imports messages of foreign programs; None if there is no wire."""
        from covey.services.peers.bridge import Bridge

        self._check_whole("receive messages of foreign programs")
        wire = self._ports.wire
        return None if wire is None else Bridge(wire, self._ports.store, self.clock, self.mail)

    @late
    def channels(self):
        from covey.services.channels.channels import Channels

        self._check_whole("use channels")
        return Channels(self._ports.store, self.clock, self.mail)

    @late
    def clients(self):
        from covey.services.directory.clients import Clients

        return Clients(self._ports.store, self.clock, self._ports.liveness, self.directory, self._holder)

    @late
    def dialogue(self):
        from covey.services.dialogue.dialogue import Dialogue

        return Dialogue(self._ports.store, self.clock, self._ports.shared_archive)

    @late
    def directory(self):
        from covey.services.directory.directory import Directory

        return Directory(self._ports.store, self.clock, self._ports.ids, self._ports.liveness, self._holder)

    @late
    def duties(self):
        from covey.services.tasks.duties import Duties

        return Duties(self._ports.store, self.clock, self._notice_ports, self.waiting)

    def exports(self, views: "ports.Views"):
        from covey.services.transfer.exports import Exports

        self._check_whole("export the space")
        return Exports(views, self._ports.blobs, self.clock)

    @late
    def history(self):
        from covey.services.care.history import History

        return History(self._ports.store, self.clock, self._ports.search)

    @late
    def identities(self):
        from covey.services.directory.identities import Identities

        return Identities(self._ports.store, self.clock, self._ports.ids, self._holder)

    @late
    def imports(self):
        from covey.services.transfer.imports import Imports

        self._check_whole("import into the space")
        return Imports(self._ports.store, self._ports.blobs, self.clock, self._ports.liveness)

    @late
    def inbox_limits(self):
        from covey.services.mail.placement import InboxLimits

        return InboxLimits(self._ports.store, self.clock, self._notice_ports)

    @late
    def launching(self) -> "ports.Launching | None":
        """The supervisor of this process's children, or None."""
        return None if self._launch is None else self._launch(self)

    @late
    def inbox(self):
        from covey.services.mail.inbox import InboxReader

        return InboxReader(self._ports.store, self.clock)

    @late
    def mail(self):
        from covey.services.mail.acceptance import Acceptance
        from covey.services.mail.mail import Mail

        acceptance = Acceptance(self._ports.ids, self._ports.liveness)
        return Mail(
            self._ports.store,
            self.clock,
            self._notice_ports,
            self._ports.blobs,
            acceptance,
            self.waiting,
            self._ports.wire,
        )

    @late
    def negotiations(self):
        from covey.services.dialogue.negotiation import Negotiations

        return Negotiations(self._ports.store, self.clock, self.mail, self.asks, self.recently_shown)

    @late
    def offers(self):
        from covey.services.attention.offers import MailOffers

        return MailOffers(self._ports.store, self.clock, self._notice_ports, self.upkeep, self.recently_shown)

    @late
    def reading(self):
        from covey.services.attention.offers import MessageReader

        return MessageReader(self._ports.store, self.clock, self._notice_ports, self.upkeep)

    @late
    def recently_shown(self):
        from covey.services.attention.recently_shown import RecentlyShown

        return RecentlyShown(self.clock, self._ports.store)

    @late
    def pauses(self):
        from covey.services.directory.settings import Pauses

        self._check_whole("see and change pauses")
        return Pauses(self._ports.store, self.clock)

    @late
    def policies(self):
        from covey.services.directory.settings import Policies

        self._check_whole("change settings of the space")
        return Policies(self._ports.store, self.clock)

    @late
    def posts(self):
        from covey.services.channels.outbox import Outbox

        self._check_whole("use channels")
        return Outbox(self._ports.store, self.clock, self._ports.ids, self._ports.liveness)

    def prune(self, blobs: "ports.BlobUpkeep", pages: "ports.Pages"):
        from covey.services.care.prune import Prune

        self._check_whole("prune the space")
        return Prune(self._ports.store, self.clock, self.upkeep, self._ports.search, blobs, pages)

    @late
    def runs(self):
        from covey.services.children.runs import RunViews

        return RunViews(self._ports.store, self.clock, self._ports.liveness)

    @late
    def spawning(self):
        from covey.services.children.spawning import Spawning

        # A child of another agent acts in that agent's name from its start, so spawning uses the unrestricted store.
        # The first stage of a spawn checks the permission, and a holder can start only its own children.
        whole = self._whole
        return Spawning(
            whole._ports.store,
            self.clock,
            whole._notice_ports,
            whole.directory,
            self.attachments,
            whole.asks,
            whole.waits,
            whole.waiting,
            whole.supervision,
            lambda: whole.launching,
            self._ports.store,
            self._holder,
        )

    @late
    def supervision(self):
        from covey.services.children.supervision import Supervision

        self._check_whole("supervise children")
        return Supervision(self._ports.store, self.clock, self._notice_ports, self.offers, self.waiting)

    @late
    def status(self):
        from covey.services.care.status import Status

        return Status(
            self._ports.store,
            self.clock,
            self._ports.liveness,
            self.runs,
            self.waits,
            lambda: self.storms,
            self._holder,
        )

    @late
    def storms(self):
        from covey.services.storms.storms import Storms

        self._check_whole("see and stop storms")
        return Storms(self._ports.store, self.clock)

    @late
    def tasks(self):
        from covey.services.tasks.tasks import Delegation

        return Delegation(self._ports.store, self.clock, self._notice_ports, self.mail, self.waiting)

    @late
    def traffic(self):
        from covey.services.mail.traffic import Traffic

        return Traffic(self._ports.store, self.clock)

    @late
    def _notice_ports(self):
        from covey.services.mail.filing import NoticePorts

        return NoticePorts(self._ports.ids, self._ports.liveness)

    @late
    def upkeep(self):
        from covey.services.care.upkeep import Upkeep

        sweep = None if self._launch is None else self._sweep
        return Upkeep(self._ports.store, self.clock, self._ports.ids, self._ports.liveness, sweep)

    async def _sweep(self) -> int:
        return 0 if self.launching is None else await self.supervision.sweep(self.launching)

    @late
    def waiting(self):
        from covey.services.polling import Poller

        return Poller(self._ports.wakeups, self.clock, self.upkeep.tend, self._recheck)

    @late
    def passive_waiting(self):
        """Waiting for read-only callers. It does no upkeep, and so changes nothing."""
        from covey.services.polling import Poller

        return Poller(self._ports.wakeups, self.clock, None, self._recheck)

    @late
    def waits(self):
        from covey.services.mail.waits import WaitRegistry

        return WaitRegistry(self._ports.store, self.clock, self._ports.liveness, self._complete)

    @late
    def work(self):
        from covey.services.tasks.tasks import Coordination

        return Coordination(self._ports.store, self.mail)
