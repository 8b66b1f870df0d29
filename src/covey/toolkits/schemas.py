"""Tool schemas: JSON Schema inside the envelope of each provider."""

from collections.abc import Callable, Mapping
from typing import Final, cast

from covey.core.errors import Invalid
from covey.core.json import Json, to_json
from covey.core.reporting import closest
from covey.toolkits.tool import Parameter, ParameterType, Tool, Toolkit

_FORMS: Final[Mapping[ParameterType, Mapping[str, Json]]] = {
    ParameterType.TEXT: {"type": "string"},
    ParameterType.WHOLE: {"type": "integer"},
    ParameterType.NUMBER: {"type": "number"},
    ParameterType.FLAG: {"type": "boolean"},
    ParameterType.TEXTS: {"type": "array", "items": {"type": "string"}},
    ParameterType.OBJECT: {"type": "object"},
    ParameterType.OBJECTS: {"type": "array", "items": {"type": "object"}},
    ParameterType.MESSAGE: {"type": "string"},
    ParameterType.MESSAGES: {"type": "array", "items": {"type": "string"}},
}


def json_schema(tool: Tool) -> Mapping[str, Json]:
    """Return the schema of a tool's parameters."""
    return {
        "type": "object",
        "properties": {parameter.name: _property(parameter) for parameter in tool.parameters},
        "required": [parameter.name for parameter in tool.parameters if parameter.is_required],
        "additionalProperties": False,
    }


def anthropic(tool: Tool) -> Mapping[str, Json]:
    return {"name": tool.name, "description": tool.description, "input_schema": json_schema(tool)}


def openai_chat(tool: Tool) -> Mapping[str, Json]:
    return {
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": json_schema(tool)},
    }


def openai_responses(tool: Tool) -> Mapping[str, Json]:
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": json_schema(tool),
        "strict": False,
    }


def mcp(tool: Tool) -> Mapping[str, Json]:
    hints = {"readOnlyHint": tool.is_read_only, "destructiveHint": False, "openWorldHint": False}
    described = {"name": tool.name, "description": tool.description, "inputSchema": json_schema(tool)}
    return {**described, "annotations": hints}


DEFAULT_FORMAT: Final = "anthropic"

FORMATS: Final[Mapping[str, Callable[[Tool], Mapping[str, Json]]]] = {
    "anthropic": anthropic,
    "mcp": mcp,
    "openai": openai_chat,
    "openai-responses": openai_responses,
}


def schemas(toolkit: Toolkit, form: str = DEFAULT_FORMAT) -> list[Mapping[str, Json]]:
    """Return all tools in a format, as they go into a request."""
    describe = FORMATS.get(form) if isinstance(cast(object, form), str) else None
    if describe is None:
        near = closest(str(form), FORMATS)
        raise Invalid("format", form, f"use {' or '.join(near or FORMATS)}")
    return [describe(tool) for tool in toolkit.tools]


def size(toolkit: Toolkit, form: str = DEFAULT_FORMAT) -> int:
    """Return the number of bytes of all tools in a request."""
    return len(to_json(schemas(toolkit, form)).encode())


def _property(parameter: Parameter) -> Mapping[str, Json]:
    schema = {**(parameter.schema or _FORMS[parameter.form]), "description": parameter.description}
    return {**schema, "enum": list(parameter.choices)} if parameter.choices else schema
