"""Requests that Anthropic's Messages API refuses. Each rule has a refused and an accepted request."""

import pytest

from covey.testing.models import Api
from tests.testing.models.claude import (
    CACHED,
    IMAGE,
    NEW,
    OLD,
    TOOLS,
    request,
    text,
    tool,
    user,
)
from tests.testing.models.twins import Twins, check, schema, without

FIELDS = [
    Twins("a model is named", without(request(), "model"), request(), "model: Field required"),
    Twins("the model's name is not empty", request(model=""), request(), "model: String should have"),
    Twins("max_tokens is given", without(request(), "max_tokens"), request(), "max_tokens: Field required"),
    Twins("max_tokens is an integer", request(max_tokens="9"), request(max_tokens=9), "max_tokens: Input should be"),
    Twins("max_tokens is no boolean", request(max_tokens=True), request(max_tokens=1), "max_tokens: Input should be"),
    Twins("max_tokens is not negative", request(max_tokens=-1), request(max_tokens=0), "greater than or equal to 0"),
    Twins("messages are given", without(request(), "messages"), request(), "messages: Field required"),
    Twins("messages are a list", request(messages="hi"), request(), "messages: Input should be a valid list"),
    Twins("there is a message", request(messages=[]), request(), "at least one message is required"),
    Twins("a message is an object", request(messages=["hi"]), request(), "messages.0: Input should be a valid dict"),
    Twins("stream is a boolean", request(stream=1), request(stream=True), "stream: Input should be a valid boolean"),
    Twins("no field is unknown", request(temprature=1), request(temperature=1), "temprature: Extra inputs"),
    Twins("temperature is at most 1", request(temperature=1.5), request(temperature=0.5), "temperature: Input should"),
    Twins(
        "newer models take no temperature",
        request(model=NEW, temperature=0.5),
        request(model=OLD, temperature=0.5),
        "`temperature` is deprecated for this model",
    ),
    Twins(
        "a stop sequence is not blank",
        request(stop_sequences=[" "]),
        request(stop_sequences=["END"]),
        "each stop sequence must contain non-whitespace",
    ),
    Twins("the system prompt is text", request(system=7), request(system="Be brief."), "system: Input should be"),
    Twins(
        "the system prompt has text blocks only",
        request(system=[IMAGE]),
        request(system=[text("Be brief.")]),
        "`image` blocks can only be in `user` messages",
    ),
    Twins(
        "a beta's field needs the beta",
        request(context_management={}),
        request(),
        "context_management: Extra inputs are not permitted",
    ),
    Twins(
        "there are at most four breakpoints of the cache",
        request(user(*[{**text("a"), **CACHED}] * 4), system=[{**text("b"), **CACHED}]),
        request(user(*[{**text("a"), **CACHED}] * 3), system=[{**text("b"), **CACHED}]),
        "A maximum of 4 blocks with cache_control may be provided. Found 5.",
    ),
    Twins(
        "a breakpoint is ephemeral",
        request(user({**text("a"), "cache_control": {"type": "eternal"}})),
        request(user({**text("a"), **CACHED})),
        "messages.0.content.0.cache_control.type: Input should be 'ephemeral'",
    ),
    Twins(
        "a breakpoint lives five minutes or an hour",
        request(user({**text("a"), "cache_control": {"type": "ephemeral", "ttl": "1d"}})),
        request(user({**text("a"), "cache_control": {"type": "ephemeral", "ttl": "1h"}})),
        "Input should be '5m' or '1h'",
    ),
]
DECLARED = [
    Twins(
        "a tool's name fits the pattern",
        request(tools=[tool("look at")]),
        request(tools=[tool("look_at")]),
        "tools.0.name: String should match pattern",
    ),
    Twins("a tool's name is not too long", request(tools=[tool("a" * 129)]), request(tools=[tool("a" * 128)]), "match"),
    Twins("tools have different names", request(tools=[tool(), tool()]), request(tools=TOOLS), "must be unique"),
    Twins(
        "a tool has a schema",
        request(tools=[{"name": "look"}]),
        request(tools=[{"name": "look", "input_schema": schema()}]),
        "tools.0.input_schema: Field required",
    ),
    Twins(
        "only the provider's own tools have none",
        request(tools=[{"type": "custom", "name": "web_search"}]),
        request(tools=[{"type": "web_search_20260318", "name": "web_search"}, {"type": "computer_toolset_20260801"}]),
        "tools.0.input_schema: Field required",
    ),
    Twins(
        "a schema says what it is of",
        request(tools=[{"name": "look", "input_schema": {}}]),
        request(tools=[{"name": "look", "input_schema": {"type": "object"}}]),
        "tools.0.input_schema.type: Field required",
    ),
    Twins(
        "a schema is of an object",
        request(tools=[tool(input_schema={"type": "string"})]),
        request(tools=[tool(input_schema={"type": "object"})]),
        "schema must be a JSON Schema of 'type: \"object\"'",
    ),
    Twins(
        "a schema has no choice at its top",
        request(tools=[tool(input_schema={"type": "object", "anyOf": []})]),
        request(tools=[tool(input_schema=schema(at={"anyOf": [{"type": "string"}, {"type": "null"}]}))]),
        "does not support anyOf at the top level",
    ),
    Twins(
        "a schema's types are JSON's",
        request(tools=[tool(input_schema=schema(at={"type": "array", "items": {"type": "str"}}))]),
        request(tools=[tool(input_schema=schema(at={"type": "array", "items": {"type": ["string", "null"]}}))]),
        "Input should be 'array'",
    ),
    Twins(
        "a strict tool's objects are closed",
        request(tools=[tool(strict=True)]),
        request(
            tools=[tool(strict=True, input_schema={**schema(at={"type": "string"}), "additionalProperties": False})]
        ),
        "'additionalProperties' must be explicitly set to false",
    ),
    Twins(
        "a strict tool requires what it has",
        request(
            tools=[tool(strict=True, input_schema={**schema(), "required": ["at"], "additionalProperties": False})]
        ),
        request(tools=[tool(strict=True, input_schema={**schema(), "required": [], "additionalProperties": False})]),
        "'required' names what is not in 'properties': at",
    ),
    Twins(
        "a tool has no other fields",
        request(tools=[tool(parameters={})]),
        request(tools=[tool(description="Look.")]),
        "tools.0.parameters: Extra inputs",
    ),
    Twins(
        "a choice needs tools",
        request(tool_choice={"type": "auto"}),
        request(tool_choice={"type": "auto"}, tools=TOOLS),
        "tool_choice may only be specified while providing tools",
    ),
    Twins(
        "a choice is known",
        request(tool_choice={"type": "required"}, tools=TOOLS),
        request(tool_choice={"type": "any"}, tools=TOOLS),
        "tool_choice.type: Input should be 'auto', 'any', 'tool' or 'none'",
    ),
    Twins(
        "a choice has an object",
        request(tool_choice="auto", tools=TOOLS),
        request(tool_choice={"type": "none"}, tools=TOOLS),
        "tool_choice: Input should be a valid dictionary",
    ),
    Twins(
        "a chosen tool is declared",
        request(tool_choice={"type": "tool", "name": "peek"}, tools=TOOLS),
        request(tool_choice={"type": "tool", "name": "look"}, tools=TOOLS),
        "Tool 'peek' not found in provided tools",
    ),
    Twins(
        "newer models are not forced",
        request(tool_choice={"type": "any"}, tools=TOOLS, model=NEW),
        request(tool_choice={"type": "auto"}, tools=TOOLS, model=NEW),
        'type "tool" and "any" are not supported for this model',
    ),
]


@pytest.mark.parametrize("twins", [*FIELDS, *DECLARED], ids=lambda twins: twins.rule)
def test_a_rule_of_the_messages_api_refuses_one_twin_and_takes_the_other(twins: Twins) -> None:
    check(Api.ANTHROPIC_MESSAGES, twins)


BETAS = [
    Twins(
        "with a beta its fields are taken",
        request(context_managment={}),
        request(context_management={}),
        "context_managment: Extra inputs",
        ["context-management-2025-06-27"],
    ),
    Twins(
        "only a system message sets the effort alone",
        request(user("hi"), {"role": "user", "content": []}, model=NEW),
        request(user("hi"), {"role": "system", "content": [], "output_config": {"effort": "low"}}, model=NEW),
        "all messages must have non-empty content",
        ["mid-conversation-effort"],
    ),
]


@pytest.mark.parametrize("twins", BETAS, ids=lambda twins: twins.rule)
def test_a_beta_changes_the_requests_that_the_messages_api_accepts(twins: Twins) -> None:
    check(Api.ANTHROPIC_MESSAGES, twins)
