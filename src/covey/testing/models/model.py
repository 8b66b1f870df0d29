"""The scripted model: a real HTTP server that plays a script to clients of Anthropic and OpenAI."""

import asyncio
from concurrent.futures import Future
from types import TracebackType
from typing import Self

from covey.testing.models.desk import Desk
from covey.testing.models.request import ModelRequest
from covey.testing.models.script import Script
from covey.testing.models.server import ModelServer

KEY = "scripted-key"
"""The key in `ScriptedModel.environment` where none was asked for."""


class ScriptedModel:
    """Plays a script on loopback while it is open, with `async with` or plain `with`.

    It answers what the providers document to be valid and refuses what they document to be wrong. When it closes it
    raises what the script's own code has raised, so that an assertion in a script fails the test.
    """

    def __init__(self, script: Script, *, key: str | None = None, refuses_invalid: bool = True) -> None:
        """With `key` every other key is refused. Without `refuses_invalid` wrong requests are answered too."""
        self._desk = Desk(script, key, refuses_invalid=refuses_invalid)
        self._key = key
        self._server: ModelServer | None = None

    @property
    def url(self) -> str:
        """The base URL for clients of Anthropic."""
        if self._server is None:
            raise RuntimeError("the scripted model is not open: use it in a `with` block")
        return f"http://127.0.0.1:{self._server.port}"

    @property
    def openai_url(self) -> str:
        """The base URL for clients of OpenAI."""
        return f"{self.url}/v1"

    @property
    def environment(self) -> dict[str, str]:
        """The variables that lead a program's clients here."""
        key = self._key or KEY
        return {
            "ANTHROPIC_BASE_URL": self.url,
            "ANTHROPIC_API_KEY": key,
            "OPENAI_BASE_URL": self.openai_url,
            "OPENAI_API_KEY": key,
        }

    @property
    def requests(self) -> tuple[ModelRequest, ...]:
        """The requests that came so far, those that were refused too."""
        return self._desk.log.all()

    @property
    def elsewhere(self) -> tuple[str, ...]:
        """What was asked for on other paths, such as `GET /v1/models`, and not found."""
        return tuple(self._desk.elsewhere)

    async def request(self, number: int, limit: float = 5.0) -> ModelRequest:
        """Wait for the request of that number, from 1; raise `TimeoutError` after `limit` seconds."""
        try:
            return await asyncio.wait_for(asyncio.wrap_future(self._desk.log.nth(number)), limit)
        except TimeoutError:
            raise self._missed(number, limit) from None

    def wait_for_request(self, number: int, limit: float = 5.0) -> ModelRequest:
        """Do the same where there is no event loop."""
        awaited: Future[ModelRequest] = self._desk.log.nth(number)
        try:
            return awaited.result(limit)
        except TimeoutError:
            raise self._missed(number, limit) from None

    def _missed(self, number: int, limit: float) -> TimeoutError:
        came = len(self.requests)
        return TimeoutError(f"request {number} did not come within {limit} s; {came} came")

    def __enter__(self) -> Self:
        self._server = ModelServer(self._desk)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        self._server = None
        if error is None and self._desk.player.error is not None:
            raise self._desk.player.error

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Its threads may still be busy with the script.
        await asyncio.to_thread(self.__exit__, kind, error, trace)
