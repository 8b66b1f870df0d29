"""Requests that OpenAI's Responses API refuses. Each rule has a refused and an accepted request."""

import pytest

from covey.core.json import Json, JsonObject
from covey.testing.models import Api
from covey.testing.models.openai_responses.items import encrypted
from tests.testing.models.twins import Twins, check, schema, without


def request(*items: JsonObject, **fields: Json) -> JsonObject:
    """Return a request that is valid except for the given fields."""
    return {"model": "gpt-6", "input": list(items) or "hi", **fields}


def said(content: Json, role: str = "user", **fields: Json) -> JsonObject:
    return {"role": role, "content": content, **fields}


def call(call_id: str = "c1", **fields: Json) -> JsonObject:
    return {"type": "function_call", "call_id": call_id, "name": "look", "arguments": "{}", **fields}


def output(call_id: str = "c1", content: Json = "blue") -> JsonObject:
    return {"type": "function_call_output", "call_id": call_id, "output": content}


def thought(item_id: str = "rs_1", **fields: Json) -> JsonObject:
    return {"type": "reasoning", "id": item_id, "summary": [], "encrypted_content": encrypted(item_id), **fields}


def tool(name: str = "look", **fields: Json) -> JsonObject:
    return {"type": "function", "name": name, "parameters": schema(at={"type": "string"}), **fields}


