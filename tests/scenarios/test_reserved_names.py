"""Reserved names: no agent has the name of the space, the operator or a role, in any case or lettering, on any entry
point."""

from collections.abc import Awaitable, Callable

import pytest

from covey.core.authority import claim
from covey.core.care.diagnoses import RESERVED_NAME
from covey.core.channels.channel import console
from covey.core.directory.card import Agent, Card
from covey.core.errors import IdentityRefused, Invalid, RecipientUnknown, Rejected
from covey.core.formats.layout import agent_of, alias_of
from covey.core.formats.nats_permissions import check_nats_agent
from covey.core.formats.peers import parse_foreign_name
from covey.core.identity import Identity, Token, hash_secret, parse_address, token_from
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Kind, TextPart
from covey.core.names import OPERATOR, RESERVED, ROLES, SPACE, AgentName, Label, is_reserved, parse_agent_name
from covey.ports.store import Transaction
from covey.services.care.doctor.mail import InboxesCheckup
from covey.services.directory.directory import JoinRequest
from covey.services.mail.recipients import SendPolicy, WhenUnknown
from tests.scenarios.stores import in_memory
from tests.scenarios.world import World

pytestmark = pytest.mark.requirement("identity.grades")

OWNER = Identity(AgentName("owner"))
WORN = [form for name in sorted(RESERVED) for form in (name, name.upper(), name.title(), f"_{name}", f"{name}-")]
"""Variants of reserved names as an agent could write them."""


@pytest.fixture
def world() -> World:
    return World(in_memory())


def test_the_list_has_the_space_the_operator_and_the_roles_of_providers() -> None:
    assert {"operator", "covey", *ROLES} == RESERVED
    assert {"system", "user", "assistant"} < ROLES


@pytest.mark.parametrize("name", [*WORN, "ｏｐｅｒａｔｏｒ", "ＣＯＶＥＹ", "ſystem", "Ⓤser", "𝐚ssistant"])
def test_a_name_is_compared_in_any_case_and_after_normalisation(name: str) -> None:
    assert is_reserved(name)


@pytest.mark.parametrize("name", ["operators", "covey2", "user-ann", "system-tests", "toolsmith", "coder", "modeler"])
def test_other_names_are_free(name: str) -> None:
    assert not is_reserved(name)
    assert claim(AgentName(name)).agent == name


Door = Callable[[World, str], Awaitable[object]]

DOORS: dict[str, Door] = {
    "join": lambda world, name: world.process().join(name),
    "join as a child or client": lambda world, name: world.services.directory.join(JoinRequest(AgentName(name))),
    "label": lambda world, name: world.services.directory.join(JoinRequest(AgentName("coder"), label=Label(name))),
    "register": lambda world, name: world.services.directory.register(AgentName(name), Card(), OWNER),
    "token": lambda world, name: world.services.identities.create_token(AgentName(name), OWNER, register=True),
    "channel": lambda world, name: world.services.channels.add(console(AgentName(name)), OWNER),
    "recipient": lambda world, name: send_to_newcomer(world, name),
}


async def send_to_newcomer(world: World, name: str) -> object:
    draft = Draft(Kind.NOTIFY, (parse_address(name),), (TextPart("hi"),))
    return await world.services.mail.send(draft, OWNER, SendPolicy(when_unknown=WhenUnknown.REGISTER))


@pytest.mark.requirement("trust.reserved")
@pytest.mark.parametrize("name", WORN)
@pytest.mark.parametrize("door", DOORS)
async def test_no_entry_point_accepts_a_reserved_name(world: World, door: str, name: str) -> None:
    if name == OPERATOR and door in ("token", "recipient"):
        return  # there is one operator: it has a token, and every agent can write to it
    with pytest.raises((IdentityRefused, RecipientUnknown)):
        await DOORS[door](world, name)
    assert [view.name for view in await world.services.directory.agents() if is_reserved(view.name)] == []


@pytest.mark.parametrize("name", WORN)
def test_no_claim_wire_or_folder_brings_in_a_reserved_name(name: str) -> None:
    with pytest.raises(IdentityRefused):
        claim(parse_agent_name(name))
    assert agent_of(name) == alias_of(name)
    with pytest.raises(Invalid):
        parse_foreign_name(name)
    with pytest.raises(Invalid):
        check_nats_agent(AgentName(name))


async def test_an_agent_of_an_older_space_with_a_reserved_name_stays_readable_but_cannot_act(world: World) -> None:
    (coder,) = await world.join("coder")
    old = AgentName("System")
    secret = token_from("0" * 64)

    async def as_before(tx: Transaction) -> None:
        await tx.agents.put(Agent(old, Card(), world.clock.now()))
        await tx.tokens.put(Token(hash_secret(secret), old, world.clock.now()))

    await world.observer.store.commit(as_before)
    await coder.send("System", "Are you there?")
    (item,) = await world.services.inbox.peek(old)
    assert item.message.text == "Are you there?"
    for door in (world.process().join(old), world.services.identities.by_token(secret)):
        with pytest.raises(Rejected, match="reserved"):
            await door
    checkup = InboxesCheckup(world.observer.store, world.clock, world.liveness)
    (finding,) = (await checkup.examine(thorough=False, tell=lambda _done, _of: None)).findings
    assert (finding.diagnosis, finding.items) == (RESERVED_NAME, ("System",))


async def test_the_operator_and_the_space_are_no_findings(world: World) -> None:
    (coder,) = await world.join("coder")
    await coder.send("operator", "May I?")
    names = {view.name for view in await world.services.directory.agents()}
    assert names - {SPACE} == {OPERATOR, "coder"}
    checkup = InboxesCheckup(world.observer.store, world.clock, world.liveness)
    assert (await checkup.examine(thorough=False, tell=lambda _done, _of: None)).findings == ()
