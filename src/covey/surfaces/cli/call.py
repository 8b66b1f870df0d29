"""One call of a verb: its arguments, the space it is about, and who acts."""

import os
from argparse import Namespace
from collections.abc import Awaitable
from typing import TypeVar

from covey.core.drive import finish
from covey.core.errors import Invalid
from covey.core.identity import Identity
from covey.core.ids import parse_session_id
from covey.core.names import AgentName, parse_agent_name
from covey.core.store_url import StoreUrl
from covey.services.space import Ports, Services, close, services
from covey.surfaces.cli.output import Output
from covey.wiring import connect_inline, locate

T = TypeVar("T")


class Call:
    """What a verb gets. `services` opens the space in this thread, without an event loop, when first used."""

    def __init__(self, options: Namespace, output: Output) -> None:
        self.options = options
        self.output = output
        self._url: StoreUrl | None = None
        self._ports: Ports | None = None
        self._services: Services | None = None

    @property
    def url(self) -> StoreUrl:
        return self._url or locate(self.options.store)

    def open(self, url: StoreUrl) -> None:
        """Act on this space instead of the one that would be found."""
        self._url = url

    @property
    def services(self) -> Services:
        if self._services is None:
            self._ports = connect_inline(self.url, ["."])
            self._services = services(self._ports)
        return self._services

    def run(self, work: Awaitable[T]) -> T:
        """Return what `work` comes to. On the inline store nothing ever suspends, so no event loop is needed."""
        return finish(work)

    def actor(self, claimed: str | None = None) -> Identity:
        """Return who acts: the session that COVEY_SESSION proves, or the name that was given, which is only claimed."""
        proof = os.environ.get("COVEY_SESSION")
        name = claimed or self.options.agent or os.environ.get("COVEY_AGENT")
        if proof:
            session_id, _, secret = proof.partition(":")
            identity = self.run(self.services.identities.by_secret(parse_session_id(session_id), secret))
            if name is None or name == identity.agent:
                return identity
        if name is None:
            raise Invalid("agent", None, "say who acts: --agent NAME, or COVEY_AGENT")
        return self.services.identities.claim(parse_agent_name(name))

    def agent(self, given: str | None) -> AgentName:
        """Return the agent that a verb is about: the one given, or the one who acts."""
        name = given or self.options.agent or os.environ.get("COVEY_AGENT")
        if name is None:
            raise Invalid("agent", None, "name an agent, or set COVEY_AGENT")
        return parse_agent_name(name)

    def close(self) -> None:
        if self._ports is not None:
            self.run(close(self._ports))