FIELDS = [
    Twins("a model is named", without(request(), "model"), request(), "Missing required parameter: 'model'."),
    Twins("something is put in", without(request(), "input"), request(), "must be provided"),
    Twins("input is a text or an array", request(input=7), request(input="7"), "expected an array, but got an integer"),
    Twins("no field is unknown", request(messages=[]), request(), "Unknown parameter: 'messages'."),
    Twins("stream is a boolean", request(stream=1), request(stream=True), "expected a boolean, but got an integer"),
    Twins("instructions are text", request(instructions=[]), request(instructions="Be brief."), "expected a string"),
    Twins(
        "what came before was stored",
        request(previous_response_id="resp_1"),
        request(),
        "Previous response with id 'resp_1' not found.",
    ),
    Twins(
        "a stored prompt may name the model and the input",
        without(request(), "model", "input"),
        without(request(prompt={"id": "pmpt_1"}), "model", "input"),
        "Missing required parameter: 'model'.",
    ),
    Twins(
        "a request follows one thing",
        request(previous_response_id="resp_1", conversation="conv_1"),
        request(conversation="conv_1"),
        "Mutually exclusive parameters",
    ),
]
ITEMS = [
    Twins(
        "an item's type is known",
        request({"type": "tool_use", "id": "t1"}),
        request(call(), output()),
        "Invalid value: 'tool_use'. Supported values are: 'message', 'reasoning'",
    ),
    Twins("an item is an object", request(input=["hi"]), request(said("hi")), "expected an object, but got a string"),
    Twins("a message has a role", request({"content": "hi"}), request(said("hi")), "'input[0].role'"),
    Twins(
        "a role is known",
        request(said("hi", "tool")),
        request(said("hi", "developer")),
        "Invalid value: 'tool'. Supported values are: 'assistant', 'system', 'developer', 'user'.",
    ),
    Twins("a message has content", request({"role": "user"}), request(said("hi")), "'input[0].content'"),
    Twins(
        "what is put in is input",
        request(said([{"type": "output_text", "text": "hi"}])),
        request(said([{"type": "input_text", "text": "hi"}])),
        "Invalid value: 'output_text'. Supported values are: 'input_text'",
    ),
    Twins(
        "what the assistant said is output",
        request(said("hi"), said([{"type": "input_text", "text": "hello"}], "assistant")),
        request(said("hi"), said([{"type": "output_text", "text": "hello"}], "assistant")),
        "Invalid value: 'input_text'. Supported values are: 'output_text', 'refusal'.",
    ),
    Twins(
        "a text has its text",
        request(said([{"type": "input_text"}])),
        request(said([{"type": "input_text", "text": "hi"}])),
        "'input[0].content[0].text'",
    ),
    Twins(
        "a refusal has its text",
        request(said([{"type": "refusal"}], "assistant")),
        request(said([{"type": "refusal", "refusal": "No."}], "assistant")),
        "'input[0].content[0].refusal'",
    ),
    Twins(
        "an image is somewhere",
        request(said([{"type": "input_image"}])),
        request(said([{"type": "input_image", "image_url": "https://example.org/a.png"}])),
        "'input[0].content[0].image_url'",
    ),
    Twins(
        "an id tells what it is of",
        request(said("hi"), said("hello", "assistant", id="1", type="message")),
        request(said("hi"), said("hello", "assistant", id="msg_1", type="message")),
        "Expected an ID that begins with 'msg'",
    ),
    Twins(
        "a call's id is its own",
        request(call(id="call_1"), output()),
        request(call(id="fc_1"), output()),
        "Expected an ID that begins with 'fc'",
    ),
    Twins(
        "a call has a name", request(without(call(), "name"), output()), request(call(), output()), "'input[0].name'"
    ),
    Twins(
        "a called function's name fits the pattern",
        request(call(name="look at"), output()),
        request(call(name="look-at"), output()),
        "string does not match pattern",
    ),
    Twins(
        "arguments are a text",
        request(call(arguments={}), output()),
        request(call(arguments="{}"), output()),
        "expected a string, but got an object",
    ),
    Twins(
        "a call has a call_id",
        request(without(call(), "call_id")),
        request(call(), output()),
        "Missing required parameter: 'input[0].call_id'.",
    ),
    Twins(
        "a call_id is not too long",
        request(call("c" * 65), output("c" * 65)),
        request(call("c" * 64), output("c" * 64)),
        "expected 1 to 64 characters, but got 65",
    ),
    Twins(
        "an output is there",
        request(call(), without(output(), "output")),
        request(call(), output(content="")),
        "Missing required parameter: 'input[1].output'.",
    ),
    Twins(
        "an output's parts are input",
        request(call(), output(content=[{"type": "output_text", "text": "blue"}])),
        request(call(), output(content=[{"type": "input_text", "text": "blue"}])),
        "Invalid value: 'output_text'",
    ),
    Twins(
        "an item comes once",
        request(call(id="fc_1"), output(), call(id="fc_1"), output()),
        request(call(id="fc_1"), output(), call(id="fc_2"), output()),
        "Duplicate item found with id fc_1",
    ),
]
PAIRS = [
    Twins(
        "a call is answered",
        request(said("hi"), call()),
        request(said("hi"), call(), output()),
        "No tool output found for function call c1.",
    ),
    Twins(
        "an output answers a call",
        request(said("hi"), output()),
        request(said("hi"), call(), output()),
        "No tool call found for function call output with call_id c1.",
    ),
    Twins(
        "an output comes after its call",
        request(said("hi"), output(), call()),
        request(said("hi"), call(), said("wait"), output()),
        "No tool call found for function call output",
    ),
    Twins(
        "a call has one output",
        request(call(), output(), output()),
        request(call(), output()),
        "No tool call found for function call output",
    ),
    Twins(
        "all calls are answered",
        request(call("c1"), call("c2"), output("c2")),
        request(call("c1"), call("c2"), output("c2"), output("c1")),
        "No tool output found for function call c1.",
    ),
    Twins(
        "a custom call gets a custom output",
        request({"type": "custom_tool_call", "call_id": "c1", "name": "look", "input": ""}, output()),
        request(
            {"type": "custom_tool_call", "call_id": "c1", "name": "look", "input": ""},
            {"type": "custom_tool_call_output", "call_id": "c1", "output": "blue"},
        ),
        "No tool call found for function call output",
    ),
]
THOUGHTS = [
    Twins(
        "a thought has an id",
        request(without(thought(), "id"), call(), output()),
        request(thought(), call(), output()),
        "Missing required parameter: 'input[0].id'.",
    ),
    Twins(
        "a thought has a summary",
        request(without(thought(), "summary"), call(), output()),
        request(thought(summary=[{"type": "summary_text", "text": "hm"}]), call(), output()),
        "Missing required parameter: 'input[0].summary'.",
    ),
    Twins(
        "a thought is followed by what came of it",
        request(said("hi"), thought(), said("so?")),
        request(said("hi"), thought(), said("hello", "assistant"), said("so?")),
        "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
    ),
    Twins(
        "a thought is not the last",
        request(said("hi"), call(), output(), thought()),
        request(said("hi"), thought(), call(), output()),
        "without its required following item",
    ),
    Twins(
        "a thought is its model's own",
        request(thought(encrypted_content="made up"), call(), output()),
        request(thought(), call(), output()),
        "The encrypted content for item rs_1 could not be verified.",
    ),
    Twins(
        "a thought without content was stored",
        request(without(thought(), "encrypted_content"), call(), output()),
        request(thought(), call(), output()),
        "Item with id 'rs_1' not found.",
    ),
    Twins(
        "what is referred to was stored",
        request(said("hi"), {"type": "item_reference", "id": "msg_1"}),
        request(said("hi")),
        "Item with id 'msg_1' not found.",
    ),
    Twins(
        "a reference needs no type", request({"id": "msg_1"}), request(said("hi")), "Item with id 'msg_1' not found."
    ),
]
DECLARED = [
    Twins("a tool's type is known", request(tools=[{"type": "tool"}]), request(tools=[{"type": "mcp"}]), "'tool'"),
    Twins(
        "a function is its tool",
        request(tools=[{"type": "function", "function": {"name": "look"}}]),
        request(tools=[tool()]),
        "Missing required parameter: 'tools[0].name'.",
    ),
    Twins(
        "a name fits the pattern", request(tools=[tool("a.b")]), request(tools=[tool("a_b")]), "does not match pattern"
    ),
    Twins(
        "a strict function is closed",
        request(tools=[tool(strict=True)]),
        request(tools=[tool(strict=True, parameters={**schema(), "required": [], "additionalProperties": False})]),
        "Invalid schema for function 'look'",
    ),
    Twins(
        "who must use a tool has one",
        request(tool_choice="required"),
        request(tool_choice="required", tools=[tool()]),
        "Tool choice 'required' must be specified with 'tools' parameter.",
    ),
    Twins(
        "a choice is known",
        request(tool_choice="any", tools=[tool()]),
        request(tool_choice="auto", tools=[tool()]),
        "Invalid value: 'any'",
    ),
    Twins(
        "a chosen function is declared",
        request(tool_choice={"type": "function", "name": "peek"}, tools=[tool()]),
        request(tool_choice={"type": "function", "name": "look"}, tools=[tool()]),
        "Tool choice 'peek' not found in 'tools' parameter",
    ),
]


@pytest.mark.parametrize("twins", [*FIELDS, *ITEMS, *PAIRS, *THOUGHTS, *DECLARED], ids=lambda twins: twins.rule)
def test_a_rule_of_responses_refuses_one_twin_and_takes_the_other(twins: Twins) -> None:
    check(Api.OPENAI_RESPONSES, twins)
