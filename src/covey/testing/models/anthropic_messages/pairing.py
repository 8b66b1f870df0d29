"""Tool uses and their results: every use is answered in the next turn, first thing, by its id."""

from collections.abc import Collection, Sequence
from itertools import takewhile

from covey.testing.models.anthropic_messages.conversation import Speech
from covey.testing.models.cursor import Cursor


def check_pairs(speeches: Sequence[Speech], declared: Collection[str] | None, known: Collection[str]) -> None:
    """Refuse uses without results, results without uses, and uses of tools that are not declared.

    `declared` is None where the request has no tools. `known` has the ids of uses that the model itself made: a model
    may call what does not exist, and is then told so.
    """
    seen: set[str] = set()
    for place, speech in enumerate(speeches):
        uses = speech.of("tool_use")
        for use in uses:
            if use.field("id") in seen:
                use.at.refuse("`tool_use` ids must be unique")
            seen.add(use.field("id"))
            if declared is None:
                use.at.refuse("Requests which include `tool_use` or `tool_result` blocks must define tools")
            if use.field("name") not in declared and use.field("id") not in known and not use.at.get("toolset_name"):
                use.at.refuse(f"Tool '{use.field('name')}' not found in provided tools")
        _check_answered(speech.at, [use.field("id") for use in uses], speeches[place + 1 : place + 2])
        before = speeches[place - 1].of("tool_use") if place else []
        _check_results(speech, {use.field("id") for use in before})


def _check_answered(at: Cursor, ids: Sequence[str], following: Sequence[Speech]) -> None:
    leading = [
        block.field("tool_use_id")
        for speech in following
        for block in takewhile(lambda block: block.type == "tool_result", speech.blocks)
    ]
    open_ids = [use_id for use_id in ids if use_id not in leading]
    if open_ids:
        at.refuse(
            "`tool_use` ids were found without `tool_result` blocks immediately after: "
            f"{', '.join(open_ids)}. Each `tool_use` block must have a corresponding `tool_result` block in the "
            "next message."
        )


def _check_results(speech: Speech, asked: Collection[str]) -> None:
    answered: set[str] = set()
    for result in speech.of("tool_result"):
        use_id = result.field("tool_use_id")
        if use_id not in asked:
            result.at.refuse(
                f"unexpected `tool_use_id` found in `tool_result` blocks: {use_id}. Each `tool_result` block must have "
                "a corresponding `tool_use` block in the previous message."
            )
        if use_id in answered:
            result.at.refuse(f"each tool_use must have a single result. Found multiple `tool_result` blocks: {use_id}")
        answered.add(use_id)
