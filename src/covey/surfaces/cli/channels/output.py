"""The output of running channels, for people and programs: `covey channels run`."""

from collections.abc import Sequence
from typing import TextIO

from covey.composition import carriers
from covey.core.channels.channel import ChannelConfig, ChannelKind
from covey.core.channels.post import OutgoingPost, Post, PostState
from covey.core.errors import Invalid
from covey.core.http import HttpAddress, parse_http_address
from covey.core.names import AgentName
from covey.ports.channels import Channel
from covey.runtime.channels.service import ChannelCallbacks, run_channels
from covey.services.channels.channels import PersonMessage
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.channels.views import conversation_of, post_document
from covey.surfaces.cli.exits import DONE, REFUSED
from covey.surfaces.cli.live import run_live


class ChannelScreen:
    """Reports posts and replies, and records if a post was not taken.

    Posts of a console are on stdout themselves. All other events go to stderr, or with --json to one line each.
    """

    def __init__(self, call: Call) -> None:
        self._output = call.output
        self.is_all_posted = True
        self.consoles: set[AgentName] = set()
        """Channels whose posts a person already sees on the console."""

    @property
    def listeners(self) -> ChannelCallbacks:
        return ChannelCallbacks(self._posted, self._heard, self._noted, self._ready)

    def _posted(self, outgoing: OutgoingPost, after: Post) -> None:
        self.is_all_posted &= after.state is PostState.DELIVERED
        if self._output.as_json:
            self._output.json(
                {"event": "posted" if after.state is PostState.DELIVERED else "refused", **post_document(after)}
            )
            self._output.flush()
            return
        where = f"{after.channel} {conversation_of(after.conversation)}"
        sender = outgoing.message.sender.agent
        if after.state is PostState.DELIVERED and after.channel in self.consoles:
            return
        if after.state is PostState.DELIVERED:
            self._output.note(f"posted to {where}, from {sender}")
        elif after.state is PostState.PENDING:
            self._output.note(f"not taken by {where}, from {sender}: {after.error}; try {after.attempts}, more to come")
        else:
            self._output.note(f"{after.state}: {where}, from {sender}: {after.error}")

    def _heard(self, said: PersonMessage) -> None:
        if self._output.as_json:
            self._output.json({"event": "heard", "channel": said.channel, "conversation": said.conversation})
            self._output.flush()
        else:
            self._output.note(
                f"heard from {said.person or 'someone'} on {said.channel} {conversation_of(said.conversation)}"
            )

    def _noted(self, line: str) -> None:
        self._output.note(f"covey: {line}; it is tried again")

    def _ready(self, names: Sequence[AgentName], address: HttpAddress | None) -> None:
        url = None if address is None else f"http://{address}/"
        if self._output.as_json:
            self._output.json({"event": "ready", "channels": [*names], "url": url})
            self._output.flush()
        else:
            heard = f", and hearing {url}CONVERSATION" if url else ""
            self._output.note(f"Carrying the posts of {', '.join(names)}{heard}; Ctrl-C ends it.")


def run_in_terminal(call: Call, names: Sequence[AgentName], stream: TextIO) -> int:
    """Carry posts as the options say. Return 1 if `--once` left a post that was not taken."""
    options = call.options
    if options.once and options.listen:
        raise Invalid("--listen", options.listen, "it goes on, and --once ends")
    address = parse_http_address(options.listen) if options.listen else None
    screen = ChannelScreen(call)
    carrier = carriers(stream)

    def carry(config: ChannelConfig) -> Channel:
        if config.kind is ChannelKind.CONSOLE:
            screen.consoles.add(config.name)
        return carrier(config)

    run_live(
        call,
        lambda services: run_channels(services, names, carry, screen.listeners, once=options.once, address=address),
    )
    return DONE if screen.is_all_posted else REFUSED
