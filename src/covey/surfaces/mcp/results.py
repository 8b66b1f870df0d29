"""Answers of tools as results of MCP: a text that reads well, and the same as data where that does not hide it."""

from typing import Any, Final

import mcp_types as types

from covey.toolkits.tool import Answer

TEXT_ONLY: Final = frozenset({"claude-code", "codex-mcp-client"})
"""Clients that show their model the data instead of the text where there are both. They get the text."""


def result_of(answer: Answer, mail: str, client: str | None) -> types.CallToolResult:
    """Return what a client gets. The data holds the text too, for clients unknown here that show only the data."""
    texts = [text for text in (answer.text, mail) if text]
    data: dict[str, Any] = {"text": "\n\n".join(texts), **answer.data}
    return types.CallToolResult(
        content=[types.TextContent(text=text) for text in texts],
        structured_content=None if client in TEXT_ONLY else data,
        is_error=answer.is_error,
    )
