"""Identities: secrets of sessions and tokens, and the grade that each gives."""

from collections.abc import Sequence

from covey.core.errors import IdentityRefused, SessionEnded
from covey.core.event import Action
from covey.core.identity import Grade, Identity
from covey.core.ids import SessionId
from covey.core.names import OPERATOR, RESERVED, AgentName
from covey.core.token import Token
from covey.ports.clock import Clock, Ids
from covey.ports.store import Store, Transaction
from covey.services.act import Act, journal
from covey.services.directory import hash_secret


class Identities:
    def __init__(self, store: Store, clock: Clock, ids: Ids) -> None:
        self._store = store
        self._clock = clock
        self._ids = ids

    def claim(self, name: AgentName) -> Identity:
        """Return an identity that nobody checked. The operator and the space can't be claimed."""
        if name in RESERVED:
            raise IdentityRefused(f"{name} can't be claimed: only a token makes an operator")
        return Identity(name, None, Grade.CLAIMED)

    async def by_secret(self, session_id: SessionId, secret: str) -> Identity:
        """Return the identity of a session to whoever knows its secret."""

        async def operation(tx: Transaction) -> Identity:
            session = await tx.sessions.get(session_id)
            if session is None or session.secret_hash != hash_secret(secret):
                raise IdentityRefused("there is no such session, or the secret is wrong")
            if session.has_ended:
                raise SessionEnded(session_id, session.end_reason or "left")
            return Identity(session.agent, session.id, Grade.SESSION)

        return await self._store.read(operation)

    async def by_token(self, token: str) -> Identity:
        """Return the identity that a token stands for."""

        async def operation(tx: Transaction) -> Identity:
            found = await tx.tokens.get(hash_secret(token))
            if found is None or found.revoked_at is not None:
                raise IdentityRefused("the token is unknown or revoked")
            return Identity(found.agent, None, Grade.TOKEN)

        return await self._store.read(operation)

    async def create_token(self, name: AgentName, actor: Identity, note: str = "") -> str:
        """Return a new token for an agent, or for the operator; it is shown once and stored as a hash."""
        if name in RESERVED and name != OPERATOR:
            raise IdentityRefused(f"no token can stand for {name}")
        if actor.grade is Grade.TOKEN and not actor.is_operator:
            raise IdentityRefused("an agent's token makes no tokens")
        secret = self._ids.secret()

        async def operation(tx: Transaction) -> None:
            act = Act(tx, actor, self._clock.now())
            await tx.tokens.put(Token(hash_secret(secret), name, act.now, None, note))
            await journal(act, Action.TOKEN_CREATED, agent=name, token=hash_secret(secret)[:12], note=note)

        await self._store.commit(operation)
        return secret

    async def revoke_token(self, token_hash_prefix: str, actor: Identity) -> int:
        """Revoke every token whose hash begins so; return how many were not revoked before."""

        async def operation(tx: Transaction) -> int:
            act = Act(tx, actor, self._clock.now())
            found = [t for t in await tx.tokens.all() if t.hash.startswith(token_hash_prefix) and not t.revoked_at]
            for token in found:
                await tx.tokens.put(token._replace(revoked_at=act.now))
                await journal(act, Action.TOKEN_REVOKED, agent=token.agent, token=token.hash[:12])
            return len(found)

        return await self._store.commit(operation)

    async def tokens(self) -> Sequence[Token]:
        """Return every token, oldest first."""

        async def operation(tx: Transaction) -> Sequence[Token]:
            return await tx.tokens.all()

        return await self._store.read(operation)
