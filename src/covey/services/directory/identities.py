"""Identities: the secrets of sessions and tokens, and the grade that each gives."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final, NamedTuple

from covey.core.authority import check_as, check_free, check_whole, claim
from covey.core.errors import IdentityRefused, SessionEnded, TokenUnknown, Unavailable
from covey.core.identity import Grade, Identity, Token, TokenId, check_token, hash_secret, token_from, token_id
from covey.core.ledger.event import Action
from covey.core.names import OPERATOR, AgentName, SessionId
from covey.core.times import format_instant
from covey.ports.clock import Clock, Ids
from covey.ports.store import Store, Transaction
from covey.services.act import Act, journal
from covey.services.records import known_agent

USE_STEP: Final = timedelta(hours=1)
"""The interval within which repeated use of a token is not recorded again."""


class Revoked(NamedTuple):
    """A revoked token, and whether this call revoked it."""

    token: Token
    is_new: bool


class Identities:
    """Identities by name, secret or token. With a `holder`, only that agent's identities are given out, and no tokens
    are made, listed or revoked."""

    def __init__(self, store: Store, clock: Clock, ids: Ids, holder: Identity | None = None) -> None:
        self._store = store
        self._clock = clock
        self._ids = ids
        self._holder = holder

    def claim(self, name: AgentName) -> Identity:
        """Return an unverified identity."""
        if self._holder is not None:
            check_as(self._holder, name, "act as")
        return claim(name)

    async def by_secret(self, session_id: SessionId, secret: str) -> Identity:
        """Return the identity of a session to a caller that knows its secret."""

        async def operation(tx: Transaction) -> Identity:
            session = await tx.sessions.get(session_id)
            if session is None or session.secret_hash != hash_secret(secret):
                raise IdentityRefused("there is no such session, or the secret is wrong")
            if self._holder is not None:
                check_as(self._holder, session.agent, "act as")
            if session.has_ended:
                raise SessionEnded(session_id, session.end_reason or "left")
            return Identity(session.agent, session.id, Grade.SESSION)

        return await self._store.read(operation)

    async def by_token(self, secret: str) -> Identity:
        """Return the identity that a token stands for. The lookup is by hash, so that its duration reveals nothing.
        Raise IdentityRefused if the token is malformed, unknown or revoked."""
        token_hash = hash_secret(check_token(secret))

        async def operation(tx: Transaction) -> Token:
            token = await tx.tokens.get(token_hash)
            if token is None:
                raise IdentityRefused("this space has no such token")
            if token.revoked_at is not None:
                raise IdentityRefused(f"token {token.id} was revoked at {format_instant(token.revoked_at)[:19]} UTC")
            return token

        token = await self._store.read(operation)
        if not token.is_operators:
            check_free(token.agent)  # the space may be older than the rule
        await self._note_use(token)
        return Identity(token.agent, None, Grade.TOKEN)

    async def create_token(self, name: AgentName, actor: Identity, note: str = "", *, register: bool = False) -> str:
        """Return a new token for an agent, or for the operator. It is shown once and stored as a hash. For an unknown
        agent, raise RecipientUnknown, or with `register` register the agent."""
        self._check_keeper(actor, "make tokens")
        if name != OPERATOR:
            check_free(name)
        secret = token_from(self._ids.secret())
        token_hash = hash_secret(secret)

        async def operation(tx: Transaction) -> None:
            act = Act(tx, actor, self._clock.now())
            if name != OPERATOR:
                await _known(act, name, register)
            await tx.tokens.put(Token(token_hash, name, act.now, None, note))
            await journal(act, Action.TOKEN_CREATED, agent=name, token=token_id(token_hash), note=note)

        await self._store.commit(operation)
        return secret

    async def revoke_token(self, wanted: TokenId, actor: Identity) -> Revoked:
        """Revoke a token. Revoking it again changes nothing. Raise TokenUnknown if there is none."""
        self._check_keeper(actor, "revoke tokens")

        async def operation(tx: Transaction) -> Revoked:
            act = Act(tx, actor, self._clock.now())
            token = next((token for token in await tx.tokens.all() if token.id == wanted), None)
            if token is None:
                raise TokenUnknown(wanted)
            if token.revoked_at is not None:
                return Revoked(token, is_new=False)
            revoked = token._replace(revoked_at=act.now)
            await tx.tokens.put(revoked)
            await journal(act, Action.TOKEN_REVOKED, agent=token.agent, token=token.id)
            return Revoked(revoked, is_new=True)

        return await self._store.commit(operation)

    async def tokens(self) -> Sequence[Token]:
        """Return every token, revoked or not, oldest first."""
        if self._holder is not None:
            check_whole(self._holder, "list tokens")

        async def operation(tx: Transaction) -> Sequence[Token]:
            return await tx.tokens.all()

        return await self._store.read(operation)

    def _check_keeper(self, actor: Identity, action: str) -> None:
        for who in (actor, self._holder):
            if who is not None:
                check_whole(who, action)

    async def _note_use(self, token: Token) -> None:
        """Record the use of a token, to the hour: most uses then cost no write, and unused tokens can be found."""
        now = self._clock.now()
        if token.used_at is not None and now - token.used_at < USE_STEP:
            return

        async def operation(tx: Transaction) -> None:
            known = await tx.tokens.get(token.hash)  # the token may have been revoked since
            if known is not None:
                await tx.tokens.put(known._replace(used_at=now))

        try:
            await self._store.commit(operation)
        except Unavailable:
            return  # admission does not depend on whether the use can be recorded


async def _known(act: Act, name: AgentName, register: bool) -> None:
    if register and await act.tx.agents.get(name) is None:
        from covey.services.mail.recipients import introduce  # imported late because it loads all of sending

        await introduce(act, name)
    await known_agent(act.tx, name)
