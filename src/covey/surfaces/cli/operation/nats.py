"""The verb `nats`: permissions of a NATS server, and the bridge to plain programs."""

import os
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from covey.composition import nats_space, new_nats_key, public_nats_key
from covey.core.errors import Invalid, Unavailable
from covey.core.formats.nats_names import SpaceName, parse_space_name
from covey.core.formats.nats_permissions import PEERS, NatsUser, check_nats_agent, server_configuration
from covey.core.json import Json
from covey.core.names import OPERATOR, MessageId, parse_agent_name
from covey.services.space import Services
from covey.surfaces.cli.call import Call, Verb
from covey.surfaces.cli.exits import DONE

PERMISSIONS, BRIDGE = ACTIONS = ("permissions", "bridge")
CONFIGURATION = "permissions.conf"
SUFFIX = ".nk"


class _Key(NamedTuple):
    user: NatsUser
    seed: str | None = None
    """None if the seed is in a file."""
    file: Path | None = None
    is_new: bool = True


def _nats_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("action", choices=ACTIONS, help="what to do")
    parser.add_argument("agents", nargs="*", metavar="AGENT", help="permissions: who gets a key of its own")
    parser.add_argument(
        "--space", metavar="NAME", help="permissions: the space; else the one of --store or COVEY_STORE"
    )
    parser.add_argument("--out", metavar="FOLDER", help="permissions: write the keys and the configuration there")
    parser.add_argument(
        "--bridge", action="store_true", help="permissions: let programs in that know only agent.inbox.<uuid>"
    )
    parser.add_argument("--once", action="store_true", help="bridge: take in what is there, and end")


def _run_nats(call: Call) -> int:
    options = call.options
    if options.action == BRIDGE:
        return _bridge(call)
    if not options.agents:
        raise Invalid("agent", None, "name those who get a key")
    if options.once:
        raise Invalid("--once", "", "it goes with bridge")
    folder = None if options.out is None else Path(options.out)
    agents = [check_nats_agent(parse_agent_name(name)) for name in dict.fromkeys((*options.agents, *_known(folder)))]
    names = (OPERATOR, *agents, *((PEERS,) if options.bridge else ()))
    space = _space(call)
    keys = [_key(name, folder) for name in names]
    configuration = server_configuration(space, [key.user for key in keys], bridge=options.bridge)
    if folder is not None:
        _write(folder / CONFIGURATION, configuration + "\n", replace=True)
    if call.output.as_json:
        call.output.json(_document(space, keys, configuration))
        return DONE
    call.output.text(configuration)
    _tell(call, keys, folder)
    return DONE


NATS: Final = Verb(
    arguments=_nats_arguments,
    run=_run_nats,
    description="""\
permissions: write the configuration of a NATS server on which each agent has a key of its own and can write in its own
name alone: the server itself refuses a forged sender. The operator's key is always there: it makes the space on first
use. With --out the keys are files of that folder that only you can read. Keys that are there are kept and stay in the
configuration, so that agents can be added later; to remove one, delete its file.

bridge: take in what programs say that know only the subjects agent.inbox.<uuid>, until you interrupt it. Programs with
sessions in the space do the same by themselves, unless permissions bind them to one agent.""",
    examples="""\
examples:
  covey nats permissions coder critic --space team --out keys
  echo 'include ./keys/permissions.conf' >> nats-server.conf
  COVEY_NATS_NKEY=keys/operator.nk covey --store nats://host/team agents
  COVEY_NATS_NKEY=keys/coder.nk covey --store nats://host/team inbox coder
  COVEY_NATS_NKEY=keys/operator.nk covey --store nats://host/team nats bridge""",
)


def _bridge(call: Call) -> int:
    options = call.options
    if options.agents or options.space or options.out or options.bridge:
        raise Invalid("argument", " ".join(options.agents) or "an option", "it goes with permissions")
    from covey.surfaces.cli.live import run_live

    run_live(call, lambda services: _carry(services, call))
    return DONE


async def _carry(services: Services, call: Call) -> None:
    bridge = services.bridge
    if bridge is None:
        raise Invalid("store", str(call.url), "only a space on NATS has such a wire: nats://HOST:PORT/SPACE")
    await bridge.check()
    if call.options.once:
        _show(call, await bridge.carry())
    else:
        call.output.note("Listening on agent.inbox.>; Ctrl-C ends it.")
        await bridge.run(lambda accepted: _show(call, accepted))


def _show(call: Call, accepted: Sequence[MessageId]) -> None:
    for message_id in accepted:
        if call.output.as_json:
            call.output.json({"id": message_id})
        else:
            call.output.text(f"took in message {message_id}")
    call.output.flush()


def _space(call: Call) -> SpaceName:
    if call.options.space is not None:
        return parse_space_name(call.options.space)
    name = nats_space(call.url)
    if name is None:
        raise Invalid("space", None, "name it: --space NAME, or --store nats://HOST:PORT/NAME")
    return parse_space_name(name)


def _known(folder: Path | None) -> Sequence[str]:
    """Return the agents that have a key in the folder."""
    files = [] if folder is None else sorted(folder.glob(f"*{SUFFIX}"))
    return [file.stem for file in files if file.stem not in (OPERATOR, PEERS)]


def _key(name: str, folder: Path | None) -> _Key:
    if folder is None:
        public, seed = new_nats_key()
        return _Key(NatsUser(name, public), seed)
    file = folder / f"{name}{SUFFIX}"
    if file.exists():
        return _Key(NatsUser(name, public_nats_key(str(file))), file=file, is_new=False)
    public, seed = new_nats_key()
    _write(file, f"{seed}\n", replace=False)
    return _Key(NatsUser(name, public), file=file)


def _write(file: Path, text: str, *, replace: bool) -> None:
    """Write a file that only its owner can read."""
    flags = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if replace else os.O_EXCL)
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(file, flags, 0o600), "w") as stream:
            stream.write(text)
    except OSError as error:
        raise Unavailable(f"{file} can't be written: {error.strerror}", path=str(file)) from error


def _tell(call: Call, keys: Sequence[_Key], folder: Path | None) -> None:
    for key in keys:
        if key.seed is not None:
            call.output.note(f"{key.user.name}: {key.seed}")
        else:
            call.output.note(f"{key.user.name}: {key.file}{'' if key.is_new else ' (was there)'}")
    if folder is None:
        call.output.note("These keys are shown only now. With --out FOLDER they are written to files.")
    else:
        call.output.note(f"The configuration is in {folder / CONFIGURATION} too.")
        call.output.note("Give each its own key: COVEY_NATS_NKEY=FILE. The operator opens the space")
        call.output.note("first, because only that key can make it.")


def _document(space: SpaceName, keys: Sequence[_Key], configuration: str) -> Json:
    users: list[Json] = []
    for key in keys:
        user: dict[str, Json] = {"name": key.user.name, "public_key": key.user.public, "new": key.is_new}
        users.append({**user, "seed": key.seed} if key.file is None else {**user, "file": str(key.file)})
    return {"space": space, "users": users, "configuration": configuration}
