"""Agent loops with the official SDKs against the scripted model: injections are accepted, and seen by the model."""

from typing import Any

import anthropic
import openai
import pytest

import covey
from covey.core.attention.injection import InjectionForm
from covey.core.ledger.delivery import DeliveryState
from covey.surfaces.python.member import Member
from covey.testing.models import ScriptedModel, Thought, ToolCall, say
from tests.testing.models.settling import settling

pytestmark = pytest.mark.requirement("broadcast.attention")

SEARCH: Any = {"name": "search", "input_schema": {"type": "object", "properties": {}}}
BROADCAST: Any = {"name": "broadcast", "input_schema": {"type": "object", "properties": {}}}
THINKER = "claude-sonnet-5-5"
"""A model whose thoughts are only valid after the exact conversation that they came from."""

TIMEOUT_S = 10.0


def as_chat(tool: Any) -> Any:
    return {"type": "function", "function": {"name": tool["name"], "parameters": tool["input_schema"]}}


def as_item(tool: Any) -> Any:
    return {"type": "function", "name": tool["name"], "parameters": tool["input_schema"], "strict": False}


async def handled(space: covey.Space, *receipts: covey.Receipt) -> bool:
    found = [await space.receipt(receipt.message_id) for receipt in receipts]
    return all(delivery.state is DeliveryState.HANDLED for receipt in found for delivery in receipt.deliveries)


async def ask_claude(claude: Any, me: Member, history: list[Any], **request: Any) -> Any:
    """Run one turn of the model, and keep the injected messages."""
    async with me.turn() as turn:
        injected = turn.inject(
            history, provider="anthropic", tools=request.get("tools", ()), thinking=request.get("thinking")
        )
        response = await claude.messages.create(max_tokens=2048, messages=injected.messages, **request)
        turn.responded(response.id)
    history[:] = [*injected.messages, {"role": "assistant", "content": response.content}]
    return injected


async def test_claude_accepts_and_reads_a_tool_result_that_it_did_not_ask_for() -> None:
    async with (
        covey.open("memory:") as space,
        ScriptedModel(["I see.", "I see that too."]) as model,
        settling(anthropic.AsyncAnthropic(base_url=model.url, api_key="k", max_retries=0, timeout=TIMEOUT_S)) as claude,
    ):
        alice, bob = await space.join("alice"), await space.join("bob")
        first = await alice.send("bob", "The parser is done.")
        history: list[Any] = [{"role": "user", "content": "Go on."}]
        tools = [SEARCH, BROADCAST]
        assert (await ask_claude(claude, bob, history, model="claude-opus-4-8", tools=tools)).form is InjectionForm.CALL
        assert "The parser is done." in (await model.request(1)).text
        second = await alice.send("bob", "The tests are green.")
        history.append({"role": "user", "content": "And now?"})
        await ask_claude(claude, bob, history, model="claude-opus-4-8", tools=tools)
        text = (await model.request(2)).text
        assert (text.count("The parser is done."), text.count("The tests are green.")) == (1, 1)
        assert await handled(space, first, second)


async def test_with_a_claude_that_thinks_mail_comes_between_its_tools() -> None:
    script = [
        say(Thought("What does it say?"), ToolCall("search")),
        say(Thought("Now I know."), "Done."),
        "And that too.",
    ]
    async with (
        covey.open("memory:") as space,
        ScriptedModel(script) as model,
        settling(anthropic.AsyncAnthropic(base_url=model.url, api_key="k", max_retries=0, timeout=TIMEOUT_S)) as claude,
    ):
        alice, bob = await space.join("alice"), await space.join("bob")
        request: Any = {"model": THINKER, "tools": [SEARCH, BROADCAST], "thinking": {"type": "adaptive"}}
        history: list[Any] = [{"role": "user", "content": "Go on."}]
        await alice.send("bob", "one")
        assert (await ask_claude(claude, bob, history, **request)).form is InjectionForm.TEXT
        use = next(block for block in history[-1]["content"] if block.type == "tool_use")
        result = {"type": "tool_result", "tool_use_id": use.id, "content": "nothing"}
        history.append({"role": "user", "content": [result]})
        await alice.send("bob", "two")
        await ask_claude(claude, bob, history, **request)
        assert (await model.request(2)).refusal is None
        # Such a model refuses a loop that drops its injections.
        history.append({"role": "user", "content": "Thanks."})
        forgetful: list[Any] = [{"role": "user", "content": "Go on."}, *history[1:]]
        with pytest.raises(anthropic.BadRequestError, match="bound to a different conversation"):
            await claude.messages.create(max_tokens=2048, messages=forgetful, **request)
        await claude.messages.create(max_tokens=2048, messages=history, **request)


