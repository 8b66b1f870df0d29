"""Make the screens of the main verbs from a fixed space: `python -m tools.screens`.

Each screen is a golden text file for each width, and a picture for the docs. Time, ids and paths are fixed, so that two
runs give the same files.
"""

import io
import os
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple
from unittest.mock import patch

from covey.adapters.system.clock import SystemClock
from covey.adapters.system.ids import SystemIds
from covey.core.coroutine import finish
from covey.core.directory.card import Card
from covey.core.directory.session import SessionKind
from covey.core.identity import Identity, parse_address
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Kind, TextPart
from covey.core.names import AgentName, MessageId, Scope, Subject
from covey.engines import connect_inline, parse_store_url
from covey.services.directory.directory import JoinRequest
from covey.services.mail.recipients import SendPolicy, WhenUnknown
from covey.services.space import Services
from covey.surfaces.cli.main import main as covey
from covey.surfaces.cli.space.top import TopPages
from covey.surfaces.cli.terminal.output import Output
from covey.surfaces.cli.terminal.screen import STYLES
from covey.testing.fakes import CountingIds, HandClock
from tools.demo_picture import picture

ROOT: Final = Path(__file__).parent.parent
GOLDEN: Final = ROOT / "tests" / "surfaces" / "cli" / "screens"
IMAGES: Final = ROOT / "docs" / "images"
WIDTHS: Final = (80, 50)
PICTURED: Final = 80
"""The width of the pictures."""

FOLDER: Final = "/home/me/parser"
"""The folder that the screens name. It is as long as that of a run, so that lines are wrapped alike."""

BEGIN: Final = datetime(2026, 3, 2, 13, 40, tzinfo=UTC)


class Shot(NamedTuple):
    """A command whose screen is kept, by the name of its files."""

    name: str
    words: Sequence[str]


TOP: Final = "top"
"""The verb that is live: its first page is drawn once."""
TOP_LINES: Final = 30
"""The height of its page."""

SHOTS: Final = (
    Shot("status", ("status",)),
    Shot(TOP, (TOP,)),
    Shot("inbox", ("inbox", "coder")),
    Shot("thread", ("thread", "coder:1")),
    Shot("tasks", ("tasks",)),
    Shot("doctor", ("doctor",)),
    Shot("log", ("log", "--since", "1h")),
    Shot("graph", ("graph",)),
)


