"""An agent that is driven by a model: a loop over a provider's real client, which acts when mail arrives."""

from typing import Any, cast

from covey.surfaces.python.member import Member
from covey.surfaces.python.space import Space
from covey.toolkits.toolbox import Toolbox

MANY_TURNS = 30
LONGEST_WAIT = 60.0


async def agent(space: Space, name: str, kit: str, url: str) -> None:
    """Join, report it, and let the model at `url` handle all mail until the process ends."""
    from anthropic import AsyncAnthropic  # imported here because no other role needs it, and the import takes a second

    member = await space.join(name)
    print('"joined"', flush=True)
    tools = member.tools(kit)
    messages: list[Any] = [{"role": "user", "content": f"You are {name}. Deal with what comes."}]
    async with AsyncAnthropic(base_url=url, api_key="any", max_retries=0) as client:
        for _ in range(MANY_TURNS):
            await member.pending(timeout=LONGEST_WAIT, **tools.showing)
            messages = await _until_it_rests(client, member, tools, messages)


async def _until_it_rests(client: Any, member: Member, tools: Toolbox, messages: list[Any]) -> list[Any]:
    """Continue until the model calls no more tools. Return the conversation so far."""
    schemas = cast(Any, tools.schemas("anthropic"))
    for _ in range(MANY_TURNS):
        async with member.turn(**tools.showing) as turn:
            request = turn.inject(messages, provider="anthropic", tools=schemas)
            answer = await client.messages.create(
                model="claude-any",
                max_tokens=1000,
                system=tools.instructions,
                tools=schemas,
                messages=request.messages,
            )
            turn.responded(answer.id)
        messages = [*request.messages, {"role": "assistant", "content": answer.content}]
        uses = [block for block in answer.content if block.type == "tool_use"]
        if not uses:
            return messages
        results = [(use.id, await tools.call(use.name, use.input)) for use in uses]
        messages.append({"role": "user", "content": [_result(use, done) for use, done in results]})
    raise AssertionError("the model did not come to rest")


def _result(use: str, done: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": use, "content": done.text, "is_error": done.is_error}
