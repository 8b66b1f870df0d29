"""Causal trees and stopped exchanges, for people and programs."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from covey.core.json import Json
from covey.core.storms.budget import TREE_LIMITS, Limits, counts
from covey.core.storms.echo import EVERYBODY, Talk
from covey.core.storms.stop import Stop
from covey.core.times import format_instant
from covey.services.storms.storms import TreeView
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.options.when import age
from covey.surfaces.cli.terminal.letters import fitted, one_line
from covey.surfaces.cli.terminal.output import columns


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


def show_stop(call: Call, stop: Stop) -> None:
    """Show a stopped exchange or task to a person: its agents, its count, and how to lift the stop."""
    now = call.services.clock.now()
    call.output.text(stop.id, "bold")
    who = f"progress of a task of {stop.agents[0]}" if stop.is_task else f"exchange of {_listed(stop.agents)}"
    call.output.text(fitted(f"  {who}: about {stop.messages:,} messages", columns()))
    call.output.text(f"  stopped {age(stop.at, now)} ago, for {age(now, stop.until)} more", "yellow")
    call.output.text("  the operator lets it go on with:")
    call.output.text(f"    covey storms lift {stop.id}")


def _listed(agents: Sequence[str]) -> str:
    return " and ".join(agents) if len(agents) > 1 else f"sessions of {agents[0]}"


def stop_document(stop: Stop) -> dict[str, Json]:
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
