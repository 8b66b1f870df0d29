"""Tool calls of the members of a scenario."""

from collections.abc import Mapping
from typing import Any

from covey.core.json import Json
from covey.surfaces.python.member import Member
from covey.toolkits.tool import ToolAnswer


async def use(member: Member, toolkit: str, tool: str, **arguments: Json) -> ToolAnswer:
    """Call a tool as a member's model does."""
    return await member.tools(toolkit).call(tool, arguments)


def fields(answer: ToolAnswer) -> Mapping[str, Any]:
    """Return the data of an answer as a mapping."""
    return answer.data


async def refusal(member: Member, toolkit: str, tool: str, **arguments: Json) -> str:
    """Return the text of an answer that must be a refusal."""
    answer = await use(member, toolkit, tool, **arguments)
    assert answer.is_error, answer
    return answer.text
