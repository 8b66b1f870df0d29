"""Moves of channels: posts are carried or refused, conversations are bound, and people write in them."""

from datetime import timedelta

from hypothesis import strategies as st
from hypothesis.stateful import initialize

from covey.core.channels.channel import console
from covey.core.channels.post import PostRefusal, PostState
from covey.core.identity import parse_address
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Callback, Kind, TextPart
from covey.core.names import AgentName
from covey.services.channels.channels import PersonMessage
from covey.services.mail.recipients import SendPolicy
from tests.properties.draws import CHANNEL, names, often, seldom, which
from tests.properties.moves import move
from tests.properties.twins import THE_OPERATOR, Twins

CONVERSATIONS = st.sampled_from(("", "c-1", "c-1", "c-2"))


class ChannelMoves(Twins):
    @initialize()
    def open_a_channel(self) -> None:
        self.both(lambda services: services.channels.add(console(CHANNEL), THE_OPERATOR))

    @move(2, who=which, conversation=CONVERSATIONS, expires=seldom)
    def write_to_people(self, who: int, conversation: str, expires: bool) -> None:
        draft = Draft(
            Kind.NOTIFY,
            (parse_address(CHANNEL),),
            (TextPart(f"text {len(self.messages)}"),),
            callback=Callback(CHANNEL, conversation) if conversation else None,
            expires_at=self.clock.now() + timedelta(seconds=30) if expires else None,
        )
        self.both(lambda services: services.mail.send(draft, self.actor(who), SendPolicy()))

    @move(3, limit=st.integers(1, 3), arrives=often, is_final=seldom, forgets=seldom, process=st.integers(0, 2))
    def carry(self, limit: int, arrives: bool, is_final: bool, forgets: bool, process: int) -> None:
        """Carry due posts. A carrier that never reports the outcome looks dead or slow."""
        refusal = PostRefusal("closed today", is_final)
        batch = self.both(lambda services: services.posts.take(CHANNEL, limit), process)
        assert batch is not None
        for carried in batch.taken:
            if arrives:
                self.both(lambda services, post=carried.post: services.posts.delivered(post.id), process)
            elif not forgets:
                self.both(lambda services, post=carried.post: services.posts.refused(post, refusal), process)

    @move(1, post=which, who=which)
    def retry(self, post: int, who: int) -> None:
        assert self.before is not None
        failed = [post for post in self.before.posts.values() if post.state is PostState.FAILED]
        chosen = self.pick(failed, post)
        self.both(lambda services: services.posts.retry(chosen.id, self.actor(who)))

    @move(1, conversation=CONVERSATIONS, to=names, unbinds=seldom, who=which)
    def bind(self, conversation: str, to: AgentName, unbinds: bool, who: int) -> None:
        if unbinds:
            self.both(lambda services: services.channels.unbind(CHANNEL, conversation, self.actor(who)))
        else:
            address = parse_address(to)
            self.both(lambda services: services.channels.bind(CHANNEL, conversation, address, self.actor(who)))

    @move(1, conversation=CONVERSATIONS, answers=seldom, post=which)
    def say(self, conversation: str, answers: bool, post: int) -> None:
        """Let a person say something, or answer a post."""
        assert self.before is not None
        said = PersonMessage(CHANNEL, conversation or "c-1", f"words {len(self.messages)}")
        if answers:
            chosen = self.pick(list(self.before.posts.values()), post)
            said = said._replace(conversation=chosen.conversation, reply_to=chosen.message_id)
        self.both(lambda services: services.channels.hear(said))

    @move(1, state=st.sampled_from(PostState))
    def look_at_channels(self, state: PostState) -> None:
        self.both(lambda services: services.channels.all())
        self.both(lambda services: services.posts.find(CHANNEL, state, 3))
