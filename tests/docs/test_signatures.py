"""The public names as an editor and `help` show them: every name is listed, and every option has a type and a
sentence."""

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from typing import cast, get_args, is_typeddict

import covey


def public_classes() -> Iterator[type]:
    for name in covey.__all__:
        found: object = getattr(covey, name)
        if inspect.isclass(found):
            yield found


def options_of(method: Callable[..., object]) -> type | None:
    """Return the TypedDict whose keys a method takes as options."""
    for parameter in inspect.signature(method).parameters.values():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            (options,) = get_args(parameter.annotation)
            assert is_typeddict(options), f"{method.__qualname__} takes options without names"
            return options
    return None


def methods_of(kind: type) -> Iterator[Callable[..., object]]:
    for name, method in inspect.getmembers(kind, inspect.isfunction):
        if not name.startswith("_") and method.__module__.startswith("covey."):
            yield method


OPTIONS = {
    options.__name__: options
    for kind in public_classes()
    for method in methods_of(kind)
    if (options := options_of(method)) is not None
}


def sentences(options: type) -> dict[str, str | None]:
    """Return the sentence below each option."""
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(options))).body
    body = cast(ast.ClassDef, definition).body
    found: dict[str, str | None] = {}
    for statement, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            is_text = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            found[statement.target.id] = str(after.value.value) if is_text else None  # type: ignore[union-attr]
    return found


def test_dir_shows_the_public_names() -> None:
    assert dir(covey) == sorted(covey.__all__)
    assert [name for name in dir(covey) if not hasattr(covey, name)] == []


def test_the_options_of_all_calls_are_found() -> None:
    assert {
        "MessageOptions",
        "ResultOptions",
        "SpawnOptions",
        "StormLimits",
        "TurnOptions",
        "WorkOptions",
    } == OPTIONS.keys()


def test_every_option_has_a_type_and_a_sentence() -> None:
    for name, options in OPTIONS.items():
        described = sentences(options)
        assert described.keys() == options.__annotations__.keys()
        assert [option for option, text in described.items() if not text or not text.endswith(".")] == [], name


def test_the_help_of_calls_with_many_options_names_the_most_used_ones() -> None:
    for name in ("send", "ask", "delegate", "spawn", "work", "turn"):
        method = getattr(covey.Member, name)
        options = options_of(method)
        assert options is not None
        named = [option for option in options.__annotations__ if f"`{option}" in (method.__doc__ or "")]
        assert len(named) > 0, name


def test_every_public_class_and_its_methods_have_a_docstring() -> None:
    missing = [method.__qualname__ for kind in public_classes() for method in methods_of(kind) if not method.__doc__]
    assert missing == []
    assert [kind.__name__ for kind in public_classes() if not kind.__doc__] == []
