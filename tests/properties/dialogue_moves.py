"""Moves of dialogues: debts, the archive, the gate and the sweep."""

from hypothesis import strategies as st

from covey.core.names import AgentName, Scope
from covey.ports.ledger import MessageFilter
from tests.properties.draws import names, scopes, seldom, which
from tests.properties.moves import move
from tests.properties.twins import THE_OPERATOR, Twins


class DialogueMoves(Twins):
    @move(2, who=which, message=which, stranger=seldom, by_operator=seldom)
    def archive(self, who: int, message: int, stranger: bool, by_operator: bool) -> None:
        recipient = self.actor(who) if stranger else self.recipient(message, who)
        actor = THE_OPERATOR if by_operator else recipient
        whose = recipient.agent if by_operator else None
        self.both(lambda services: services.dialogue.archive(self.message(message), actor, whose))

    @move(1, ticket=which, stranger=st.booleans(), who=which)
    def waive(self, ticket: int, stranger: bool, who: int) -> None:
        chosen = self.pick(self.tickets, ticket)
        actor = self.actor(who) if stranger else THE_OPERATOR
        self.both(lambda services: services.dialogue.waive(chosen, actor))

    @move(1, scope=scopes, who=which, force=seldom, sweep=st.booleans())
    def gate(self, scope: Scope, who: int, force: bool, sweep: bool) -> None:
        """Check the gate of a scope or sweep the scope, sometimes by force."""
        actor = self.actor(who)
        if sweep:
            self.both(lambda services: services.dialogue.sweep(scope, actor, "a test" if force else None))
        elif force:
            self.both(lambda services: services.dialogue.force(scope, actor, "a test"))
        else:
            self.both(lambda services: services.dialogue.gate(scope))

    @move(1, message=which, scope=scopes, agent=names)
    def look_at_dialogues(self, message: int, scope: Scope, agent: AgentName) -> None:
        self.both(lambda services: services.dialogue.thread(self.message(message)))
        self.both(lambda services: services.dialogue.find(MessageFilter(scope=scope), 5))
        self.both(lambda services: services.dialogue.owed_by(agent))
        self.both(lambda services: services.dialogue.owed_to(agent))
