"""Values as models write them: unambiguous ones are accepted, and all others are reported."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.core.errors import Invalid
from covey.core.json import Json
from covey.toolkits.arguments import fitting
from covey.toolkits.tool import Parameter, ParameterType

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=8,
)

ID = "1767225600000-00000000-0000-4000-8000-000000000001"


def read(form: ParameterType, value: Json) -> Json:
    return fitting(Parameter("it", "what it is for", form), value)


@pytest.mark.parametrize(
    ("form", "written", "meant"),
    [
        (ParameterType.TEXT, " as it is ", " as it is "),
        (ParameterType.WHOLE, 3, 3),
        (ParameterType.WHOLE, 3.0, 3),
        (ParameterType.WHOLE, "3", 3),
        (ParameterType.WHOLE, " +3 ", 3),
        (ParameterType.WHOLE, "3.0", 3),
        (ParameterType.WHOLE, "#3", 3),
        (ParameterType.WHOLE, "-3", -3),
        (ParameterType.NUMBER, 2.5, 2.5),
        (ParameterType.NUMBER, "2.5", 2.5),
        (ParameterType.NUMBER, 2, 2),
        (ParameterType.FLAG, True, True),
        (ParameterType.FLAG, "True", True),
        (ParameterType.FLAG, " false ", False),
        (ParameterType.TEXTS, ["a", "b"], ["a", "b"]),
        (ParameterType.TEXTS, ("a",), ["a"]),
        (ParameterType.TEXTS, "a", ["a"]),
        (ParameterType.TEXTS, '["a", "b"]', ["a", "b"]),
        (ParameterType.TEXTS, "[draft", ["[draft"]),
        (ParameterType.TEXTS, [], []),
        (ParameterType.OBJECT, {"a": 1}, {"a": 1}),
        (ParameterType.OBJECT, '{"a": 1}', {"a": 1}),
        (ParameterType.OBJECTS, [{"a": 1}], [{"a": 1}]),
        (ParameterType.OBJECTS, {"a": 1}, [{"a": 1}]),
        (ParameterType.OBJECTS, '[{"a": 1}]', [{"a": 1}]),
        (ParameterType.OBJECTS, ['{"a": 1}'], [{"a": 1}]),
        (ParameterType.MESSAGE, 3, "3"),
        (ParameterType.MESSAGE, "3", "3"),
        (ParameterType.MESSAGE, " #3 ", "3"),
        (ParameterType.MESSAGE, ID, ID),
        (ParameterType.MESSAGES, 3, ["3"]),
        (ParameterType.MESSAGES, [3, "#4"], ["3", "4"]),
        (ParameterType.MESSAGES, "3, 4", ["3", "4"]),
        (ParameterType.MESSAGES, "[3, 4]", ["3", "4"]),
    ],
)
def test_an_unambiguous_value_is_understood(form: ParameterType, written: Json, meant: Json) -> None:
    assert read(form, written) == meant
    assert type(read(form, written)) is type(meant)


@pytest.mark.parametrize(
    ("form", "written"),
    [
        (ParameterType.TEXT, 3),
        (ParameterType.TEXT, ["a"]),
        (ParameterType.TEXT, {"text": "a"}),
        (ParameterType.WHOLE, True),
        (ParameterType.WHOLE, 2.5),
        (ParameterType.WHOLE, "three"),
        (ParameterType.WHOLE, 2**53),
        (ParameterType.WHOLE, 10**400),
        (ParameterType.WHOLE, "9" * 5000),
        (ParameterType.WHOLE, float("inf")),
        (ParameterType.WHOLE, float("nan")),
        (ParameterType.NUMBER, "nan"),
        (ParameterType.NUMBER, "inf"),
        (ParameterType.NUMBER, False),
        (ParameterType.FLAG, 1),
        (ParameterType.FLAG, "yes"),
        (ParameterType.TEXTS, [1]),
        (ParameterType.TEXTS, {"a": "b"}),
        (ParameterType.OBJECT, [{"a": 1}]),
        (ParameterType.OBJECT, "{a: 1}"),
        (ParameterType.OBJECTS, ["a"]),
        (ParameterType.OBJECTS, "a"),
        (ParameterType.MESSAGE, ""),
        (ParameterType.MESSAGE, "#"),
        (ParameterType.MESSAGE, True),
        (ParameterType.MESSAGE, 2.5),
        (ParameterType.MESSAGES, {"a": 1}),
        (ParameterType.MESSAGES, [None]),
    ],
)
def test_a_value_of_the_wrong_form_is_reported_with_the_wanted_form(form: ParameterType, written: Json) -> None:
    with pytest.raises(Invalid, match=r"it .* is not valid: use .* \(what it is for\)"):
        read(form, written)


def test_an_invalid_choice_is_reported_with_the_closest_or_with_all() -> None:
    parameter = Parameter("kind", "…", choices=("request", "response", "notify"))
    assert fitting(parameter, "notify") == "notify"
    with pytest.raises(Invalid, match=r"use notify$"):
        fitting(parameter, "notfy")
    with pytest.raises(Invalid, match=r"use request or response or notify$"):
        fitting(parameter, "shout")


@given(form=st.sampled_from(ParameterType), value=JSON_VALUES)
def test_any_value_is_accepted_or_invalid(form: ParameterType, value: Json) -> None:
    try:
        understood = read(form, value)
    except Invalid:
        return
    assert read(form, understood) == understood, "what is understood is what is meant"
