"""covey storms."""

from argparse import ArgumentParser

from covey.core.errors import Invalid
from covey.core.ids import MessageId
from covey.core.storms.budget import Limit, Limits, encode_limits
from covey.core.storms.stop import Stop
from covey.core.work.negotiation import ROUNDS
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.exits import DONE
from covey.surfaces.cli.options.references import HELP, message_of
from covey.surfaces.cli.options.user import actor_or_user
from covey.surfaces.cli.options.when import positive
from covey.surfaces.cli.views.storms import show_stop, show_tree, stop_document, tree_document

DESCRIPTION = """\
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
                     negotiate; with options, change them"""
EXAMPLES = """\
examples:
  covey storms
  COVEY_TOKEN=$(cat operator.token) covey storms lift coder:3
  COVEY_TOKEN=$(cat operator.token) covey storms limits --messages 5000"""

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


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("action", nargs="?", default=LIST, choices=ACTIONS, help="what to do; by default list")
    parser.add_argument("message", nargs="?", metavar="MESSAGE", help=f"lift: {HELP}")
    parser.add_argument("--all", action="store_true", help="list: also those that are far from any limit")
    parser.add_argument("--limit", type=positive, default=None, metavar="N", help="list: at most N (default 100)")
    for limit in Limit:
        parser.add_argument(f"--{limit}", type=positive, metavar="N", help=f"limits: {_WHAT[limit]}")
    parser.add_argument(f"--{ROUNDS_LIMIT}", type=positive, metavar="N", help=f"limits: {_ROUNDS_WHAT}")


def run(call: Call) -> int:
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
        if isinstance(found, Stop):
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
    is_stop = isinstance(lifted, Stop)
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
