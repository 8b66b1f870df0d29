"""Hypothesis strategies for requests to models. Each drawn list is valid for its provider."""

from typing import Any, NamedTuple

from hypothesis import strategies as st

from covey.core.attention.provider_messages import Provider
from covey.testing.models import Api, refusal_of, thinking_signature
from covey.testing.models.openai_responses.items import encrypted

WORDS = st.text("abc <>/#:é日\n", min_size=1, max_size=20).map(lambda text: f"w{text}w")
SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}


class Case(NamedTuple):
    """A request without its messages, and the messages."""

    provider: Provider
    body: dict[str, Any]
    messages: list[Any]
    tools: list[str]
    thinking: Any = None
    is_begun: bool = False
    """True if the list ends with the beginning of an answer."""

    def refusal(self, messages: list[Any]) -> str | None:
        """Return the reason why the provider refuses the request with these messages; None if it accepts."""
        api, key = _APIS[self.provider]
        refusal = refusal_of(api, {**self.body, key: messages})
        return None if refusal is None else refusal.message

    @property
    def wants_text(self) -> bool:
        """True if a call that the model did not make would be invalid."""
        thinks = self.thinking is not None and self.thinking.get("type") != "disabled"
        return "broadcast" not in self.tools or thinks or self.is_begun


_APIS = {
    Provider.ANTHROPIC: (Api.ANTHROPIC_MESSAGES, "messages"),
    Provider.OPENAI: (Api.OPENAI_CHAT, "messages"),
    Provider.OPENAI_RESPONSES: (Api.OPENAI_RESPONSES, "input"),
}

some_tools = st.sampled_from([["search"], ["search", "broadcast"], ["broadcast", "search"]])


# ------------------------------------------------------------------------------------------------- Anthropic


def _anthropic_text(draw: st.DrawFn, *, may_cache: bool = False) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "text", "text": draw(WORDS)}
    return block | {"cache_control": {"type": "ephemeral"}} if may_cache and draw(st.booleans()) else block


class _Anthropic:
    def __init__(self, draw: st.DrawFn, thinks: bool) -> None:
        self.draw = draw
        self.thinks = thinks
        self.messages: list[Any] = []
        self._calls = 0

    def user(self, *, may_cache: bool = False) -> None:
        draw = self.draw
        if draw(st.booleans()):
            self.messages.append({"role": "user", "content": draw(WORDS)})
        else:
            blocks = [_anthropic_text(draw, may_cache=may_cache and n == 0) for n in range(draw(st.integers(1, 2)))]
            self.messages.append({"role": "user", "content": blocks})

    def thoughts(self) -> list[dict[str, Any]]:
        thought = self.draw(WORDS)
        made = {"type": "thinking", "thinking": thought, "signature": thinking_signature(thought)}
        return [made] if self.thinks else []

    def calls(self) -> None:
        """Let the model call tools, and answer all of the calls."""
        draw = self.draw
        ids = [f"toolu_{self._calls + n}" for n in range(draw(st.integers(1, 3)))]
        self._calls += len(ids)
        uses: list[Any] = [{"type": "tool_use", "id": use_id, "name": "search", "input": {}} for use_id in ids]
        texts = [_anthropic_text(draw)] if draw(st.booleans()) else []
        self.messages.append({"role": "assistant", "content": [*self.thoughts(), *texts, *uses]})
        results = [{"type": "tool_result", "tool_use_id": use_id, "content": draw(WORDS)} for use_id in ids]
        after = [_anthropic_text(draw)] if draw(st.booleans()) else []
        self.messages.append({"role": "user", "content": [*results, *after]})

    def says(self) -> None:
        if self.thinks or self.draw(st.booleans()):
            self.messages.append({"role": "assistant", "content": [*self.thoughts(), _anthropic_text(self.draw)]})
        else:
            self.messages.append({"role": "assistant", "content": self.draw(WORDS)})


@st.composite
def anthropic_cases(draw: st.DrawFn) -> Case:
    """Draw a request to the Messages API."""
    thinking = draw(
        st.sampled_from([None, {"type": "disabled"}, {"type": "enabled", "budget_tokens": 1024}, {"type": "adaptive"}])
    )
    thinks = thinking is not None and thinking["type"] != "disabled"
    is_adaptive = thinking is not None and thinking["type"] == "adaptive"
    model = draw(st.sampled_from(["claude-opus-4-8", "claude-sonnet-5-5"])) if is_adaptive else "claude-sonnet-4-5"
    made = _Anthropic(draw, thinks)
    for turn in range(draw(st.integers(0, 3))):
        made.user(may_cache=turn < 2)
        for _ in range(draw(st.integers(0, 2))):
            made.calls()
        made.says()
    made.user(may_cache=True)
    end = draw(st.sampled_from(["user", "results", "prefill", "system"]))
    if end == "results":
        made.calls()
    if end == "prefill" and not thinks:
        made.messages.append({"role": "assistant", "content": draw(WORDS)})
    if end == "system" and is_adaptive:
        made.messages.append({"role": "system", "content": draw(WORDS)})
    tools = draw(some_tools)
    body: dict[str, Any] = {
        "model": model,
        "max_tokens": 2048,
        "tools": [{"name": name, "input_schema": SCHEMA} for name in tools],
    }
    body |= {} if thinking is None else {"thinking": thinking}
    is_begun = made.messages[-1]["role"] == "assistant"
    return Case(Provider.ANTHROPIC, body, made.messages, tools, thinking, is_begun)


