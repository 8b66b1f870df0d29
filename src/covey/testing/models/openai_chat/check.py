"""The rules of OpenAI's Chat Completions API for a request."""

from typing import Final

from covey.core.json import JsonObject
from covey.testing.models.cursor import Cursor
from covey.testing.models.openai_chat.messages import check_messages
from covey.testing.models.openai_functions import check_choice_needs_tools, check_function, refuse_empty
from covey.testing.models.openai_voice import OpenAIVoice, spelled
from covey.testing.models.refusal import Refusal

_FIELDS: Final = {
    "audio",
    "frequency_penalty",
    "function_call",
    "functions",
    "logit_bias",
    "logprobs",
    "max_completion_tokens",
    "max_tokens",
    "messages",
    "metadata",
    "modalities",
    "model",
    "moderation",
    "n",
    "parallel_tool_calls",
    "prediction",
    "presence_penalty",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "reasoning_effort",
    "response_format",
    "safety_identifier",
    "seed",
    "service_tier",
    "stop",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "user",
    "verbosity",
    "web_search_options",
}


def check_request(body: JsonObject) -> None:
    """Refuse a request that the provider would not take."""
    at = Cursor(body, OpenAIVoice())
    at.only(_FIELDS)
    if not (model := at.get("model")) or not model.text():
        raise Refusal("you must provide a model parameter")
    stream = at.get("stream")
    is_streaming = stream is not None and stream.boolean()
    if at.get("stream_options") and not is_streaming:
        at.need("stream_options").refuse("The 'stream_options' parameter is only allowed when 'stream' is enabled.")
    _check_tools(at)
    check_messages(at.need("messages"))


def _check_tools(at: Cursor) -> None:
    tools = at.get("tools")
    names: set[str] = set()
    if tools is not None:
        refuse_empty(tools)
        for tool in tools.items():
            if tool.need("type").one_of("function", "custom") == "function":
                function = tool.need("function")
                names.add(check_function(function, spelled((*function.path, "parameters"))))
            else:
                names.add(tool.need("custom").need("name").text())
    check_choice_needs_tools(at, frozenset(names))
    _check_choice(at.get("tool_choice"), names)


def _check_choice(choice: Cursor | None, names: set[str]) -> None:
    if choice is None:
        return
    if isinstance(choice.value, str):
        choice.one_of("none", "auto", "required")
        return
    kind = choice.need("type").one_of("function", "custom", "allowed_tools")
    if kind != "allowed_tools" and (name := choice.need(kind).need("name").text()) not in names:
        choice.refuse(f"Tool choice '{name}' not found in 'tools' parameter.")
