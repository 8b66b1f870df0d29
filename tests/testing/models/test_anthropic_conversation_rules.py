"""Conversations that Anthropic's Messages API refuses. Each rule has a refused and an accepted request."""

import pytest

from covey.testing.models import Api
from tests.testing.models.claude import (
    CACHED,
    IMAGE,
    NEW,
    OLD,
    TOOLS,
    assistant,
    request,
    result,
    system,
    text,
    tool,
    use,
    user,
)
from tests.testing.models.twins import Twins, check

MESSAGES = [
    Twins(
        "a role is known",
        request({"role": "critic", "content": "hi"}),
        request(user("hi")),
        "messages.0.role: Input should be 'user', 'assistant' or 'system'",
    ),
    Twins("content is given", request({"role": "user"}), request(user("hi")), "messages.0.content: Field required"),
    Twins("content is not null", request({"role": "user", "content": None}), request(), "messages.0.content: Input"),
    Twins(
        "a message has no other fields",
        request({**user("hi"), "name": "critic"}),
        request(user("hi")),
        "messages.0.name: Extra inputs are not permitted",
    ),
    Twins(
        "the user speaks first",
        request(assistant("hello"), user("hi")),
        request(user("hi"), assistant("hello"), user("and?")),
        'first message must use the "user" role',
    ),
    Twins(
        "content is not empty",
        request({"role": "user", "content": ""}),
        request(user("hi"), {"role": "assistant", "content": ""}),
        "all messages must have non-empty content",
    ),
    Twins("a text is not empty", request(user("")), request(user("a")), "text content blocks must be non-empty"),
    Twins("a text is not blank", request(user(" \n")), request(user("a")), "must contain non-whitespace text"),
    Twins(
        "a block has a type",
        request(user({"text": "hi"})),
        request(user(text("hi"))),
        "messages.0.content.0.type: Field required",
    ),
    Twins(
        "a block's type is known",
        request(user({"type": "video"})),
        request(user(IMAGE)),
        "messages.0.content.0.type: Input should be",
    ),
    Twins(
        "a block has no other fields",
        request(user({**text("hi"), "name": "critic"})),
        request(user({**text("hi"), **CACHED})),
        "messages.0.content.0.name: Extra inputs",
    ),
    Twins(
        "an image has a source",
        request(user({"type": "image"})),
        request(user({"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}})),
        "messages.0.content.0.source: Field required",
    ),
    Twins(
        "a source has its data",
        request(user({"type": "document", "source": {"type": "text", "data": "a"}})),
        request(user({"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "a"}})),
        "source.media_type: Field required",
    ),
    Twins(
        "a document may be of parts",
        request(user({"type": "document", "source": {"type": "content"}})),
        request(user({"type": "document", "source": {"type": "content", "content": [text("a")]}})),
        "source.content: Field required",
    ),
    Twins(
        "a file is named",
        request(user({"type": "image", "source": {"type": "file"}})),
        request(user({"type": "image", "source": {"type": "file", "file_id": "file_1"}})),
        "source.file_id: Field required",
    ),
    Twins(
        "images are in the user's messages",
        request(user("draw"), assistant(IMAGE), user("thanks")),
        request(user("look", IMAGE), assistant("nice"), user("thanks")),
        "`image` blocks can only be in `user` messages",
    ),
    Twins(
        "a model that knows no system messages gets none",
        request(user("hi"), system("Be brief.")),
        request(user("hi"), system("Be brief."), model="claude-opus-4-8"),
        "role 'system' is not supported on this model",
    ),
    Twins(
        "a system message is not the first",
        request(system("Be brief."), user("hi"), model=NEW),
        request(user("hi"), system("Be brief."), model=NEW),
        'first message must use the "user" role',
    ),
    Twins(
        "a system message follows a user's",
        request(user("hi"), assistant("hello"), system("Be brief."), model=NEW),
        request(user("hi"), assistant("hello"), user("and?"), system("Be brief."), model=NEW),
        "must immediately follow a user turn",
    ),
    Twins(
        "a system message is followed by the assistant's or by none",
        request(user("hi"), system("Be brief."), user("and?"), model=NEW),
        request(user("hi"), system("Be brief."), system("Be kind."), assistant("hello"), user("and?"), model=NEW),
        "must precede an assistant turn",
    ),
    Twins(
        "a system message has text only",
        request(user("hi"), system(result()), model=NEW),
        request(user("hi"), system(text("Be brief.")), model=NEW),
        "`tool_result` blocks can only be in `user` messages",
    ),
    Twins(
        "when a system message is cleared is a beta",
        request(user("hi"), {**system("Be brief."), "clear_at": "next_user_message"}, model=NEW),
        request(user("hi"), system("Be brief."), model=NEW),
        "messages.1.clear_at: Extra inputs are not permitted",
    ),
    Twins(
        "older models go on with a prefill",
        request(user("hi"), assistant("He"), model="claude-sonnet-4-6"),
        request(user("hi"), assistant("He"), model=OLD),
        "does not support assistant message prefill",
    ),
    Twins(
        "a prefill does not end in white space",
        request(user("hi"), assistant("He ")),
        request(user("hi"), assistant("He")),
        "final assistant content cannot end with trailing whitespace",
    ),
]
PAIRS = [
    Twins(
        "a tool use is answered",
        request(user("hi"), assistant(use()), tools=TOOLS),
        request(user("hi"), assistant(use()), user(result()), tools=TOOLS),
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: t1",
    ),
    Twins(
        "a tool use is answered in the very next turn",
        request(user("hi"), assistant(use()), user("wait"), assistant("yes"), user(result()), tools=TOOLS),
        request(user("hi"), assistant(use()), user(result()), assistant("yes"), user("go"), tools=TOOLS),
        "without `tool_result` blocks immediately after",
    ),
    Twins(
        "all tool uses of a turn are answered",
        request(user("hi"), assistant(use("t1"), use("t2")), user(result("t1")), tools=TOOLS),
        request(user("hi"), assistant(use("t1"), use("t2")), user(result("t2"), result("t1")), tools=TOOLS),
        "immediately after: t2",
    ),
    Twins(
        "results come before anything else",
        request(user("hi"), assistant(use()), user("here", result()), tools=TOOLS),
        request(user("hi"), assistant(use()), user(result(), "there"), tools=TOOLS),
        "without `tool_result` blocks immediately after",
    ),
    Twins(
        "messages of one role count as one turn",
        request(user("hi"), assistant(use()), user("here"), user(result()), tools=TOOLS),
        request(
            user("hi"), assistant(use("t1")), assistant(use("t2")), user(result("t1")), user(result("t2")), tools=TOOLS
        ),
        "without `tool_result` blocks immediately after",
    ),
    Twins(
        "a result answers a tool use",
        request(user("hi"), assistant("yes"), user(result()), tools=TOOLS),
        request(user("hi"), assistant(use()), user(result()), tools=TOOLS),
        "unexpected `tool_use_id` found in `tool_result` blocks: t1",
    ),
    Twins(
        "a result answers a tool use of the turn before",
        request(user(result()), tools=TOOLS),
        request(user("hi"), assistant(use()), user(result()), tools=TOOLS),
        "must have a corresponding `tool_use` block in the previous message",
    ),
    Twins(
        "a tool use has one result",
        request(user("hi"), assistant(use()), user(result(), result()), tools=TOOLS),
        request(user("hi"), assistant(use()), user(result()), tools=TOOLS),
        "each tool_use must have a single result",
    ),
    Twins(
        "ids of tool uses are unique",
        request(user("hi"), assistant(use()), user(result()), assistant(use()), user(result()), tools=TOOLS),
        request(user("hi"), assistant(use()), user(result()), assistant(use("t2")), user(result("t2")), tools=TOOLS),
        "`tool_use` ids must be unique",
    ),
    Twins(
        "an id has letters, digits, lines and dashes",
        request(user("hi"), assistant(use("t:1")), user(result("t:1")), tools=TOOLS),
        request(user("hi"), assistant(use("t-1")), user(result("t-1")), tools=TOOLS),
        "String should match pattern '^[a-zA-Z0-9_-]+$'",
    ),
    Twins(
        "a tool use has a name",
        request(user("hi"), assistant(use(name="")), user(result()), tools=TOOLS),
        request(user("hi"), assistant(use(name="look")), user(result()), tools=TOOLS),
        "name: String should have at least 1 character",
    ),
    Twins(
        "a tool use's input is an object",
        request(user("hi"), assistant({**use(), "input": "{}"}), user(result()), tools=TOOLS),
        request(user("hi"), assistant({**use(), "input": {}}), user(result()), tools=TOOLS),
        "input: Input should be a valid dictionary",
    ),
    Twins(
        "only the assistant uses tools",
        request(user(use()), tools=TOOLS),
        request(user("hi"), assistant(use()), user(result()), tools=TOOLS),
        "`tool_use` blocks can only be in `assistant` messages",
    ),
    Twins(
        "only the user brings results",
        request(user("hi"), assistant(use()), assistant(result()), tools=TOOLS),
        request(user("hi"), assistant(use()), user(result()), tools=TOOLS),
        "`tool_result` blocks can only be in `user` messages",
    ),
    Twins(
        "who uses tools declares tools",
        request(user("hi"), assistant(use()), user(result())),
        request(user("hi"), assistant(use()), user(result()), tools=TOOLS),
        "must define tools",
    ),
    Twins(
        "a tool that is used is declared",
        request(user("hi"), assistant(use(name="peek")), user(result()), tools=TOOLS),
        request(user("hi"), assistant(use(name="peek")), user(result()), tools=[tool(), tool("peek")]),
        "Tool 'peek' not found in provided tools",
    ),
    Twins(
        "a result has parts that the model can read",
        request(user("hi"), assistant(use()), user(result(content=[use()])), tools=TOOLS),
        request(user("hi"), assistant(use()), user(result(content=[text("a"), IMAGE])), tools=TOOLS),
        "content.0.content.0.type: Input should be",
    ),
    Twins(
        "a failed result is text",
        request(user("hi"), assistant(use()), user({**result(content=[IMAGE]), "is_error": True}), tools=TOOLS),
        request(user("hi"), assistant(use()), user({**result(content=[text("no")]), "is_error": True}), tools=TOOLS),
        'all content must be type "text" if `is_error` is true',
    ),
]


@pytest.mark.parametrize("twins", [*MESSAGES, *PAIRS], ids=lambda twins: twins.rule)
def test_a_rule_about_conversations_refuses_one_twin_and_takes_the_other(twins: Twins) -> None:
    check(Api.ANTHROPIC_MESSAGES, twins)