# ------------------------------------------------------------------------------------------------ OpenAI chat


def _chat_user(draw: st.DrawFn) -> dict[str, Any]:
    if draw(st.booleans()):
        return {"role": "user", "content": draw(st.just("") | WORDS)}
    return {"role": "user", "content": [{"type": "text", "text": draw(WORDS)}], "name": "ann"}


def _chat_calls(draw: st.DrawFn, first: int) -> list[dict[str, Any]]:
    ids = [f"call_{first + n}" for n in range(draw(st.integers(1, 3)))]
    calls = [{"id": i, "type": "function", "function": {"name": "search", "arguments": "{}"}} for i in ids]
    said = draw(st.sampled_from([{}, {"content": None}, {"content": "one moment"}]))
    asked = {"role": "assistant", **said, "tool_calls": calls}
    return [asked, *({"role": "tool", "tool_call_id": i, "content": draw(WORDS)} for i in ids)]


@st.composite
def chat_cases(draw: st.DrawFn) -> Case:
    """Draw a request to the Chat Completions API."""
    messages: list[Any] = []
    if draw(st.booleans()):
        messages.append({"role": draw(st.sampled_from(["system", "developer"])), "content": draw(WORDS)})
    for _ in range(draw(st.integers(0, 3))):
        messages.append(_chat_user(draw))
        for _ in range(draw(st.integers(0, 2))):
            messages += _chat_calls(draw, len(messages) * 10)
        messages.append({"role": "assistant", "content": draw(WORDS)})
    end = draw(st.sampled_from(["user", "tools", "assistant", "system"]))
    if end != "assistant" or not messages:
        messages.append(_chat_user(draw))
    if end == "tools":
        messages += _chat_calls(draw, len(messages) * 10)
    if end == "system":
        messages.append({"role": "system", "content": draw(WORDS)})
    tools = draw(some_tools)
    described = [{"type": "function", "function": {"name": name, "parameters": SCHEMA}} for name in tools]
    is_begun = messages[-1]["role"] == "assistant"
    return Case(Provider.OPENAI, {"model": "gpt-x", "tools": described}, messages, tools, None, is_begun)


# ------------------------------------------------------------------------------------------- OpenAI responses


def _item_user(draw: st.DrawFn) -> dict[str, Any]:
    content = draw(WORDS) if draw(st.booleans()) else [{"type": "input_text", "text": draw(WORDS)}]
    return draw(st.sampled_from([{}, {"type": "message"}])) | {"role": "user", "content": content}


def _item_calls(draw: st.DrawFn, first: int, thinks: bool) -> list[dict[str, Any]]:
    ids = [f"call_{first + n}" for n in range(draw(st.integers(1, 3)))]
    thought: dict[str, Any] = {
        "type": "reasoning",
        "id": f"rs_{first}",
        "summary": [],
        "encrypted_content": encrypted(f"rs_{first}"),
    }
    calls = [{"type": "function_call", "call_id": i, "name": "search", "arguments": "{}"} for i in ids]
    outputs = [{"type": "function_call_output", "call_id": i, "output": draw(WORDS)} for i in ids]
    return [*([thought] if thinks else []), *calls, *outputs]


@st.composite
def responses_cases(draw: st.DrawFn) -> Case:
    """Draw a request to the Responses API."""
    thinking = draw(st.sampled_from([None, {"effort": "low"}]))
    items: list[Any] = []
    if draw(st.booleans()):
        items.append({"role": draw(st.sampled_from(["system", "developer"])), "content": draw(WORDS)})
    for _ in range(draw(st.integers(0, 3))):
        items.append(_item_user(draw))
        for _ in range(draw(st.integers(0, 2))):
            items += _item_calls(draw, len(items) * 10, thinking is not None)
        items.append(
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": draw(WORDS)}]}
        )
    end = draw(st.sampled_from(["user", "outputs", "assistant", "developer"]))
    if end != "assistant":
        items.append(_item_user(draw))
    if end == "outputs":
        items += _item_calls(draw, len(items) * 10, thinking is not None)
    if end == "developer":
        items.append({"role": "developer", "content": draw(WORDS)})
    tools = draw(some_tools)
    body: dict[str, Any] = {
        "model": "gpt-x",
        "tools": [{"type": "function", "name": name, "parameters": SCHEMA, "strict": False} for name in tools],
    }
    body |= {} if thinking is None else {"reasoning": thinking}
    is_begun = bool(items) and items[-1].get("role") == "assistant"
    return Case(Provider.OPENAI_RESPONSES, body, items, tools, thinking, is_begun)


cases = st.one_of(anthropic_cases(), chat_cases(), responses_cases())
