"""A scripted model: a real HTTP server that speaks as Anthropic and OpenAI do, for tests of agents.

async with ScriptedModel(["Hello.", ToolCall("send_message", {"to": "critic"})]) as model:
    client = anthropic.AsyncAnthropic(base_url=model.url, api_key="any")
    ...
    assert "The parser is done." in (await model.request(2)).text
"""

from covey.testing.models.anthropic_messages.thinking import thinking_signature
from covey.testing.models.model import ScriptedModel
from covey.testing.models.provider import refusal_of
from covey.testing.models.request import Api, EntryKind, ModelRequest, ProviderRefusal, RequestEntry
from covey.testing.models.script import (
    Cut,
    Fail,
    Gate,
    Hang,
    Line,
    ModelTurn,
    Part,
    Script,
    Stop,
    Thought,
    ToolCall,
    Trouble,
    say,
)

__all__ = [
    "Api",
    "Cut",
    "EntryKind",
    "Fail",
    "Gate",
    "Hang",
    "Line",
    "ModelRequest",
    "ModelTurn",
    "Part",
    "ProviderRefusal",
    "RequestEntry",
    "Script",
    "ScriptedModel",
    "Stop",
    "Thought",
    "ToolCall",
    "Trouble",
    "refusal_of",
    "say",
    "thinking_signature",
]
