"""Requests that OpenAI's Chat Completions API refuses. Each rule has a refused and an accepted request."""

import pytest

from covey.core.json import Json, JsonObject
from covey.testing.models import Api
from tests.testing.models.twins import Twins, check, schema, without


def request(*messages: JsonObject, **fields: Json) -> JsonObject:
    """Return a request that is valid except for the given fields."""
    return {"model": "gpt-6", "messages": list(messages) or [user("hi")], **fields}


def user(content: Json) -> JsonObject:
    return {"role": "user", "content": content}


def calling(*ids: str, content: Json = None) -> JsonObject:
    return {"role": "assistant", "content": content, "tool_calls": [call(call_id) for call_id in ids]}


def call(call_id: str, name: str = "look", arguments: Json = "{}") -> JsonObject:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def answer(call_id: str, content: Json = "blue") -> JsonObject:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def tool(name: str = "look", **fields: Json) -> JsonObject:
    return {"type": "function", "function": {"name": name, "parameters": schema(at={"type": "string"}), **fields}}


CLOSED = {**schema(at={"type": "string"}), "additionalProperties": False}
FIELDS = [
    Twins("a model is named", without(request(), "model"), request(), "you must provide a model parameter"),
    Twins("messages are given", without(request(), "messages"), request(), "Missing required parameter: 'messages'."),
    Twins("there is a message", request(messages=[]), request(), "Invalid 'messages': empty array"),
    Twins("messages are an array", request(messages="hi"), request(), "expected an array, but got a string"),
    Twins("no field is unknown", request(max_token=1), request(max_tokens=1), "Unknown parameter: 'max_token'."),
    Twins("stream is a boolean", request(stream="yes"), request(stream=True), "expected a boolean, but got a string"),
    Twins(
        "options of a stream need a stream",
        request(stream_options={"include_usage": True}),
        request(stream_options={"include_usage": True}, stream=True),
        "'stream_options' parameter is only allowed when 'stream' is enabled",
    ),
]
MESSAGES = [
    Twins("a role is given", request({"content": "hi"}), request(user("hi")), "'messages[0].role'"),
    Twins(
        "a role is known",
        request({"role": "critic", "content": "hi"}),
        request({"role": "developer", "content": "hi"}),
        "Invalid value: 'critic'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool'",
    ),
    Twins("content is given", request({"role": "user"}), request(user("hi")), "'messages[0].content'"),
    Twins("content is not null", request(user(None)), request(user("")), "one of a string or array of objects"),
    Twins("content is not a number", request(user(7)), request(user("7")), "but got an integer instead"),
    Twins("content has parts", request(user([])), request(user([{"type": "text", "text": "hi"}])), "empty array"),
    Twins(
        "a part's type is known",
        request(user([{"type": "input_text", "text": "hi"}])),
        request(user([{"type": "text", "text": "hi"}])),
        "Invalid value: 'input_text'. Supported values are: 'text', 'image_url'",
    ),
    Twins(
        "a text part has its text",
        request(user([{"type": "text"}])),
        request(user([{"type": "text", "text": "hi"}])),
        "Missing required parameter: 'messages[0].content[0].text'",
    ),
    Twins(
        "an image has its URL",
        request(user([{"type": "image_url", "image_url": "https://example.org/a.png"}])),
        request(user([{"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}])),
        "expected an object, but got a string",
    ),
    Twins(
        "sound has its data",
        request(user([{"type": "input_audio", "input_audio": {"format": "wav"}}])),
        request(user([{"type": "input_audio", "input_audio": {"format": "wav", "data": "UklGRg=="}}])),
        "input_audio.data",
    ),
    Twins(
        "a file is an object",
        request(user([{"type": "file", "file": "file_1"}])),
        request(user([{"type": "file", "file": {"file_id": "file_1"}}])),
        "expected an object, but got a string",
    ),
    Twins(
        "instructions are text",
        request({"role": "system", "content": [{"type": "image_url", "image_url": {"url": "https://a.example"}}]}),
        request({"role": "system", "content": [{"type": "text", "text": "Be brief."}]}),
        "Invalid value: 'image_url'. Supported values are: 'text'.",
    ),
    Twins(
        "an assistant says or calls something",
        request(user("hi"), {"role": "assistant", "content": None}),
        request(user("hi"), {"role": "assistant", "content": "hello"}),
        "one of a string or array of objects",
    ),
    Twins(
        "an assistant's refusal is its content",
        request(user("hi"), {"role": "assistant", "content": [{"type": "refusal"}]}),
        request(user("hi"), {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}),
        "content[0].refusal",
    ),
    Twins(
        "a message has no other fields",
        request({**user("hi"), "sender": "critic"}),
        request({**user("hi"), "name": "critic"}),
        "Unknown parameter: 'messages[0].sender'.",
    ),
    Twins(
        "a participant's name has no blanks",
        request({**user("hi"), "name": "the critic"}),
        request({**user("hi"), "name": "the-critic"}),
        "string does not match pattern",
    ),
    Twins(
        "a function's message names it",
        request(user("hi"), {"role": "function", "content": "blue"}),
        request(user("hi"), {"role": "function", "content": "blue", "name": "look"}),
        "'messages[1].name'",
    ),
]
PAIRS = [
    Twins(
        "a tool call is answered",
        request(user("hi"), calling("c1")),
        request(user("hi"), calling("c1"), answer("c1")),
        "The following tool_call_ids did not have response messages: c1",
    ),
    Twins(
        "a tool call is answered before anything else is said",
        request(user("hi"), calling("c1"), user("wait"), answer("c1")),
        request(user("hi"), calling("c1"), answer("c1"), user("go")),
        "must be followed by tool messages responding to each 'tool_call_id'",
    ),
    Twins(
        "all tool calls are answered",
        request(user("hi"), calling("c1", "c2"), answer("c2"), user("go")),
        request(user("hi"), calling("c1", "c2"), answer("c2"), answer("c1"), user("go")),
        "did not have response messages: c1",
    ),
    Twins(
        "an answer follows a tool call",
        request(user("hi"), answer("c1")),
        request(user("hi"), calling("c1"), answer("c1")),
        "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'",
    ),
    Twins(
        "an answer names a call of the message before",
        request(user("hi"), calling("c1"), answer("c1"), answer("c2")),
        request(user("hi"), calling("c1", "c2"), answer("c1"), answer("c2")),
        "'tool_call_id' of 'c2' not found in 'tool_calls' of previous message",
    ),
    Twins(
        "an answer names its call",
        request(user("hi"), calling("c1"), {"role": "tool", "content": "blue"}),
        request(user("hi"), calling("c1"), answer("c1", [{"type": "text", "text": "blue"}])),
        "'messages[2].tool_call_id'",
    ),
    Twins(
        "an answer has content",
        request(user("hi"), calling("c1"), {"role": "tool", "tool_call_id": "c1"}),
        request(user("hi"), calling("c1"), answer("c1", "")),
        "'messages[2].content'",
    ),
    Twins(
        "the list of calls is not empty",
        request(user("hi"), calling(content="hello")),
        request(user("hi"), {"role": "assistant", "content": "hello"}),
        "Invalid 'tool_calls': empty array",
    ),
    Twins(
        "an id is not too long",
        request(user("hi"), calling("c" * 41), answer("c" * 41)),
        request(user("hi"), calling("c" * 40), answer("c" * 40)),
        "string too long. Expected a string with maximum length 40",
    ),
    Twins(
        "arguments are a text",
        request(user("hi"), {**calling("c1"), "tool_calls": [call("c1", arguments={})]}, answer("c1")),
        request(user("hi"), {**calling("c1"), "tool_calls": [call("c1", arguments="{}")]}, answer("c1")),
        "expected a string, but got an object",
    ),
    Twins(
        "a called function's name fits the pattern",
        request(user("hi"), {**calling("c1"), "tool_calls": [call("c1", name="look at")]}, answer("c1")),
        request(user("hi"), {**calling("c1"), "tool_calls": [call("c1", name="look-at")]}, answer("c1")),
        "string does not match pattern",
    ),
    Twins(
        "a call is of a known type",
        request(user("hi"), {**calling("c1"), "tool_calls": [{**call("c1"), "type": "tool"}]}, answer("c1")),
        request(
            user("hi"),
            {**calling("c1"), "tool_calls": [{"id": "c1", "type": "custom", "custom": {"name": "look", "input": ""}}]},
            answer("c1"),
        ),
        "Invalid value: 'tool'",
    ),
]
DECLARED = [
    Twins("tools are not empty", request(tools=[]), request(tools=[tool()]), "Invalid 'tools': empty array"),
    Twins(
        "a tool's type is known",
        request(tools=[{"type": "tool"}]),
        request(tools=[{"type": "custom", "custom": {"name": "look"}}]),
        "Invalid value: 'tool'",
    ),
    Twins(
        "a function stands in its tool",
        request(tools=[{"type": "function", "name": "look"}]),
        request(tools=[tool()]),
        "Missing required parameter: 'tools[0].function'.",
    ),
    Twins("a name is given", request(tools=[tool(name="")]), request(tools=[tool()]), "string does not match pattern"),
    Twins(
        "a name fits the pattern", request(tools=[tool("a.b")]), request(tools=[tool("a_b")]), "does not match pattern"
    ),
    Twins("a name is not too long", request(tools=[tool("a" * 65)]), request(tools=[tool("a" * 64)]), "too long"),
    Twins(
        "parameters are an object's",
        request(tools=[tool(parameters={"type": "string"})]),
        request(tools=[tool(parameters={"type": "object"})]),
        "Invalid schema for function 'look': schema must be a JSON Schema of 'type: \"object\"'",
    ),
    Twins(
        "a strict function is closed",
        request(tools=[tool(strict=True)]),
        request(tools=[tool(strict=True, parameters={**CLOSED, "required": ["at"]})]),
        "Invalid schema for function 'look'",
    ),
    Twins(
        "a strict function requires everything",
        request(tools=[tool(strict=True, parameters=CLOSED)]),
        request(tools=[tool(strict=False, parameters=CLOSED)]),
        "'required' must include every key in properties. Missing at",
    ),
    Twins(
        "a choice needs tools",
        request(tool_choice="auto"),
        request(tool_choice="auto", tools=[tool()]),
        "'tool_choice' is only allowed when 'tools' are specified",
    ),
    Twins(
        "parallel calls need tools",
        request(parallel_tool_calls=False),
        request(parallel_tool_calls=False, tools=[tool()]),
        "'parallel_tool_calls' is only allowed when 'tools' are specified",
    ),
    Twins(
        "a choice is known",
        request(tool_choice="any", tools=[tool()]),
        request(tool_choice="required", tools=[tool()]),
        "Invalid value: 'any'",
    ),
    Twins(
        "a chosen function is declared",
        request(tool_choice={"type": "function", "function": {"name": "peek"}}, tools=[tool()]),
        request(tool_choice={"type": "function", "function": {"name": "look"}}, tools=[tool()]),
        "Tool choice 'peek' not found in 'tools' parameter",
    ),
]


@pytest.mark.parametrize("twins", [*FIELDS, *MESSAGES, *PAIRS, *DECLARED], ids=lambda twins: twins.rule)
def test_a_rule_of_chat_completions_refuses_one_twin_and_takes_the_other(twins: Twins) -> None:
    check(Api.OPENAI_CHAT, twins)
