"""The verb `prune`."""

from argparse import ArgumentParser
from functools import partial
from typing import Final

from covey.core.errors import Invalid
from covey.core.json import Json
from covey.core.names import known_scope
from covey.core.reporting import counted
from covey.core.times import format_instant
from covey.engines import engine_of
from covey.services.care.prune import PruneResult
from covey.services.care.retention import KeepReason, PruneRequest, Survey
from covey.surfaces.cli.call import Call, Verb
from covey.surfaces.cli.exits import DONE, REFUSED
from covey.surfaces.cli.options.names import actor_or_user
from covey.surfaces.cli.terminal.progress import ProgressBar, size
from covey.surfaces.cli.times import age, parse_span


def _prune_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--older-than", metavar="SPAN", default="90d", help="quiet for so long: 2h, 30d (default 90d); 0s for all"
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--scope", help="only this one")
    what.add_argument("--unscoped", action="store_true", help="only threads without a scope")
    parser.add_argument("--dry-run", action="store_true", help="only show what would go")


def _run_prune(call: Call) -> int:
    options = call.options
    wanted = PruneRequest(
        before=call.services.clock.now() - parse_span(options.older_than),
        scope=known_scope(options.scope) if options.scope else None,
        is_unscoped=options.unscoped,
    )
    prune = call.services.prune(*engine_of(call.url).care.upkeep(call.url))
    if options.dry_run:
        survey = _checked(call.run(prune.survey(wanted)))
        show_survey(call, survey, wanted)
    else:
        actor = actor_or_user(call)
        with ProgressBar(call.output, "pruning") as progress:
            outcome = call.run(prune.prune(wanted, actor, partial(progress.at, "pruning")))
        survey = _checked(outcome.survey)
        show_outcome(call, outcome, wanted)
    return REFUSED if wanted.scope is not None and survey.stays else DONE


PRUNE: Final = Verb(
    arguments=_prune_arguments,
    run=_run_prune,
    description="""\
Remove scopes that are closed and old, and threads without a scope that are:
their messages, debts, tasks and events. The journal keeps a tombstone, and
their ids are never accepted again. Nothing goes that waits in an inbox, is
owed, is not finished, or is in one thread with such a thing; nor do the parts
of a task that is not. Others may go on using the space. Children go with the
message that began them, or by themselves where their start failed before it.
Files that no message refers to any more go too, an hour after their last use.""",
    examples="""\
examples:
  covey prune --dry-run
  covey prune --older-than 180d
  covey prune --scope T-17 --older-than 0s --as lead""",
)


def _checked(survey: Survey) -> Survey:
    """Return the survey. Raise Invalid if the requested scope does not exist."""
    for stays in survey.stays:
        if stays.why is KeepReason.ABSENT:
            raise Invalid("scope", stays.scope, "no message has it")
    return survey


def show_survey(call: Call, survey: Survey, wanted: PruneRequest) -> None:
    """Show what a prune would remove."""
    if call.output.as_json:
        call.output.json(survey_document(survey, wanted))
        return
    now = call.services.clock.now()
    call.output.table(
        ("scope", "threads", "messages", "tasks", "children", "quiet for"),
        [
            (
                closed.scope or "(none)",
                str(closed.threads),
                str(closed.messages),
                str(closed.tasks),
                str(closed.runs),
                age(closed.last_at, now),
            )
            for closed in survey.closed
        ],
        "Nothing would go.",
    )
    if survey.closed:
        call.output.note(f"In all: {_told(survey.messages, survey.tasks, survey.runs)}.")
    _note_stays(call, survey)


def show_outcome(call: Call, outcome: PruneResult, wanted: PruneRequest) -> None:
    """Show what was removed."""
    removed = outcome.removed
    given_back = max(0, outcome.bytes_before - outcome.bytes_after)
    if call.output.as_json:
        document: dict[str, Json] = {
            **survey_document(outcome.survey, wanted),
            "removed": {**removed._asdict(), "blobs": outcome.blobs},
            "bytes_before": outcome.bytes_before,
            "bytes_after": outcome.bytes_after,
        }
        call.output.json(document)
        return
    if removed.messages or removed.runs or removed.offers or outcome.blobs:
        what = _told(removed.messages, removed.tasks, removed.runs)
        rest = f"{counted(removed.events, 'event')} and {counted(outcome.blobs, 'file')}"
        call.output.text(f"Pruned {what}, {rest}; {size(given_back)} given back.")
    else:
        call.output.text("Nothing to prune.")
    _note_stays(call, outcome.survey)


def survey_document(survey: Survey, wanted: PruneRequest) -> dict[str, Json]:
    """Return the survey, for programs."""
    return {
        "before": format_instant(wanted.before),
        "closed": [
            {
                "scope": closed.scope,
                "threads": closed.threads,
                "messages": closed.messages,
                "tasks": closed.tasks,
                "runs": closed.runs,
                "last_at": format_instant(closed.last_at),
            }
            for closed in survey.closed
        ],
        "stays": [{"scope": stays.scope, "why": str(stays.why)} for stays in survey.stays],
    }


def _told(messages: int, tasks: int, runs: int) -> str:
    """Return the counts in words. Tasks and children are left out if there are none."""
    more = ([counted(tasks, "task")] if tasks else []) + ([counted(runs, "child", "children")] if runs else [])
    return counted(messages, "message") + (f" with {' and '.join(more)}" if more else "")


def _note_stays(call: Call, survey: Survey) -> None:
    count = {why: sum(stays.why is why for stays in survey.stays) for why in KeepReason}
    if count[KeepReason.OPEN]:
        call.output.note(f"Kept: {counted(count[KeepReason.OPEN], 'scope')} with something open, owed or waiting.")
    if count[KeepReason.YOUNG]:
        call.output.note(f"Kept: {counted(count[KeepReason.YOUNG], 'closed scope')} where something happened lately.")
