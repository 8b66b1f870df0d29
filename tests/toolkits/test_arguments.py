"""Arguments of a call: an object or its JSON text, checked against the parameters of the tool."""

from collections.abc import Mapping

import pytest

from covey.core.errors import Invalid
from covey.core.json import Json
from covey.toolkits.arguments import checked
from covey.toolkits.tool import Arguments, Caller, Parameter, ParameterType, Tool, ToolAnswer


async def _run(caller: Caller, arguments: Arguments) -> ToolAnswer:
    del caller
    return ToolAnswer("", arguments)


TOOL = Tool(
    "greet",
    "Greet someone.",
    (
        Parameter("name", "who it is", is_required=True),
        Parameter("times", "how often", ParameterType.WHOLE),
        Parameter("mood", "how", choices=("warm", "cold")),
    ),
    _run,
)
BARE = Tool("wave", "Wave.", (), _run)


@pytest.mark.parametrize(
    ("sent", "given"),
    [
        ({"name": "ann"}, {"name": "ann"}),
        ('{"name": "ann", "times": "2"}', {"name": "ann", "times": 2}),
        ({"name": "ann", "times": None, "unknown": None}, {"name": "ann"}),
        ({"name": "ann", "times": " ", "mood": ""}, {"name": "ann"}),
        ({"name": ""}, {"name": ""}),
    ],
)
def test_valid_arguments_are_returned(sent: object, given: Mapping[str, Json]) -> None:
    assert checked(TOOL, sent) == given


@pytest.mark.parametrize("sent", [None, "", " ", {}, "{}", "null"])
def test_empty_input_means_no_arguments(sent: object) -> None:
    assert checked(BARE, sent) == {}
    with pytest.raises(Invalid, match=r"^name is missing: greet needs it: who it is$"):
        checked(TOOL, sent)


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        ({"nam": "ann"}, "argument 'nam' is not valid: did you mean name?"),
        ({"name": "ann", "shout": True}, "argument 'shout' is not valid: greet takes name, times, mood"),
        ({"name": "ann", "x" * 100_000: 1}, "greet takes name, times, mood"),
        ({"name": 5}, "name 5 is not valid: use a text (who it is)"),
        ({"name": "ann", "mood": "warn"}, "mood 'warn' is not valid: use warm"),
        ('{"name": "ann"', "greet takes a JSON object"),
        ("ann", "greet takes a JSON object"),
        ('["ann"]', "greet takes a JSON object"),
        (["ann"], "greet takes a JSON object"),
        (b"{}", "greet takes a JSON object"),
        ("[" * 100_000, "greet takes a JSON object"),
        ('{"name": "\\ud800"}', "greet takes a JSON object"),
        ({5: "ann"}, "use a mapping with texts for keys"),
        ({"name": "\ud800"}, "characters that are not valid Unicode"),
        ({"name": object()}, "it can't be written as JSON"),
        ({"name": float("nan")}, "it can't be written as JSON"),
    ],
)
def test_invalid_arguments_are_reported(sent: object, told: str) -> None:
    with pytest.raises(Invalid) as error:
        checked(TOOL, sent)
    assert told in error.value.message
    assert len(error.value.message) < 300


def test_a_tool_with_its_own_checks_reports_missing_arguments_itself() -> None:
    assert checked(TOOL._replace(has_own_gates=True), {}) == {}
