"""Tools as typed functions, for frameworks that read signatures, annotations and docstrings."""

import inspect
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest
from pydantic import ConfigDict, TypeAdapter, create_model, validate_call

import covey
from covey.toolkits.catalogue import HOMES, toolkit
from covey.toolkits.schemas import json_schema
from covey.toolkits.tool import Tool
from covey.toolkits.toolbox import ToolFunction


def functions_of(member: covey.Member, kit: str) -> list[tuple[Tool, ToolFunction]]:
    return list(zip(toolkit(kit).tools, member.tools(kit).functions(), strict=True))


@pytest.mark.parametrize("kit", HOMES)
async def test_a_function_has_the_tools_name_description_and_parameters(kit: str) -> None:
    async with covey.open("memory:") as space:
        for tool, function in functions_of(await space.join("coder"), kit):
            assert function.__name__ == function.__qualname__ == tool.name
            assert inspect.iscoroutinefunction(function)
            signature = inspect.signature(function)
            hints = get_type_hints(function)
            assert hints.pop("return") is str
            assert {p.name for p in tool.parameters} == set(signature.parameters) == set(hints)
            for parameter in tool.parameters:
                described = signature.parameters[parameter.name]
                assert (described.default is inspect.Parameter.empty) == parameter.is_required
                assert described.annotation == hints[parameter.name]
                assert (type(None) in get_args(hints[parameter.name])) != parameter.is_required
                assert f"\n    {parameter.name}: {parameter.description}" in (inspect.getdoc(function) or "")
            assert (inspect.getdoc(function) or "").startswith(tool.description)


@pytest.mark.parametrize("kit", HOMES)
async def test_pydantic_derives_the_tools_own_schema_from_a_function(kit: str) -> None:
    """Frameworks derive their schema in this way; types and required fields must be the same."""
    async with covey.open("memory:") as space:
        for tool, function in functions_of(await space.join("coder"), kit):
            fields: dict[str, Any] = {
                name: (p.annotation, ... if p.default is inspect.Parameter.empty else p.default)
                for name, p in inspect.signature(function).parameters.items()
            }
            made = create_model(tool.name, __config__=ConfigDict(extra="forbid"), **fields).model_json_schema()
            ours: Any = json_schema(tool)
            assert made.get("required", []) == ours["required"]
            assert set(made.get("properties", {})) == set(ours["properties"])
            assert made["additionalProperties"] is ours["additionalProperties"]


async def test_choices_are_literals() -> None:
    async with covey.open("memory:") as space:
        me = await space.join("coder")
        (send,) = [function for tool, function in functions_of(me, "dialogue") if tool.name == "messages_send"]
        kind = get_type_hints(send)["kind"]
        assert (get_origin(kind), get_args(kind)) == (Literal, ("request", "response", "notify"))


async def test_a_function_acts_like_the_tool_and_returns_its_text() -> None:
    async with covey.open("memory:") as space:
        me, critic = await space.join("coder"), await space.join("critic")
        tools = {function.__name__: function for function in me.tools().functions()}
        assert await tools["send_message"]("hi", to="critic") == "Sent to critic."
        assert await tools["send_message"]("hi", "critic", None) == "Sent to critic."
        assert [delivery.text for delivery in await critic.inbox.peek()] == ["hi", "hi"]
        assert "did you mean critic?" in await tools["send_message"](message="hi", to="critik")
        assert "message is missing" in await tools["send_message"]()
        assert "did you mean to?" in await tools["send_message"](message="hi", tp="critic")


async def test_pydantic_can_call_a_function() -> None:
    async with covey.open("memory:") as space:
        me = await space.join("coder")
        (listing, *_) = me.tools().functions()
        called = validate_call(listing)
        assert "You are coder." in await called(status="busy")
        assert TypeAdapter(str).validate_python(await called()).startswith("You are coder.")


async def test_each_member_has_its_own_tools() -> None:
    async with covey.open("memory:") as space:
        me, critic = await space.join("coder"), await space.join("critic")
        assert (await me.tools().functions()[0]()).startswith("You are coder.")
        assert (await critic.tools().functions()[0]()).startswith("You are critic.")
