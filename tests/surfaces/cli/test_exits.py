"""Every error has an exit code and advice, and is written for people and for programs."""

import io
import json
import re
from collections.abc import Iterator, Mapping
from typing import Final

import pytest

from covey.core import errors
from covey.core.errors import CoveyError
from covey.surfaces.cli.advice import ADVICE, TASK_ADVICE, advice
from covey.surfaces.cli.catalogue import VERBS
from covey.surfaces.cli.exits import DONE, INTERRUPTED, NOT_FOUND, REFUSED, UNAVAILABLE, USAGE, exit_code
from covey.surfaces.cli.main import Usage, options_of
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
"""The exit code of every error of the core, by error code. Programs depend on both."""

OPTION: Final = r"--[a-z][a-z-]*"

BRANCHES: Final = (errors.Rejected, errors.NotFound, errors.Unavailable)


def of_the_core() -> Iterator[type[CoveyError]]:
    """Yield the errors of the core, without the root and the branches."""
    for error in vars(errors).values():
        if isinstance(error, type) and issubclass(error, CoveyError) and error not in (CoveyError, *BRANCHES):
            yield error


def an_error(kind: type[CoveyError]) -> CoveyError:
    """Return an error of a kind, with its own message and details."""
    error = kind.__new__(kind)
    CoveyError.__init__(error, "it went\nwrong \x1b[31m", thing="a thing")
    return error


def told(error: CoveyError, *, as_json: bool) -> tuple[str, str]:
    """Return the text that an error of a verb that has every option writes to stdout and to stderr."""
    out, err = io.StringIO(), io.StringIO()
    Output(as_json, out, err).error(error, None, lambda: {option for verb in VERBS for option in options_of(verb)})
    return out.getvalue(), err.getvalue()


def test_the_table_lists_exactly_the_errors_of_the_core() -> None:
    assert {error.code for error in of_the_core()} == set(EXITS)


@pytest.mark.parametrize("kind", [*of_the_core()], ids=lambda kind: kind.code)
def test_every_error_has_its_exit_code_and_advice(kind: type[CoveyError]) -> None:
    assert exit_code(an_error(kind)) == EXITS[kind.code]
    assert kind.advice.endswith(".")
    assert kind.advice[0].isupper() or kind.advice.startswith("`covey ")


@pytest.mark.parametrize("kind", [*of_the_core()], ids=lambda kind: kind.code)
def test_an_error_for_people_is_one_line_with_the_next_step(kind: type[CoveyError]) -> None:
    out, err = told(an_error(kind), as_json=False)
    assert out == ""
    next_step = "" if kind is errors.Invalid else f" {ADVICE.get(kind.code, kind.advice)}"
    assert err == f"covey: it went wrong �[31m.{next_step}\n"


@pytest.mark.parametrize("kind", [*of_the_core(), Usage], ids=lambda kind: kind.code)
def test_an_error_for_programs_is_an_envelope(kind: type[CoveyError]) -> None:
    out, err = told(an_error(kind), as_json=True)
    assert err == ""
    assert out.count("\n") == 1
    assert json.loads(out) == {
        "error": {"code": kind.code, "message": "it went\nwrong \x1b[31m", "details": {"thing": "a thing"}}
    }


def test_advice_of_the_command_line_is_for_known_errors_and_names_existing_verbs() -> None:
    assert set(ADVICE) <= set(EXITS)
    for text in ADVICE.values():
        assert text.endswith(".")
        for verb in re.findall(r"`covey ([a-z]+)", text):
            assert verb in VERBS


@pytest.mark.parametrize("verb", VERBS)
def test_advice_names_only_options_that_its_command_has(verb: str) -> None:
    options = options_of(verb)
    moves = [errors.IllegalMove("task", state, move) for state, move in TASK_ADVICE]
    for error in (*map(an_error, of_the_core()), *moves):
        text = advice(error, options)
        assert bool(text) == (not isinstance(error, errors.Invalid)), error.code
        for command in re.findall(r"`covey ([a-z-]+ ?[^`]*)`", text):
            named, *rest = command.split()
            assert set(re.findall(OPTION, " ".join(rest))) <= options_of(named), (error.code, command)
        assert set(re.findall(OPTION, re.sub("`[^`]*`", "", text))) <= options, (error.code, text)


def test_advice_keeps_the_options_that_the_verb_has() -> None:
    unknown = errors.RecipientUnknown("codr")
    assert advice(unknown, options_of("send")).endswith("add --register.")
    assert advice(unknown, options_of("inbox")) == "`covey agents` lists the known agents."


def test_an_error_outside_the_core_has_the_exit_code_of_its_branch() -> None:
    class Unheard(errors.Unavailable):
        code = "unheard"

    assert exit_code(an_error(Unheard)) == UNAVAILABLE
    assert exit_code(Usage("what?", "covey inbox")) == USAGE
    assert [exit_code(an_error(branch)) for branch in BRANCHES] == [REFUSED, NOT_FOUND, UNAVAILABLE]
    assert len({DONE, REFUSED, USAGE, NOT_FOUND, UNAVAILABLE, INTERRUPTED}) == 6
