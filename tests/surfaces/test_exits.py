"""Every error has its exit code and its advice, and says both to people and to programs."""

import io
import json
import re
from collections.abc import Iterator, Mapping
from typing import Final

import pytest

from covey.core import errors
from covey.core.errors import CoveyError
from covey.surfaces.cli.advice import ADVICE
from covey.surfaces.cli.catalogue import VERBS
from covey.surfaces.cli.exits import DONE, INTERRUPTED, NOT_FOUND, REFUSED, UNAVAILABLE, USAGE, exit_code
from covey.surfaces.cli.main import Usage
from covey.surfaces.cli.terminal.output import Output

EXITS: Final[Mapping[str, int]] = {
    "invalid": USAGE,
    "message-too-large": REFUSED,
    "message-id-reused": REFUSED,
    "illegal-move": REFUSED,
    "task-taken": REFUSED,
    "quota-full": REFUSED,
    "spawn-depth": REFUSED,
    "spawn-limit": REFUSED,
    "spawn-not-allowed": REFUSED,
    "no-parent": REFUSED,
    "not-yours": REFUSED,
    "identity-refused": REFUSED,
    "beyond-token": REFUSED,
    "operator-only": REFUSED,
    "hops-exhausted": REFUSED,
    "storm-budget": REFUSED,
    "echo-storm": REFUSED,
    "exchange-storm": REFUSED,
    "progress-storm": REFUSED,
    "wait-circle": REFUSED,
    "paused": REFUSED,
    "kind-rule": REFUSED,
    "messages-archive-without-reply": REFUSED,
    "messages-already-archived": REFUSED,
    "not-an-approval": REFUSED,
    "decision-missing": REFUSED,
    "already-decided": REFUSED,
    "loop-commit-precondition-missing": REFUSED,
    "label-ambiguous": REFUSED,
    "rounds-exhausted": REFUSED,
    "session-ended": REFUSED,
    "file-off-limits": REFUSED,
    "request-replayed": REFUSED,
    "file-outside-roots": REFUSED,
    "export-damaged": REFUSED,
    "export-newer": REFUSED,
    "import-conflict": REFUSED,
    "program-not-executable": REFUSED,
    "would-overwrite": REFUSED,
    "messages-recipient-unknown": NOT_FOUND,
    "messages-orphan-inbox": NOT_FOUND,
    "message-unknown": NOT_FOUND,
    "message-pruned": NOT_FOUND,
    "number-unknown": NOT_FOUND,
    "session-unknown": NOT_FOUND,
    "ticket-unknown": NOT_FOUND,
    "offer-unknown": NOT_FOUND,
    "task-unknown": NOT_FOUND,
    "run-unknown": NOT_FOUND,
    "token-unknown": NOT_FOUND,
    "delivery-unknown": NOT_FOUND,
    "channel-unknown": NOT_FOUND,
    "post-unknown": NOT_FOUND,
    "conversation-unbound": NOT_FOUND,
    "blob-missing": NOT_FOUND,
    "program-not-found": NOT_FOUND,
    "space-missing": UNAVAILABLE,
    "store-busy": UNAVAILABLE,
    "store-full": UNAVAILABLE,
    "store-read-only": UNAVAILABLE,
    "store-corrupt": UNAVAILABLE,
    "store-newer": UNAVAILABLE,
    "store-missing": UNAVAILABLE,
    "store-unconfirmed": UNAVAILABLE,
    "store-stopped": UNAVAILABLE,
    "record-damaged": UNAVAILABLE,
    "message-damaged": UNAVAILABLE,
    "store-closed": UNAVAILABLE,
    "log-diverged": UNAVAILABLE,
    "space-in-use": UNAVAILABLE,
    "backup-unusable": UNAVAILABLE,
    "launcher-unavailable": UNAVAILABLE,
    "nats-unreachable": UNAVAILABLE,
    "nats-untrusted": UNAVAILABLE,
    "nats-refused": UNAVAILABLE,
    "nats-no-jetstream": UNAVAILABLE,
    "nats-storage-full": UNAVAILABLE,
    "nats-payload-small": UNAVAILABLE,
    "clocks-apart": UNAVAILABLE,
    "extra-missing": UNAVAILABLE,
}
"""The exit code of every error of the core, by its stable code. Programs depend on both."""

BRANCHES: Final = (errors.Rejected, errors.NotFound, errors.Unavailable)


def of_the_core() -> Iterator[type[CoveyError]]:
    """Go through the errors of the core, without the root and the branches."""
    for error in vars(errors).values():
        if isinstance(error, type) and issubclass(error, CoveyError) and error not in (CoveyError, *BRANCHES):
            yield error


def an_error(kind: type[CoveyError]) -> CoveyError:
    """Return an error of a kind, with a message and details of its own."""
    error = kind.__new__(kind)
    CoveyError.__init__(error, "it went\nwrong \x1b[31m", thing="a thing")
    return error


def told(error: CoveyError, *, as_json: bool) -> tuple[str, str]:
    """Return what an error writes to stdout and to stderr."""
    out, err = io.StringIO(), io.StringIO()
    Output(as_json, out, err).error(error)
    return out.getvalue(), err.getvalue()


def test_the_table_has_every_error_of_the_core_and_no_other() -> None:
    assert {error.code for error in of_the_core()} == set(EXITS)


@pytest.mark.parametrize("kind", [*of_the_core()], ids=lambda kind: kind.code)
def test_every_error_has_its_exit_code_and_its_advice(kind: type[CoveyError]) -> None:
    assert exit_code(an_error(kind)) == EXITS[kind.code]
    assert kind.advice.endswith(".")
    assert kind.advice[0].isupper() or kind.advice.startswith("`covey ")


@pytest.mark.parametrize("kind", [*of_the_core()], ids=lambda kind: kind.code)
def test_an_error_is_one_line_for_people_with_what_to_do_next(kind: type[CoveyError]) -> None:
    out, err = told(an_error(kind), as_json=False)
    assert out == ""
    next_step = "" if kind is errors.Invalid else f" {ADVICE.get(kind.code, kind.advice)}"
    assert err == f"covey: it went wrong �[31m.{next_step}\n"


@pytest.mark.parametrize("kind", [*of_the_core(), Usage], ids=lambda kind: kind.code)
def test_an_error_is_an_envelope_for_programs(kind: type[CoveyError]) -> None:
    out, err = told(an_error(kind), as_json=True)
    assert err == ""
    assert out.count("\n") == 1
    assert json.loads(out) == {
        "error": {"code": kind.code, "message": "it went\nwrong \x1b[31m", "details": {"thing": "a thing"}}
    }


def test_advice_of_the_command_line_is_for_errors_that_there_are_and_names_what_there_is() -> None:
    assert set(ADVICE) <= set(EXITS)
    for text in ADVICE.values():
        assert text.endswith(".")
        for verb in re.findall(r"`covey ([a-z]+)", text):
            assert verb in VERBS


def test_an_error_that_is_not_of_the_core_goes_by_its_branch() -> None:
    class Unheard(errors.Unavailable):
        code = "unheard"

    assert exit_code(an_error(Unheard)) == UNAVAILABLE
    assert exit_code(Usage("what?", "covey inbox")) == USAGE
    assert [exit_code(an_error(branch)) for branch in BRANCHES] == [REFUSED, NOT_FOUND, UNAVAILABLE]
    assert len({DONE, REFUSED, USAGE, NOT_FOUND, UNAVAILABLE, INTERRUPTED}) == 6
