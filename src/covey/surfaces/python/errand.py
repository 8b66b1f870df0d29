"""An errand: what a child that is a function of this program is to do, and what it does it with."""

from collections.abc import Awaitable, Callable

import covey
from covey.core.message import Message
from covey.core.parts import FilePart
from covey.core.run import Run, RunState
from covey.ports.launching import Errand as Given
from covey.ports.launching import Group, Product, PythonChild
from covey.services.directory import Joined
from covey.services.space import Services
from covey.surfaces.python.checks import file as parse_file
from covey.surfaces.python.results import Answer, Failure, outcome_of


class Errand:
    """Given to the function that is a child, for its task; in session mode also for whatever it is told later."""

    def __init__(self, given: Given, me: "covey.Member", report: Callable[[str], None], services: Services) -> None:
        self._given = given
        self._services = services
        self.me = me
        """The child's own session: it sends, asks and reads with it."""
        self.report = report
        """Says what is produced so far: it counts also where the child is stopped or takes too long."""

    @property
    def task(self) -> str:
        """What it is to do, in the words of who asked."""
        return self._given.child.task if self._given.number == 1 else self._given.message.text

    @property
    def prompt(self) -> str:
        """The same with all that a model should be told: who asked, how to report, what was said before."""
        return self._given.prompt

    @property
    def message(self) -> Message:
        return self._given.message

    @property
    def run(self) -> Run:
        return self._given.child.run

    @property
    def files(self) -> tuple[FilePart, ...]:
        """Its attachments, as they were when it was started."""
        return self._given.child.files

    async def file(self, part: FilePart) -> bytes:
        """Return the content of an attachment."""
        return await self._services.attachments.content(parse_file(part))


def python_child(
    services: Services, handler: Callable[[Errand], Awaitable[Answer]], group: Group | None
) -> PythonChild:
    """Return a function as what is launched."""

    async def call(given: Given, report: Callable[[str], None]) -> Product:
        session = await services.directory.session(given.child.run.session)
        me = covey.Member(Joined(session, given.child.secret, 0), services)
        outcome = outcome_of(await handler(Errand(given, me, report, services)))
        if isinstance(outcome, Failure):
            text = outcome.text or outcome.reason
            return Product(RunState.FAILED, text, outcome.data, outcome.files, outcome.reason)
        return Product(RunState.COMPLETED, outcome.text, outcome.data, outcome.files)

    return PythonChild(call, group)