@pytest.mark.parametrize("tools", [[SEARCH], [SEARCH, BROADCAST]])
async def test_with_chat_completions_mail_comes_after_the_results_of_tools(tools: list[Any]) -> None:
    async with (
        covey.open("memory:") as space,
        ScriptedModel([ToolCall("search"), "Done."]) as model,
        settling(openai.AsyncOpenAI(base_url=model.openai_url, api_key="k", max_retries=0, timeout=TIMEOUT_S)) as gpt,
    ):
        alice, bob = await space.join("alice"), await space.join("bob")
        history: list[Any] = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Go on."}]
        described: Any = [as_chat(tool) for tool in tools]
        sent: list[covey.Receipt] = []
        for number in (1, 2):
            sent.append(await alice.send("bob", f"news {number}"))
            async with bob.turn() as turn:
                injected = turn.inject(history, provider="openai", tools=described)
                response = await gpt.chat.completions.create(model="gpt-x", messages=injected.messages, tools=described)
                turn.responded(response.id)
            answer = response.choices[0].message
            results = [{"role": "tool", "tool_call_id": c.id, "content": "nothing"} for c in answer.tool_calls or []]
            history = [*injected.messages, answer, *results]
            assert injected.form is (InjectionForm.CALL if len(tools) == 2 else InjectionForm.TEXT)
        assert [f"news {n}" in (await model.request(2)).text for n in (1, 2)] == [True, True]
        assert await handled(space, *sent)


@pytest.mark.parametrize("tools", [[SEARCH], [SEARCH, BROADCAST]])
async def test_with_responses_mail_comes_between_thoughts_and_tools(tools: list[Any]) -> None:
    async with (
        covey.open("memory:") as space,
        ScriptedModel([say(Thought("Let me look."), ToolCall("search")), "Done."]) as model,
        settling(openai.AsyncOpenAI(base_url=model.openai_url, api_key="k", max_retries=0, timeout=TIMEOUT_S)) as gpt,
    ):
        alice, bob = await space.join("alice"), await space.join("bob")
        history: list[Any] = [{"role": "user", "content": "Go on."}]
        described: Any = [as_item(tool) for tool in tools]
        forms: list[InjectionForm] = []
        sent: list[covey.Receipt] = []
        for number in (1, 2):
            sent.append(await alice.send("bob", f"news {number}"))
            async with bob.turn() as turn:
                injected = turn.inject(history, provider="openai-responses", tools=described)
                response = await gpt.responses.create(
                    model="gpt-x", input=injected.messages, tools=described, include=["reasoning.encrypted_content"]
                )
                turn.responded(response.id)
            calls = [item for item in response.output if item.type == "function_call"]
            outputs = [{"type": "function_call_output", "call_id": c.call_id, "output": "nothing"} for c in calls]
            history = [*injected.messages, *response.output, *outputs]
            forms.append(injected.form)
        # At the second injection, the model is in the middle of a thought.
        assert forms == [InjectionForm.CALL if len(tools) == 2 else InjectionForm.TEXT, InjectionForm.TEXT]
        assert [f"news {n}" in (await model.request(2)).text for n in (1, 2)] == [True, True]
        assert await handled(space, *sent)


async def test_mail_is_requeued_if_the_provider_refuses_the_request() -> None:
    async with (
        covey.open("memory:") as space,
        ScriptedModel(["never"]) as model,
        settling(openai.AsyncOpenAI(base_url=model.openai_url, api_key="k", max_retries=0, timeout=TIMEOUT_S)) as gpt,
    ):
        alice, bob = await space.join("alice"), await space.join("bob")
        receipt = await alice.send("bob", "news")

        async def turn_that_fails() -> None:
            async with bob.turn() as turn:
                wrong: Any = turn.inject([{"role": "nobody", "content": ""}], provider="openai").messages
                turn.responded((await gpt.chat.completions.create(model="gpt-x", messages=wrong)).id)

        with pytest.raises(openai.BadRequestError):
            await turn_that_fails()
        (delivery,) = (await space.receipt(receipt.message_id)).deliveries
        assert (delivery.state, delivery.reason) == (DeliveryState.QUEUED, "the turn failed: BadRequestError")
