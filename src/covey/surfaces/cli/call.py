"""A verb, and one call of it: its arguments, its space and the acting agent."""

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, TypeVar

import covey.ports as ports
from covey.core.coroutine import finish
from covey.core.errors import IdentityRefused, Invalid
from covey.core.identity import Identity
from covey.core.late import late
from covey.core.names import AgentName, parse_agent_name, parse_session_id
from covey.core.store_url import StoreUrl
from covey.engines import connect_inline, engine_of, is_there, locate
from covey.services.space import Services
from covey.surfaces.cli.terminal.output import Output

T = TypeVar("T")


class Call:
    """The argument of every verb. `services` opens the space in this thread, without an event loop, when first used."""

    def __init__(self, options: Namespace, output: Output, parser_of: Callable[[str], ArgumentParser]) -> None:
        self.options = options
        self.output = output
        self.parser_of = parser_of
        """Loads a verb and returns its parser, for verbs that explain others."""
        self.is_first = False
        """True if there was no space when the verb began, so that the verb creates one."""
        self.is_from_home = False
        """True if the space of the home folder is used because the folder is in no space."""
        self._url: StoreUrl | None = None
        self._ports: ports.Ports | None = None
        self._services: Services | None = None
        self._holder: Identity | None = None

    @property
    def url(self) -> StoreUrl:
        return self._url or locate(self.options.store)

    def open(self, url: StoreUrl) -> None:
        """Use this space instead of the one that the options and the environment name."""
        self._url = url

    @property
    def ports(self):
        if self._ports is None:
            self._ports = connect_inline(self.url, ["."], self.report)
        return self._ports

    def tell_of_new_space(self, *, comes_now: bool = False) -> None:
        """Tell a person, once, that the space is new: already created, or about to be."""
        if self.is_first and (comes_now or is_there(self.url)):
            self.is_first = False
            why = " in your home folder, because this folder is in none (`covey init` makes one here)"
            self.output.note(f"covey: made a new space{why if self.is_from_home else ''}: {self.url}")

    def report(self, what: str, done: int, total: int | None) -> None:
        """Show a person the progress of a long preparation, such as opening the space."""
        if done == total:
            self._progress.end()
        else:
            self._progress.at(what, done, total)

    @late
    def _progress(self):
        from covey.surfaces.cli.terminal.progress import ProgressBar  # imported late because long preparations are rare

        return ProgressBar(self.output, "")

    @property
    def services(self) -> Services:
        """The services, with the rights of the caller."""
        if self._services is None:
            self._services = self.narrow(Services(self.ports))
        return self._services

    @property
    def holder(self) -> Identity | None:
        """The identity of the token in COVEY_TOKEN, or of an agent's key to the store.

        A token is never an option: other users of the machine can read the command line.
        """
        token = os.environ.get("COVEY_TOKEN")
        if self._holder is None and token is not None:
            if not is_there(self.url):  # a missing space has no tokens, and a check must not create one
                raise IdentityRefused(f"there is no space at {self.url}, and so no token of it")
            self._holder = self.run(Services(self.ports).identities.by_token(token))
        elif self._holder is None and engine_of(self.url).capabilities.has_accounts:
            self._holder = Services(self.ports).vouched
        return self._holder

    def narrow(self, services: Services) -> Services:
        """Return the services with the rights of the token's holder, or all of them if there is no token."""
        holder = self.holder
        return services if holder is None else services.narrowed_to(holder)

    @property
    def is_identified(self) -> bool:
        """True if an option or a variable names the acting agent."""
        variables = (os.environ.get(name) for name in ("COVEY_AGENT", "COVEY_SESSION"))
        return "COVEY_TOKEN" in os.environ or any((self.options.actor, *variables))

    def run(self, work: Awaitable[T]) -> T:
        """Return the result of `work`. The inline store never suspends, so no event loop is needed."""
        return finish(work)

    def actor(self, claimed: str | None = None) -> Identity:
        """Return the acting identity: a token's holder, a session, or a given name.

        The token is in COVEY_TOKEN. COVEY_SESSION proves the session. A given name is only claimed.
        """
        if (holder := self.holder) is not None:
            from covey.surfaces.cli.credentials import acting  # imported late because most calls show no token

            return acting(self.services, holder, claimed, self.options.actor)
        proof = os.environ.get("COVEY_SESSION")
        name = claimed or self.options.actor or os.environ.get("COVEY_AGENT")
        if proof:
            session_id, _, secret = proof.partition(":")
            identity = self.run(self.services.identities.by_secret(parse_session_id(session_id), secret))
            if name is None or name == identity.agent:
                self.run(self.services.directory.touch(identity))
                return identity
        if name is None:
            raise Invalid("agent", None, "name the acting agent: --as NAME, or COVEY_AGENT")
        agent = parse_agent_name(name)  # checked before the space is opened, which may create it
        return self.services.identities.claim(agent)

    def agent(self, given: str | None) -> AgentName:
        """Return the agent that a verb is about: the given agent, or the acting one."""
        name = given or self.options.actor or os.environ.get("COVEY_AGENT")
        if name is None and self.holder is not None:
            return self.holder.agent
        if name is None and os.environ.get("COVEY_SESSION"):
            return self.actor().agent
        if name is None:
            raise Invalid("agent", None, "name an agent, or set COVEY_AGENT")
        return parse_agent_name(name)

    def agent_or_all(self, given: str | None, *, wants_all: bool) -> AgentName | None:
        """Return the agent that a verb is about, or None for all agents: because all are wanted, or none is named."""
        if wants_all and given is not None:
            raise Invalid("--all-agents", given, "give either a name or --all-agents")
        if wants_all or not (given or self.is_identified or self.holder is not None):
            return None
        return self.agent(given)

    def command(self, words: Sequence[str]) -> Sequence[str]:
        """Return a command line for the same space, for a person to run next."""
        return ["covey", *words, *(("--store", self.options.store) if self.options.store else ())]

    def on_behalf(self, actor: Identity) -> AgentName | None:
        """Return the agent whose mail the operator means, or None if the actor is not the operator."""
        return self.agent(None) if actor.is_operator else None

    def close(self) -> None:
        self.tell_of_new_space()
        if self._ports is not None:
            self.run(self._ports.close())


class Verb(NamedTuple):
    """A verb of the command line. Its module binds it to a constant, which the catalogue names."""

    arguments: Callable[[ArgumentParser], None]
    """Declares the arguments of the verb."""
    run: Callable[[Call], int]
    """Runs the verb and returns the exit code."""
    description: str = ""
    """The text of the help above the arguments. Without one, the help shows the summary of the catalogue."""
    examples: str | None = None
    """The text of the help below the arguments."""
