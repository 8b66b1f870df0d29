"""The verb `token`."""

from argparse import ArgumentParser, Namespace
from datetime import datetime
from typing import Final

from covey.core.errors import Invalid
from covey.core.identity import Token, hash_secret, parse_note, parse_token_id, token_id
from covey.core.json import Json
from covey.core.names import OPERATOR, AgentName, parse_agent_name
from covey.core.times import format_instant
from covey.surfaces.cli.call import Call, Verb
from covey.surfaces.cli.exits import DONE
from covey.surfaces.cli.options.names import actor_or_user
from covey.surfaces.cli.times import age

CREATE, LIST, REVOKE = ACTIONS = ("create", "list", "revoke")


def _token_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("action", choices=ACTIONS, help="what to do")
    parser.add_argument("what", nargs="?", metavar="AGENT|ID", help="create: whom it is for; revoke: the token's id")
    parser.add_argument("--operator", action="store_true", help="create: for the operator, who may do everything")
    parser.add_argument("--note", metavar="TEXT", help="create: what it is for")
    parser.add_argument("--register", action="store_true", help="create: make an unknown agent known")


def _run_token(call: Call) -> int:
    options = call.options
    if options.action == CREATE:
        return _create(call)
    for flag in ("operator", "note", "register"):
        if getattr(options, flag) not in (False, None):
            raise Invalid(f"--{flag}", getattr(options, flag), "it goes with create")
    return _list(call) if options.action == LIST else _revoke(call)


TOKEN: Final = Verb(
    arguments=_token_arguments,
    run=_run_token,
    description="""\
Make, list and revoke tokens. A token proves who acts: it is bound to one agent, or to the operator. Whoever has an
agent's token acts as that agent alone and reads its mail alone; the operator's may do everything. A token is written
once, when it is made, and only its hash is kept. Commands take it from COVEY_TOKEN, never from an option, because
others can see those.""",
    examples="""\
examples:
  (umask 077; covey token create coder --note "build machine" > coder.token)
  COVEY_TOKEN=$(cat coder.token) covey inbox
  (umask 077; covey token create --operator > operator.token)
  covey token list
  covey token revoke 3b1f07c2a9de""",
)


def _create(call: Call) -> int:
    options = call.options
    agent = _agent(options)
    note = "" if options.note is None else parse_note(options.note)
    identities = call.services.identities
    secret = call.run(identities.create_token(agent, actor_or_user(call), note, register=options.register))
    made = token_id(hash_secret(secret))
    if call.output.as_json:
        call.output.json({"id": made, "agent": agent, "note": note, "token": secret})
        return DONE
    call.output.text(secret)
    call.output.note(f"Token {made} of {agent}, shown only now: the space keeps its hash.")
    call.output.note("Keep it in a file that only you can read; commands take it from COVEY_TOKEN.")
    return DONE


def _agent(options: Namespace) -> AgentName:
    """Return the owner of a new token. The operator must be named by its option, never by its name."""
    if options.operator and options.what is not None:
        raise Invalid("agent", options.what, "a token is for an agent or for the operator")
    if options.operator:
        return OPERATOR
    if options.what is None:
        raise Invalid("agent", None, "name one, or say --operator")
    if options.what == OPERATOR:
        raise Invalid("agent", options.what, "say --operator: it may do everything")
    return parse_agent_name(options.what)


def _list(call: Call) -> int:
    if call.options.what is not None:
        raise Invalid("argument", call.options.what, "all tokens are listed")
    tokens = call.run(call.services.identities.tokens())
    if call.output.as_json:
        call.output.json([token_document(token) for token in tokens])
        return DONE
    now = call.services.clock.now()
    call.output.table(
        ("id", "of", "made", "used", "state", "note"),
        [
            (
                token.id,
                token.agent,
                _ago(token.created_at, now),
                _ago(token.used_at, now),
                "works" if token.revoked_at is None else f"revoked {_ago(token.revoked_at, now)}",
                token.note,
            )
            for token in tokens
        ],
        "There are no tokens. `covey token create AGENT` makes one.",
    )
    return DONE


def _ago(at: datetime | None, now: datetime) -> str:
    return "never" if at is None else f"{age(at, now)} ago"


def _revoke(call: Call) -> int:
    if call.options.what is None:
        raise Invalid("token id", None, "`covey token list` shows the ids")
    wanted = parse_token_id(call.options.what)
    token, is_new = call.run(call.services.identities.revoke_token(wanted, actor_or_user(call)))
    if call.output.as_json:
        call.output.json({**token_document(token), "changed": is_new})
    elif is_new:
        call.output.text(f"Token {token.id} of {token.agent} works no longer.")
    else:
        ago = _ago(token.revoked_at, call.services.clock.now())
        call.output.text(f"Token {token.id} of {token.agent} was revoked {ago}: nothing was changed.")
    return DONE


def token_document(token: Token) -> dict[str, Json]:
    """Return a token as a JSON document, without its secret."""
    return {
        "id": token.id,
        "agent": token.agent,
        "operator": token.is_operators,
        "note": token.note,
        "created_at": format_instant(token.created_at),
        "used_at": format_instant(token.used_at) if token.used_at else None,
        "revoked_at": format_instant(token.revoked_at) if token.revoked_at else None,
    }
