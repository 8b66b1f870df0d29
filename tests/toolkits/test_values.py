"""Values as models write them: what is meant is understood, and all else is told."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.core.errors import Invalid
from covey.core.json import Json
from covey.toolkits.arguments import fitting
from covey.toolkits.tool import Form, Parameter

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=8,
)

ID = "1767225600000-00000000-0000-4000-8000-000000000001"


def read(form: Form, value: Json) -> Json:
    return fitting(Parameter("it", "what it is for", form), value)


@pytest.mark.parametrize(
    ("form", "written", "meant"),
    [
        (Form.TEXT, " as it is ", " as it is "),
        (Form.WHOLE, 3, 3),
        (Form.WHOLE, 3.0, 3),
        (Form.WHOLE, "3", 3),
        (Form.WHOLE, " +3 ", 3),
        (Form.WHOLE, "3.0", 3),
        (Form.WHOLE, "#3", 3),
        (Form.WHOLE, "-3", -3),
        (Form.NUMBER, 2.5, 2.5),
        (Form.NUMBER, "2.5", 2.5),
        (Form.NUMBER, 2, 2),
        (Form.FLAG, True, True),
        (Form.FLAG, "True", True),
        (Form.FLAG, " false ", False),
        (Form.TEXTS, ["a", "b"], ["a", "b"]),
        (Form.TEXTS, ("a",), ["a"]),
        (Form.TEXTS, "a", ["a"]),
        (Form.TEXTS, '["a", "b"]', ["a", "b"]),
        (Form.TEXTS, "[draft", ["[draft"]),
        (Form.TEXTS, [], []),
        (Form.OBJECT, {"a": 1}, {"a": 1}),
        (Form.OBJECT, '{"a": 1}', {"a": 1}),
        (Form.OBJECTS, [{"a": 1}], [{"a": 1}]),
        (Form.OBJECTS, {"a": 1}, [{"a": 1}]),
        (Form.OBJECTS, '[{"a": 1}]', [{"a": 1}]),
        (Form.OBJECTS, ['{"a": 1}'], [{"a": 1}]),
        (Form.MESSAGE, 3, "3"),
        (Form.MESSAGE, "3", "3"),
        (Form.MESSAGE, " #3 ", "3"),
        (Form.MESSAGE, ID, ID),
        (Form.MESSAGES, 3, ["3"]),
        (Form.MESSAGES, [3, "#4"], ["3", "4"]),
        (Form.MESSAGES, "3, 4", ["3", "4"]),
        (Form.MESSAGES, "[3, 4]", ["3", "4"]),
    ],
)
def test_what_is_meant_is_understood(form: Form, written: Json, meant: Json) -> None:
    assert read(form, written) == meant
    assert type(read(form, written)) is type(meant)


@pytest.mark.parametrize(
    ("form", "written"),
    [
        (Form.TEXT, 3),
        (Form.TEXT, ["a"]),
        (Form.TEXT, {"text": "a"}),
        (Form.WHOLE, True),
        (Form.WHOLE, 2.5),
        (Form.WHOLE, "three"),
        (Form.WHOLE, 2**53),
        (Form.WHOLE, 10**400),
        (Form.WHOLE, "9" * 5000),
        (Form.WHOLE, float("inf")),
        (Form.WHOLE, float("nan")),
        (Form.NUMBER, "nan"),
        (Form.NUMBER, "inf"),
        (Form.NUMBER, False),
        (Form.FLAG, 1),
        (Form.FLAG, "yes"),
        (Form.TEXTS, [1]),
        (Form.TEXTS, {"a": "b"}),
        (Form.OBJECT, [{"a": 1}]),
        (Form.OBJECT, "{a: 1}"),
        (Form.OBJECTS, ["a"]),
        (Form.OBJECTS, "a"),
        (Form.MESSAGE, ""),
        (Form.MESSAGE, "#"),
        (Form.MESSAGE, True),
        (Form.MESSAGE, 2.5),
        (Form.MESSAGES, {"a": 1}),
        (Form.MESSAGES, [None]),
    ],
)
def test_what_can_not_be_meant_is_told_with_what_is_wanted(form: Form, written: Json) -> None:
    with pytest.raises(Invalid, match=r"it .* is not valid: use .* \(what it is for\)"):
        read(form, written)


def test_a_choice_is_told_with_the_closest_or_with_all() -> None:
    parameter = Parameter("kind", "…", choices=("request", "response", "notify"))
    assert fitting(parameter, "notify") == "notify"
    with pytest.raises(Invalid, match=r"use notify$"):
        fitting(parameter, "notfy")
    with pytest.raises(Invalid, match=r"use request or response or notify$"):
        fitting(parameter, "shout")


@given(form=st.sampled_from(Form), value=JSON_VALUES)
def test_nothing_but_invalid_comes_of_any_value(form: Form, value: Json) -> None:
    try:
        understood = read(form, value)
    except Invalid:
        return
    assert read(form, understood) == understood, "what is understood is what is meant"
