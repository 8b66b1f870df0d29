"""The toolbox: a toolkit in the hands of one caller, ready for an agent loop."""

from collections.abc import Mapping
from typing import Literal, TypedDict

from covey.core.capacity import Capacity
from covey.core.errors import Invalid
from covey.core.json import Json
from covey.toolkits.answers import refused
from covey.toolkits.call import call
from covey.toolkits.catalogue import tool_named
from covey.toolkits.functions import ToolFunction, as_function
from covey.toolkits.schemas import DEFAULT_FORMAT, schemas
from covey.toolkits.tool import Answer, Caller, Toolkit


class ShowingOptions(TypedDict):
    """The showing of mail to a model with certain tools: options of `me.turn` and `me.pending`."""

    presentation: Literal["once", "until_handled"]
    more: str
    rest: str
    answer: str
    decide: str
    task: str
    worker: str
    capacity: Capacity | None


class Toolbox:
    """The tools of one caller, as returned by `me.tools()`: their declarations for a model, and the execution of its
    calls."""

    def __init__(self, toolkit: Toolkit, caller: Caller) -> None:
        self.toolkit = toolkit
        self.caller = caller._replace(capacity=toolkit.capacity)

    @property
    def names(self) -> tuple[str, ...]:
        """The tools' names."""
        return tuple(tool.name for tool in self.toolkit.tools)

    @property
    def instructions(self) -> str:
        """A few lines for the system prompt of a model that gets the tools."""
        return self.toolkit.instructions

    @property
    def showing(self) -> ShowingOptions:
        """The options with which a turn shows mail to a model that has these tools: `me.turn(**tools.showing)`."""
        ways = self.toolkit.ways
        return {
            "presentation": self.toolkit.presentation.value,
            "more": ways.more,
            "rest": ways.rest,
            "answer": ways.answer,
            "decide": ways.decide,
            "task": ways.task,
            "worker": ways.worker,
            "capacity": self.toolkit.capacity,
        }

    def schemas(self, form: str = DEFAULT_FORMAT) -> list[Mapping[str, Json]]:
        """Return the tools as a request declares them: for `anthropic`, `openai` (chat), `openai-responses` or
        `mcp`."""
        return schemas(self.toolkit, form)

    async def call(self, name: object, arguments: object = None) -> Answer:
        """Execute a call of a model. Whatever it sends, there is an answer that it can act on; arguments may be an
        object or its JSON text."""
        try:
            tool = tool_named(self.toolkit, name)
        except Invalid as error:
            return refused(error)
        return await call(tool, self.caller, arguments)

    def functions(self) -> list[ToolFunction]:
        """Return the tools as typed async functions, for frameworks that take such."""
        return [as_function(tool, self.caller) for tool in self.toolkit.tools]

    def __repr__(self) -> str:
        return f"<Toolbox {self.toolkit.name} of {self.caller.identity.agent}: {', '.join(self.names)}>"