class _Screen(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


class Studio:
    """A folder with the fixed space, in which commands are given at fixed times."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._url = f"sqlite:{folder}/covey.db"
        self._clock = HandClock(BEGIN)
        self._ids = CountingIds()

    @contextmanager
    def open(self) -> Generator[None]:
        """Replace the clock and the ids of the system, and build the space."""
        with ExitStack() as stack:
            for name in ("now", "monotonic"):
                stack.enter_context(patch.object(SystemClock, name, _as_method(getattr(self._clock, name))))
            for name in ("message_id", "session_id", "offer_id", "secret"):
                stack.enter_context(patch.object(SystemIds, name, _as_method(getattr(self._ids, name))))
            ports = connect_inline(parse_store_url(self._url), [])
            self._fill(Services(ports))
            finish(ports.close())
            yield

    def shoot(self, shot: Shot, width: int, *, coloured: bool) -> str:
        """Return the output of a command on a terminal of this width."""
        out = _Screen()
        with patch.dict(os.environ, _environment(width, coloured)), redirect_stdout(out), redirect_stderr(out):
            if shot.name == TOP:
                self._draw_top(width)
            else:
                covey((*shot.words, "--store", self._url))
        return out.getvalue().replace(self._folder, FOLDER)

    def _draw_top(self, width: int) -> None:
        ports = connect_inline(parse_store_url(self._url), [])
        pages = TopPages(Services(ports), self._url)
        finish(pages.look())
        output = Output(as_json=False)
        for line in pages.lines(self._clock.now(), (width, TOP_LINES), STYLES):
            output.pieces(*((text, style.replace("reverse", "bold")) for text, style in line))  # as far as pictures go
        output.pieces((pages.hint, "dim"))
        finish(ports.close())

    def _fill(self, services: Services) -> None:
        lead, coder = (self._join(services, *who) for who in (("lead", "plans"), ("coder", "writes the parser")))
        critic = Identity(AgentName("critic"))
        finish(services.directory.register(critic.agent, Card(description="reviews"), critic))
        question = self._send(services, lead, "coder", "Why are there two retries in the parser?", asks=True)
        self._send(services, coder, "lead", "One is for the proxy. It closes idle connections.", answers=question)
        self._send(services, lead, "critic", "Is the parser ready to merge?", asks=True)
        task = self._delegate(services, lead, "coder", "Remove the second retry and add a test for the proxy.")
        finish(services.duties.accept(task, coder))
        self._clock.advance(60)
        finish(services.duties.start(task, coder))
        self._delegate(services, coder, "critic", "Review the change of the retries.", part_of=task)
        self._send(services, lead, "coder", "The release is on Thursday.", subject="release")
        self._clock.advance(240)

    def _join(self, services: Services, name: str, about: str) -> Identity:
        self._clock.advance(5)
        wish = JoinRequest(AgentName(name), Card(description=about), kind=SessionKind.LEASED, lease=timedelta(hours=8))
        return finish(services.directory.join(wish)).identity

    def _send(
        self,
        services: Services,
        sender: Identity,
        to: str,
        text: str,
        *,
        asks: bool = False,
        answers: MessageId | None = None,
        subject: str = "retries",
    ) -> MessageId:
        self._clock.advance(75)
        draft = Draft(
            Kind.REQUEST if asks else Kind.RESPONSE if answers else Kind.NOTIFY,
            (parse_address(to),),
            (TextPart(text),),
            scope=Scope("T-17"),
            subject=Subject(subject),
            in_reply_to=answers,
            expects_reply=asks,
        )
        return finish(services.mail.send(draft, sender, SendPolicy(when_unknown=WhenUnknown.REGISTER))).message_id

    def _delegate(
        self, services: Services, sender: Identity, to: str, text: str, part_of: MessageId | None = None
    ) -> MessageId:
        self._clock.advance(75)
        draft = Draft(Kind.TASK, (parse_address(to),), (TextPart(text),), scope=Scope("T-17"), relaying=part_of)
        return finish(services.tasks.delegate(draft, sender, SendPolicy())).task.id


def _as_method(function: Callable[..., object]) -> Callable[..., object]:
    """Return a function as a method of another class."""

    def method(_: object, *arguments: object) -> object:
        return function(*arguments)

    return method


def _environment(width: int, coloured: bool) -> Mapping[str, str]:
    return {"COLUMNS": str(width), "TERM": "xterm-256color", "NO_COLOR": "" if coloured else "1"}


@contextmanager
def studio() -> Generator[Studio]:
    """Open the fixed space in a private folder, in UTC and without the settings of the user."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("COVEY_")}
    with tempfile.TemporaryDirectory(prefix="cv", dir="/tmp") as folder:  # a short path, because sockets are in it
        settings = {"HOME": folder, "COVEY_RUNTIME_DIR": f"{folder}/run", "TZ": "UTC"}
        with patch.dict(os.environ, {**own, **settings}, clear=True):
            time.tzset()
            made = Studio(folder)
            with made.open():
                yield made
    time.tzset()


def files() -> dict[Path, str]:
    """Return the content of every golden file and every picture."""
    made: dict[Path, str] = {}
    with studio() as space:
        for shot in SHOTS:
            for width in WIDTHS:
                made[GOLDEN / f"{shot.name}-{width}.txt"] = space.shoot(shot, width, coloured=False)
            shown = space.shoot(shot, PICTURED, coloured=True)
            command = f"covey {' '.join(shot.words)}"
            lines = [f"$ {command}", *shown.splitlines()]
            made[IMAGES / f"{shot.name}.svg"] = picture(lines, f"The output of {command}")
    return made


def main() -> None:
    """Write all files."""
    for path, content in files().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    sys.stdout.write(f"{len(SHOTS)} screens\n")


if __name__ == "__main__":
    main()
