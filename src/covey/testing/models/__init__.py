"""A scripted model: a real HTTP server that speaks as Anthropic and OpenAI do, for tests of agents.

async with ScriptedModel(["Hello.", ToolCall("send_message", {"to": "critic"})]) as model:
    client = anthropic.AsyncAnthropic(base_url=model.url, api_key="any")
    ...
    assert "The parser is done." in (await model.request(2)).text
"""

from covey.testing.models.anthropic_messages.signature import thinking_signature
from covey.testing.models.gate import Gate
from covey.testing.models.model import ScriptedModel
from covey.testing.models.refusal import Refusal
from covey.testing.models.request import Api, Kind, ModelRequest, RequestEntry
from covey.testing.models.script import Cut, Fail, Hang, Line, Part, Script, Stop, Thought, ToolCall, Trouble, Turn, say
from covey.testing.models.verdict import refusal_of

__all__ = [
    "Api",
    "Cut",
    "Fail",
    "Gate",
    "Hang",
    "Kind",
    "Line",
    "ModelRequest",
    "Part",
    "Refusal",
    "RequestEntry",
    "Script",
    "ScriptedModel",
    "Stop",
    "Thought",
    "ToolCall",
    "Trouble",
    "Turn",
    "refusal_of",
    "say",
    "thinking_signature",
]
