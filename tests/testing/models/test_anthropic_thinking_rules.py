"""Requests with thinking that Anthropic's Messages API refuses. Each rule has a refused and an accepted request."""

import pytest

from covey.testing.models import Api, thinking_signature
from tests.testing.models.claude import (
    NEW,
    OLD,
    TOOLS,
    assistant,
    budget,
    request,
    result,
    text,
    thinking,
    use,
    user,
)
from tests.testing.models.twins import Twins, check

THOUGHT = thinking("hm")
TYPES = [
    Twins(
        "a model without a budget takes none",
        request(thinking=budget(), model="claude-opus-4-7"),
        request(thinking=budget(), model="claude-opus-4-6"),
        '"thinking.type.enabled" is not supported for this model',
    ),
    Twins(
        "an older model does not adapt",
        request(thinking={"type": "adaptive"}, model=OLD),
        request(thinking={"type": "adaptive"}, model="claude-opus-4-6"),
        "adaptive thinking is not supported on this model",
    ),
    Twins(
        "a model that always thinks can't be told not to",
        request(thinking={"type": "disabled"}, model="claude-fable-5"),
        request(thinking={"type": "disabled"}, model="claude-sonnet-5"),
        '"thinking.type.disabled" is not supported for this model',
    ),
    Twins(
        "a model that thinks between tools says so",
        request(thinking={"type": "disabled"}, model="claude-sonnet-5-5"),
        request(thinking={"type": "between_tools"}, model="claude-sonnet-5-5"),
        'send "thinking": {"type": "between_tools"}',
    ),
    Twins(
        "other models do not think between tools",
        request(thinking={"type": "between_tools"}, model="claude-opus-5"),
        request(thinking={"type": "adaptive"}, model="claude-opus-5"),
        '"thinking.type.between_tools" is not supported',
    ),
    Twins(
        "the preview takes a budget and can't be quiet",
        request(thinking={"type": "disabled"}, model="claude-mythos-preview"),
        request(thinking=budget(), model="claude-mythos-preview"),
        '"thinking.type.disabled" is not supported',
    ),
    Twins(
        "a model is not quiet at a high effort",
        request(thinking={"type": "disabled"}, output_config={"effort": "max"}, model="claude-opus-5"),
        request(thinking={"type": "disabled"}, output_config={"effort": "high"}, model="claude-opus-5"),
        "output_config.effort 'max' is not supported when thinking is disabled",
    ),
    Twins("a budget is given", request(thinking={"type": "enabled"}), request(thinking=budget()), "Field required"),
    Twins(
        "a budget is not too small",
        request(thinking=budget(1023)),
        request(thinking=budget(1024)),
        "thinking.budget_tokens: Input should be greater than or equal to 1024",
    ),
    Twins(
        "a budget is less than max_tokens",
        request(thinking=budget(2048), max_tokens=2048),
        request(thinking=budget(2047), max_tokens=2048),
        "`max_tokens` must be greater than `thinking.budget_tokens`",
    ),
    Twins(
        "no budget where the model adapts",
        request(thinking={"type": "adaptive", "budget_tokens": 1024}, model=NEW),
        request(thinking={"type": "adaptive", "display": "summarized"}, model=NEW),
        "thinking.budget_tokens: Extra inputs are not permitted",
    ),
    Twins(
        "who thinks by a budget is not forced to use a tool",
        request(thinking=budget(), tools=TOOLS, tool_choice={"type": "any"}),
        request(thinking=budget(), tools=TOOLS, tool_choice={"type": "auto"}),
        "Thinking may not be enabled when tool_choice forces tool use",
    ),
    Twins(
        "who thinks by a budget has a temperature of 1",
        request(thinking=budget(), temperature=0.5),
        request(thinking=budget(), temperature=1),
        "`temperature` may only be set to 1",
    ),
    Twins(
        "what becomes of foreign thoughts is a beta",
        request(thinking={"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "error"}}, model=NEW),
        request(thinking={"type": "adaptive"}, model=NEW),
        "thinking.block_binding: Extra inputs are not permitted",
    ),
]
CONVERSATIONS = [
    Twins(
        "with a budget, a turn that goes on began with a thought",
        request(user("hi"), assistant(use()), user(result()), thinking=budget(), tools=TOOLS),
        request(user("hi"), assistant(THOUGHT, use()), user(result()), thinking=budget(), tools=TOOLS),
        "messages.1.content.0: Expected `thinking` or `redacted_thinking`, but found `tool_use`",
    ),
    Twins(
        "a model that adapts need not have thought",
        request(user("hi"), assistant(use()), user(result()), thinking=budget(), tools=TOOLS),
        request(user("hi"), assistant(use()), user(result()), model=NEW, tools=TOOLS),
        "Expected `thinking`",
    ),
    Twins(
        "the thought comes first of all",
        request(user("hi"), assistant("so", THOUGHT, use()), user(result()), thinking=budget(), tools=TOOLS),
        request(user("hi"), assistant(THOUGHT, "so", use()), user(result()), thinking=budget(), tools=TOOLS),
        "but found `text`",
    ),
    Twins(
        "results do not end the assistant's turn",
        request(
            *(user("hi"), assistant(use("t1")), user(result("t1")), assistant(THOUGHT, use("t2")), user(result("t2"))),
            thinking=budget(),
            tools=TOOLS,
        ),
        request(
            *(user("hi"), assistant(THOUGHT, use("t1")), user(result("t1")), assistant(use("t2")), user(result("t2"))),
            thinking=budget(),
            tools=TOOLS,
        ),
        "messages.1.content.0: Expected `thinking`",
    ),
    Twins(
        "a turn that has ended may have lost its thoughts",
        request(user("hi"), assistant(use()), user(result(), "so?"), thinking=budget(), tools=TOOLS),
        request(
            user("hi"), assistant(use()), user(result()), assistant("blue"), user("so?"), thinking=budget(), tools=TOOLS
        ),
        "Expected `thinking`",
    ),
    Twins(
        "a thought may be hidden",
        request(
            user("hi"),
            assistant({"type": "redacted_thinking", "data": ""}, use()),
            user(result()),
            thinking=budget(),
            tools=TOOLS,
        ),
        request(
            user("hi"),
            assistant({"type": "redacted_thinking", "data": "x"}, use()),
            user(result()),
            thinking=budget(),
            tools=TOOLS,
        ),
        "Invalid `data` in `redacted_thinking` block",
    ),
    Twins(
        "who thinks by a budget takes no prefill",
        request(user("hi"), assistant("He"), thinking=budget()),
        request(user("hi"), assistant("He")),
        "Expected `thinking` or `redacted_thinking`, but found `text`",
    ),
    Twins(
        "who thinks takes no prefill, thought or not",
        request(user("hi"), assistant(THOUGHT, "He"), thinking=budget()),
        request(user("hi"), assistant(THOUGHT, "Hello."), user("so?"), thinking=budget()),
        "does not support assistant message prefill",
    ),
    Twins(
        "who does not think has no thoughts in a prefill",
        request(user("hi"), assistant(THOUGHT, "He")),
        request(user("hi"), assistant(THOUGHT, "Hello."), user("so?")),
        "an `assistant` message in the final position cannot contain `thinking`",
    ),
    Twins(
        "a thought is signed",
        request(user("hi"), assistant({"type": "thinking", "thinking": "hm"}, "Hello."), user("so?")),
        request(user("hi"), assistant(THOUGHT, "Hello."), user("so?")),
        "messages.1.content.0.signature: Field required",
    ),
    Twins(
        "a signature is not made up",
        request(user("hi"), assistant({**THOUGHT, "signature": "c2lnbmVk"}, "Hello."), user("so?")),
        request(user("hi"), assistant({**THOUGHT, "signature": thinking_signature("hm")}, "Hello."), user("so?")),
        "messages.1.content.0: Invalid `signature` in `thinking` block",
    ),
    Twins(
        "a signature can be read",
        request(user("hi"), assistant({**THOUGHT, "signature": "signed!"}, "Hello."), user("so?")),
        request(user("hi"), assistant(THOUGHT, "Hello."), user("so?")),
        "Invalid `signature` in `thinking` block",
    ),
    Twins(
        "a thought is not changed",
        request(user("hi"), assistant({**THOUGHT, "thinking": "ha"}, "Hello."), user("so?")),
        request(user("hi"), assistant({**THOUGHT, "thinking": "hm"}, "Hello."), user("so?")),
        "Invalid `signature` in `thinking` block",
    ),
    Twins(
        "thoughts are the assistant's",
        request(user(THOUGHT)),
        request(user("hi"), assistant(THOUGHT, text("Hello.")), user("so?")),
        "`thinking` blocks can only be in `assistant` messages",
    ),
]


@pytest.mark.parametrize("twins", [*TYPES, *CONVERSATIONS], ids=lambda twins: twins.rule)
def test_a_rule_about_thinking_refuses_one_twin_and_takes_the_other(twins: Twins) -> None:
    check(Api.ANTHROPIC_MESSAGES, twins)


@pytest.mark.parametrize("model", [OLD, NEW, "claude-fable-5-1", "claude-haiku-4-5-20251001", "somebody-else"])
def test_every_model_takes_a_plain_request(model: str) -> None:
    check(Api.ANTHROPIC_MESSAGES, Twins("plain", request(model=model, messages=[]), request(model=model), "message"))
