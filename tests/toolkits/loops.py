"""Agent loops with the real clients of the providers: they declare tools and run calls until the model returns text."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

from anthropic import AsyncAnthropic
from openai import AsyncOpenAI

from covey.testing.models import ScriptedModel
from covey.toolkits.toolbox import Toolbox

TURNS = 20
"""The limit of turns of a loop."""

PROMPT = "Do what you are here for."

Loop = Callable[[ScriptedModel, Toolbox], Awaitable[str]]


async def anthropic_messages(model: ScriptedModel, tools: Toolbox) -> str:
    """Run a model with tools to its last text, as clients of Anthropic do."""
    messages: list[Any] = [{"role": "user", "content": PROMPT}]
    async with AsyncAnthropic(base_url=model.url, api_key="any", max_retries=0) as client:
        for _ in range(TURNS):
            answer = await client.messages.create(
                model="claude-any",
                max_tokens=1000,
                system=tools.instructions,
                tools=cast(Any, tools.schemas("anthropic")),
                messages=messages,
            )
            uses = [block for block in answer.content if block.type == "tool_use"]
            if not uses:
                return "".join(block.text for block in answer.content if block.type == "text")
            results: list[Any] = []
            for use in uses:
                done = await tools.call(use.name, use.input)
                result = {"type": "tool_result", "tool_use_id": use.id, "content": done.text, "is_error": done.is_error}
                results.append(result)
            messages += [{"role": "assistant", "content": answer.content}, {"role": "user", "content": results}]
    raise AssertionError("the model did not come to an end")


async def openai_chat(model: ScriptedModel, tools: Toolbox) -> str:
    """Like `anthropic_messages`, for OpenAI's chat completions, where arguments are texts."""
    messages: list[Any] = [{"role": "system", "content": tools.instructions}, {"role": "user", "content": PROMPT}]
    async with AsyncOpenAI(base_url=model.openai_url, api_key="any", max_retries=0) as client:
        for _ in range(TURNS):
            answer = await client.chat.completions.create(
                model="gpt-any", tools=cast(Any, tools.schemas("openai")), messages=messages
            )
            said = answer.choices[0].message
            messages.append(said.model_dump(exclude_none=True))
            if not said.tool_calls:
                return said.content or ""
            for use in said.tool_calls:
                assert use.type == "function"
                done = await tools.call(use.function.name, use.function.arguments)
                messages.append({"role": "tool", "tool_call_id": use.id, "content": done.text})
    raise AssertionError("the model did not come to an end")


async def openai_responses(model: ScriptedModel, tools: Toolbox) -> str:
    """Like `anthropic_messages`, for OpenAI's responses."""
    items: list[Any] = [{"role": "user", "content": PROMPT}]
    async with AsyncOpenAI(base_url=model.openai_url, api_key="any", max_retries=0) as client:
        for _ in range(TURNS):
            answer = await client.responses.create(
                model="gpt-any",
                instructions=tools.instructions,
                tools=cast(Any, tools.schemas("openai-responses")),
                input=items,
            )
            items += [item.model_dump(exclude_none=True) for item in answer.output]
            uses = [item for item in answer.output if item.type == "function_call"]
            if not uses:
                return answer.output_text
            for use in uses:
                done = await tools.call(use.name, use.arguments)
                items.append({"type": "function_call_output", "call_id": use.call_id, "output": done.text})
    raise AssertionError("the model did not come to an end")


LOOPS: Mapping[str, Loop] = {
    "anthropic": anthropic_messages,
    "openai": openai_chat,
    "openai-responses": openai_responses,
}
