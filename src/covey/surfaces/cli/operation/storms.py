"""The verb `storms`: causal trees, stopped exchanges and limits."""

from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from covey.core.errors import Invalid
from covey.core.json import Json
from covey.core.names import MessageId
from covey.core.storms.budget import TREE_LIMITS, Limit, Limits, counts, encode_limits
from covey.core.storms.echo import EVERYBODY, Talk
from covey.core.storms.flow import StormStop
from covey.core.times import format_instant
from covey.core.work.negotiation import ROUNDS
from covey.services.storms.storms import TreeView
from covey.surfaces.cli.call import Call, Verb
from covey.surfaces.cli.exits import DONE
from covey.surfaces.cli.options.names import MESSAGE_HELP, actor_or_user, message_of
from covey.surfaces.cli.terminal.output import columns
from covey.surfaces.cli.terminal.text import fitted, one_line
from covey.surfaces.cli.times import age, positive


def _storms_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("action", nargs="?", default=LIST, choices=ACTIONS, help="what to do; by default list")
    parser.add_argument("message", nargs="?", metavar="MESSAGE", help=f"lift: {MESSAGE_HELP}")
    parser.add_argument("--all", action="store_true", help="list: also those that are far from any limit")
    parser.add_argument("--limit", type=positive, default=None, metavar="N", help="list: at most N (default 100)")
    for limit in Limit:
        parser.add_argument(f"--{limit}", type=positive, metavar="N", help=f"limits: {_WHAT[limit]}")
    parser.add_argument(f"--{ROUNDS_LIMIT}", type=positive, metavar="N", help=f"limits: {_ROUNDS_WHAT}")


def _run_storms(call: Call) -> int:
    options = call.options
    changes = {limit: getattr(options, limit) for limit in Limit if getattr(options, limit) is not None}
    given = {**changes, **({} if options.rounds is None else {ROUNDS_LIMIT: options.rounds})}
    if options.action != LIMITS and given:
        raise Invalid(f"--{min(given)}", given[min(given)], f"it goes with {LIMITS}")
    if options.action != LIFT and options.message is not None:
        raise Invalid("argument", options.message, f"it goes with {LIFT}")
    if options.action != LIST and (options.all or options.limit is not None):
        raise Invalid("--all" if options.all else "--limit", options.action, f"it goes with {LIST}")
    if options.action == LIST:
        return _list(call)
    return _lift(call) if options.action == LIFT else _limits(call, changes)


STORMS: Final = Verb(
    arguments=_storms_arguments,
    run=_run_storms,
    description="""\
Show what was stopped, and what is near its limits. A message and all that it led to are one causal tree, which has a
budget: of messages, depth, hours and spawned children. Two agents that trade messages in which nothing new is said are
stopped after a few rounds. Agents that keep each other going without a rest, whether they answer each other or not, are
stopped for an hour. A task's progress that is told too often has to keep a distance. Answers that are owed, results of
tasks and what people say always get through. The operator, by a token, lets what was stopped go on and changes the
limits of the space; a person who writes to one of the agents, or in the tree, lets it go on, too.

  list               what is stopped or near a limit (default); --all: all
                     that grew lately
  lift MESSAGE       let the exchange that was stopped after it go on, or the
                     progress of this task, or its tree: counted anew
  limits             show the limits, and how many rounds two sessions may
                     negotiate; with options, change them""",
    examples="""\
examples:
  covey storms
  COVEY_TOKEN=$(cat operator.token) covey storms lift coder:3
  COVEY_TOKEN=$(cat operator.token) covey storms limits --messages 5000""",
)


def show_tree(call: Call, view: TreeView, limits: Limits) -> None:
    """Show a tree to a person: its beginning, its counts, its stops, and how to lift them."""
    tree, now = view.tree, call.services.clock.now()
    call.output.text(tree.root, "bold")
    if view.root is not None:
        recipients = ", ".join(address.value for address in view.root.to)
        beginning = f'  {view.root.sender.agent} → {recipients}: "{one_line(view.root.text)}"'
        call.output.text(fitted(beginning, columns()))
    counted = counts(tree, now)
    call.output.text("  " + " · ".join(f"{limit} {counted[limit]:,} of {limits.of(limit):,}" for limit in TREE_LIMITS))
    for line in _stops(view, now):
        call.output.text(f"  {line}", "yellow")
    if tree.is_stopped:
        call.output.text("  the operator lets it go on with:")
        call.output.text(f"    covey storms lift {tree.root}")


def _stops(view: TreeView, now: datetime) -> Iterator[str]:
    tree = view.tree
    if tree.stopped is not None and tree.stopped_at is not None:
        yield f"stopped {age(tree.stopped_at, now)} ago by its {tree.stopped}: {tree.refused:,} refused"
    for talk in tree.echoes:
        if talk.stopped_at is not None:
            yield f"echo of {_who(talk)}, stopped {age(talk.stopped_at, now)} ago: {talk.refused:,} refused"


def _who(talk: Talk) -> str:
    return " and ".join(sorted(talk.stale)) if talk.key == EVERYBODY else talk.key.replace(" ", " and ")


def show_stop(call: Call, stop: StormStop) -> None:
    """Show a stopped exchange or task to a person: its agents, its count, and how to lift the stop."""
    now = call.services.clock.now()
    call.output.text(stop.id, "bold")
    call.output.text(fitted(f"  {stop_subject(stop)}: about {stop.messages:,} messages", columns()))
    call.output.text(f"  stopped {age(stop.at, now)} ago, for {age(now, stop.until)} more", "yellow")
    call.output.text("  the operator lets it go on with:")
    call.output.text(f"    covey storms lift {stop.id}")


def stop_subject(stop: StormStop) -> str:
    """Return the stopped exchange or task in words."""
    return f"progress of a task of {stop.agents[0]}" if stop.is_task else f"exchange of {_listed(stop.agents)}"


def _listed(agents: Sequence[str]) -> str:
    return " and ".join(agents) if len(agents) > 1 else f"sessions of {agents[0]}"


def stop_document(stop: StormStop) -> dict[str, Json]:
    """Return a stop as a JSON document."""
    return {
        "id": stop.id,
        "agents": [*stop.agents],
        "is_task": stop.is_task,
        "messages": stop.messages,
        "stopped_at": format_instant(stop.at),
        "until": format_instant(stop.until),
        "lift_with": f"covey storms lift {stop.id}",
    }


def tree_document(view: TreeView, limits: Limits, now: datetime) -> dict[str, Json]:
    """Return a tree as a JSON document."""
    tree = view.tree
    return {
        "tree": tree.root,
        "from": view.root.sender.agent if view.root else None,
        "to": [address.value for address in view.root.to] if view.root else [],
        "began_at": format_instant(tree.began_at),
        "grew_at": format_instant(tree.updated_at),
        "counts": {str(limit): count for limit, count in counts(tree, now).items()},
        "limits": {str(limit): limits.of(limit) for limit in TREE_LIMITS},
        "stopped": str(tree.stopped) if tree.stopped else None,
        "stopped_at": format_instant(tree.stopped_at) if tree.stopped_at else None,
        "refused": tree.refused,
        "echoes": [
            {
                "agents": sorted(talk.stale),
                "stopped_at": format_instant(talk.stopped_at),
                "refused": talk.refused,
            }
            for talk in tree.echoes
            if talk.stopped_at is not None
        ],
        "lift_with": f"covey storms lift {tree.root}" if tree.is_stopped else None,
    }


LIST, LIFT, LIMITS = ACTIONS = ("list", "lift", "limits")

_WHAT = {
    Limit.MESSAGES: "messages in a tree",
    Limit.DEPTH: "messages of which each led to the next",
    Limit.HOURS: "hours that it goes on without a rest of one",
    Limit.CHILDREN: "sessions that were spawned in it",
    Limit.EXCHANGE: "messages that agents exchange without a rest of an hour",
    Limit.PROGRESS: "updates of a task within 5 seconds of the last one",
}

ROUNDS_LIMIT = "rounds"
_ROUNDS_WHAT = "rounds of a talk of two sessions"


def _list(call: Call) -> int:
    storms = call.services.storms
    limits = call.run(storms.limits())
    most = call.options.limit or 100
    stops = call.run(storms.exchanges())[:most]
    views = call.run(storms.look(is_all=call.options.all, limit=most))
    if call.output.as_json:
        now = call.services.clock.now()
        trees = [tree_document(view, limits, now) for view in views]
        exchanges = [stop_document(stop) for stop in stops]
        call.output.json({"limits": encode_limits(limits), "trees": trees, "exchanges": exchanges})
        return DONE
    if not views and not stops:
        call.output.text("No tree grew lately." if call.options.all else "Nothing was stopped, or is near a limit.")
    for n, found in enumerate([*stops, *views]):
        if n:
            call.output.text()
        if isinstance(found, StormStop):
            show_stop(call, found)
        else:
            show_tree(call, found, limits)
    return DONE


def _lift(call: Call) -> int:
    if call.options.message is None:
        raise Invalid("message", None, "covey storms lift MESSAGE")
    actor = actor_or_user(call)
    message: MessageId = message_of(call, call.options.message)
    lifted = call.run(call.services.storms.lift(message, actor))
    is_stop = isinstance(lifted, StormStop)
    if call.output.as_json:
        call.output.json({"stop": lifted.id, "lifted": True} if is_stop else {"tree": lifted.root, "lifted": True})
    elif is_stop:
        what = f"progress of task {lifted.id}" if lifted.is_task else f"exchange of {' and '.join(lifted.agents)}"
        call.output.text(f"The {what} goes on: all is counted from now.")
    else:
        call.output.text(f"The tree of {lifted.root} goes on: all is counted from now.")
    return DONE


def _limits(call: Call, changes: dict[Limit, int]) -> int:
    storms, negotiations = call.services.storms, call.services.negotiations
    if call.options.rounds is not None:
        call.run(negotiations.set_rounds(call.options.rounds, actor_or_user(call)))
    limits = call.run(storms.set_limits(changes, actor_or_user(call)) if changes else storms.limits())
    rounds = call.run(negotiations.rounds())
    if call.output.as_json:
        call.output.json({**encode_limits(limits), ROUNDS_LIMIT: rounds})
        return DONE
    usual = Limits()
    rows = [(str(limit), f"{limits.of(limit):,}", f"{usual.of(limit):,}", _WHAT[limit]) for limit in Limit]
    rows.append((ROUNDS_LIMIT, str(rounds), str(ROUNDS), _ROUNDS_WHAT))
    call.output.table(("limit", "here", "usual", "counts"), rows, "")
    return DONE
