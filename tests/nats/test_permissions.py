"""`covey nats permissions`: a server with this configuration refuses a forged sender, and lets an honest agent work."""

import asyncio
import json
import signal
import stat
import sys
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from nats.aio.client import Client
from nats.js.errors import APIError

import covey
from covey.adapters.nats.client.connection import account_of, connect
from covey.adapters.nats.client.requests import StreamMessage, last_of, publish, subscribed
from covey.adapters.nats.client.settings import nats_settings, public_key
from covey.adapters.nats.client.steady import SteadyClient
from covey.adapters.nats.log.streams import ensure, is_genuine, lease_config, log_config, position_headers
from covey.core.errors import CoveyError
from covey.core.formats.nats_names import SpaceName, log_stream, log_subject, told_subjects
from covey.core.identity import Grade
from covey.surfaces.cli.exits import DONE, INTERRUPTED, REFUSED, UNAVAILABLE, USAGE
from covey.surfaces.cli.main import main
from tests.nats.kept import until_kept
from tests.nats.servers import NatsServer, one_node
from tests.surfaces.commands import Folder, Said

TEAM = SpaceName("team")


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("keys") / "k"
    assert main(["nats", "permissions", "coder", "critic", "--space", "team", "--out", str(folder)]) == DONE
    return folder


@pytest.fixture(scope="module")
def guarded(keys: Path, tmp_path_factory: pytest.TempPathFactory) -> Generator[NatsServer]:
    include = (keys / "permissions.conf").read_text()
    with one_node(tmp_path_factory.mktemp("guarded"), include=include) as server:
        yield server


class Wire:
    """A program with an agent's key that sends arbitrary requests."""

    def __init__(self) -> None:
        self.client = SteadyClient()
        self.errors: asyncio.Queue[str] = asyncio.Queue()

    async def note(self, error: Exception) -> None:
        self.errors.put_nowait(str(error))

    async def refusal(self) -> str:
        """Return the server's refusal of the last request."""
        await self.client.flush()
        return await asyncio.wait_for(self.errors.get(), 5)


@asynccontextmanager
async def wire(server: NatsServer, keys: Path, who: str) -> AsyncGenerator[Wire]:
    key = str(keys / f"{who}.nk")
    wire = Wire()
    prefix = f"_INBOX.{public_key('nkey', key)}"
    await wire.client.connect(server.url, nkeys_seed=key, inbox_prefix=prefix, error_cb=wire.note)
    try:
        yield wire
    finally:
        await wire.client.close()


async def make_log(server: NatsServer, keys: Path) -> None:
    settings = nats_settings(f"{server.address}/team", {"nkey": str(keys / "operator.nk")}, {})
    client = await connect(settings)
    await ensure(client, log_config(TEAM), settings)
    await client.close()


async def count(server: NatsServer) -> dict[str, int]:
    """Return the number of messages in the log and its last sequence number, as the server reports them."""
    _, said = server.ask("/jsz?streams=true&accounts=true&config=true")
    for account in said["account_details"]:
        for stream in account.get("stream_detail") or ():
            if stream["name"] == log_stream(TEAM):
                return {"messages": stream["state"]["messages"], "last": stream["state"]["last_seq"]}
    return {"messages": 0, "last": 0}


def test_keys_are_for_their_owner_alone(keys: Path) -> None:
    for file in keys.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(keys.stat().st_mode) == 0o700
    seeds = [(keys / f"{who}.nk").read_text().strip() for who in ("operator", "coder", "critic")]
    assert len(set(seeds)) == 3
    configuration = (keys / "permissions.conf").read_text()
    assert not any(seed in configuration for seed in seeds)


async def test_the_server_names_the_agent_of_a_key(guarded: NatsServer, keys: Path) -> None:
    for who, principal in (("coder", "coder"), ("critic", "critic"), ("operator", "_")):
        settings = nats_settings(f"{guarded.address}/team", {"nkey": str(keys / f"{who}.nk")}, {})
        client = await connect(settings)
        assert (await account_of(client, settings)).principal == principal
        await client.close()


async def test_an_agent_publishes_in_its_own_name(guarded: NatsServer, keys: Path) -> None:
    await make_log(guarded, keys)
    before = await count(guarded)
    async with wire(guarded, keys, "coder") as coder, wire(guarded, keys, "critic") as critic:
        heard = await subscribed(critic.client, told_subjects(TEAM))
        await critic.client.flush()
        assert await publish(coder.client, log_subject(TEAM, "coder"), b"mine", None, 5) == before["last"] + 1
        message = await heard.next_msg(5)
        assert (message.data, (message.headers or {})["Nats-Subject"]) == (b"mine", log_subject(TEAM, "coder"))
        assert coder.errors.empty()
        assert critic.errors.empty()


async def test_the_server_refuses_a_forged_sender(guarded: NatsServer, keys: Path) -> None:
    await make_log(guarded, keys)
    before = await count(guarded)
    async with wire(guarded, keys, "coder") as coder:
        for name in ("critic", "_", "operator", "covey"):
            await coder.client.publish(log_subject(TEAM, name), b"forged")
            assert "permissions violation" in (await coder.refusal()).lower()
    assert await count(guarded) == before


@pytest.mark.parametrize(
    ("subject", "body"),
    [
        ("$JS.API.STREAM.PURGE.covey_team", {}),
        ("$JS.API.STREAM.DELETE.covey_team", {}),
        ("$JS.API.STREAM.UPDATE.covey_team", {"name": "covey_team", "subjects": ["x"]}),
        ("$JS.API.STREAM.MSG.DELETE.covey_team", {"seq": 1}),
        ("$JS.API.STREAM.CREATE.mine", {"name": "mine", "subjects": ["covey.team.log.critic"]}),
        ("$JS.API.CONSUMER.CREATE.KV_covey_team", {"config": {"deliver_subject": "covey.team.told.critic"}}),
        ("$JS.API.CONSUMER.DURABLE.CREATE.covey_team.x", {"config": {"durable_name": "x"}}),
        ("covey.team.told.critic", {}),
        ("$KV.covey_team.critic.0123456789abcdef.x", {}),
        ("$O.covey-snapshots_team.M.c25hcHNob3Q=", {}),
    ],
)
async def test_an_agent_has_no_permission_for_shared_streams(
    guarded: NatsServer, keys: Path, subject: str, body: Mapping[str, Any]
) -> None:
    async with wire(guarded, keys, "coder") as coder:
        await coder.client.publish(subject, json.dumps(body).encode(), reply=coder.client.new_inbox())
        assert "permissions violation" in (await coder.refusal()).lower()


@pytest.mark.parametrize("subject", ["_INBOX.>", "covey.team.log.*", ">", "$JS.>"])
async def test_an_agent_cannot_subscribe_to_messages_for_others(guarded: NatsServer, keys: Path, subject: str) -> None:
    async with wire(guarded, keys, "coder") as coder:
        await subscribed(coder.client, subject)
        assert "permissions violation" in (await coder.refusal()).lower()


async def copied(coder: Wire, headers: Mapping[str, str] | None) -> StreamMessage | None:
    """Let the server copy the coder's last record onto the critic's subject. Return the last record on that subject."""
    await publish(coder.client, log_subject(TEAM, "coder"), b"forged", headers, 5)
    ask = json.dumps({"last_by_subj": log_subject(TEAM, "coder")}).encode()
    await coder.client.publish(f"$JS.API.DIRECT.GET.{log_stream(TEAM)}", ask, reply=log_subject(TEAM, "critic"))
    await coder.client.flush()
    await publish(coder.client, log_subject(TEAM, "coder"), b"after", None, 5)
    return await last_of(coder.client, log_stream(TEAM), log_subject(TEAM, "critic"), 5)


async def test_a_record_that_the_server_copied_onto_another_subject_is_not_genuine(
    guarded: NatsServer, keys: Path
) -> None:
    await make_log(guarded, keys)
    async with wire(guarded, keys, "coder") as coder:
        there = await copied(coder, None)
        assert there is not None, "the server no longer does this: the marks could go"
        assert not is_genuine(there.headers, log_stream(TEAM), there.seq)
        last = (await count(guarded))["last"]
        again = await copied(coder, position_headers(log_stream(TEAM), last))
        assert again == there, "with its marks a record is not stored a second time"


async def test_marks_of_another_stream_are_refused(guarded: NatsServer, keys: Path) -> None:
    await make_log(guarded, keys)
    async with wire(guarded, keys, "coder") as coder, wire(guarded, keys, "operator") as operator:
        settings = nats_settings(f"{guarded.address}/team", {}, {})
        await ensure(operator.client, lease_config(TEAM), settings)
        for last in (0, 1):
            with pytest.raises(APIError, match="expected stream"):
                await publish(coder.client, "$KV.covey_team.coder.x", b"", position_headers(log_stream(TEAM), last), 5)
        last = (await count(guarded))["last"]
        seq = await publish(
            coder.client, log_subject(TEAM, "coder"), b"mine", position_headers(log_stream(TEAM), last), 5
        )
        mine = await last_of(coder.client, log_stream(TEAM), log_subject(TEAM, "coder"), 5)
        assert mine is not None
        assert is_genuine(mine.headers, log_stream(TEAM), seq)


def test_an_honest_agent_works_and_a_stranger_is_refused(guarded: NatsServer, keys: Path, tmp_path: Path) -> None:
    store = f"nats://{guarded.address}/team"
    folder = Folder(tmp_path)

    def covey(who: str, *words: str) -> Said:
        place = {"XDG_CACHE_HOME": str(tmp_path / who), "COVEY_NATS_LIMIT": "5"}
        return folder.covey("--store", store, *words, COVEY_NATS_NKEY=str(keys / f"{who}.nk"), **place)

    made = covey("operator", "agents")
    assert made.code == DONE, made.err
    sent = covey("coder", "send", "a first draft", "--from", "coder", "--to", "critic", "--register", "--json")
    assert sent.code == DONE, sent.err
    inbox = covey("critic", "inbox", "critic", "--json")
    assert inbox.code == DONE, inbox.err
    assert "a first draft" in inbox.out
    assert '"grade": "token"' in inbox.out, "the server has proved who sent it"
    forged = covey("coder", "send", "as if", "--from", "critic", "--to", "coder")
    assert (forged.code, "beyond" in forged.err or "act as critic" in forged.err) == (REFUSED, True), forged.err
    assert covey("coder", "inbox", "critic").code == REFUSED
    stranger = folder.covey("--store", store, "agents", XDG_CACHE_HOME=str(tmp_path / "s"))
    assert (stranger.code, "refuses" in stranger.err) == (UNAVAILABLE, True)


def test_agents_are_added_later_and_existing_keys_are_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["nats", "permissions", "--space", "team", "--out", str(tmp_path / "k"), "--json"]
    assert main([*words, "coder"]) == DONE
    first = json.loads(capsys.readouterr().out)
    assert main([*words, "critic", "--bridge"]) == DONE
    second = json.loads(capsys.readouterr().out)
    keys = {user["name"]: user["public_key"] for user in second["users"]}
    assert [*keys] == ["operator", "critic", "coder", "peers"]
    for user in first["users"]:
        assert keys[user["name"]] == user["public_key"]
    assert "agent.inbox.*" in second["configuration"]
    assert "agent.inbox.*" not in first["configuration"]


def test_without_a_folder_the_keys_are_shown_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nats", "permissions", "coder", "--space", "team"]) == DONE
    captured = capsys.readouterr()
    (seed,) = [line.partition(": ")[2] for line in captured.err.splitlines() if line.startswith("coder: ")]
    assert seed.startswith("SU")
    assert seed not in captured.out
    assert "covey.team.log.coder" in captured.out


@pytest.mark.parametrize(
    "words",
    [
        ["operator", "--space", "team"],
        ["_", "--space", "team"],
        ["covey", "--space", "team"],
        ["coder"],
        ["coder", "--space", "a.b"],
        ["no name", "--space", "team"],
    ],
)
def test_invalid_arguments_are_a_usage_error(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COVEY_STORE", raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert main(["nats", "permissions", *words]) == USAGE


def test_the_space_may_be_taken_from_the_store(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--store", "nats://host:4222/crew", "nats", "permissions", "coder", "--json"]) == DONE
    assert json.loads(capsys.readouterr().out)["space"] == "crew"


@pytest.mark.parametrize(
    "words", [["permissions"], ["bridge", "coder"], ["bridge"], ["permissions", "coder", "--once"]]
)
def test_incompatible_arguments_are_a_usage_error(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COVEY_STORE", f"sqlite:{tmp_path}/covey.db")
    assert main(["nats", *words]) == USAGE


async def test_with_permissions_the_operator_runs_the_bridge_and_agents_do_not(tmp_path: Path) -> None:
    keys, folder = tmp_path / "k", Folder(tmp_path)
    words = ["nats", "permissions", "coder", "--space", "team", "--out", str(keys), "--bridge"]
    assert folder.covey(*words).code == DONE
    with one_node(tmp_path / "server", include=(keys / "permissions.conf").read_text()) as server:

        def covey(who: str, *words: str) -> Said:
            environ = {"COVEY_NATS_NKEY": str(keys / f"{who}.nk"), "XDG_CACHE_HOME": str(tmp_path / who)}
            return folder.covey("--store", f"nats://{server.address}/team", *words, **environ)

        assert covey("operator", "init").code == DONE
        assert covey("operator", "nats", "bridge", "--once").code == DONE
        joined = covey("coder", "join", "coder", "--json")
        assert joined.code == DONE, joined.err
        goal = joined.json["session"]
        async with wire(server, keys, "peers") as peers:
            await peers.client.publish(f"agent.inbox.{goal}", json.dumps({**PAYLOAD}).encode())
            await peers.client.flush()
            assert peers.errors.empty()
        refused = covey("coder", "nats", "bridge", "--once")
        assert (refused.code, "receive messages of foreign programs" in refused.err) == (REFUSED, True), refused.err
        carried = covey("operator", "nats", "bridge", "--once", "--json")
        assert carried.code == DONE, carried.err
        inbox = covey("coder", "inbox", "coder")
        assert "from outside" in inbox.out
        assert covey("operator", "receipt", carried.json["id"]).code == DONE


PAYLOAD = {
    "from_agent_id": "alien",
    "from_goal_id": "b91c2d3a-0000-4000-8000-000000000001",
    "to_agent_id": "coder",
    "body": "from outside",
    "sent_at": "2026-04-30T14:00:00Z",
}


async def test_a_member_with_an_agents_key_has_the_grade_token(
    guarded: NatsServer, keys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"nats://{guarded.address}/team?cache={tmp_path}"
    monkeypatch.setenv("COVEY_NATS_NKEY", str(keys / "operator.nk"))
    async with covey.open(f"{url}/operator") as space:  # the owner creates the tables
        await space.agents()
    monkeypatch.setenv("COVEY_NATS_NKEY", str(keys / "coder.nk"))
    async with covey.open(f"{url}/coder") as space:
        me = await space.join("coder")
        assert me.identity.grade is Grade.TOKEN
        with pytest.raises(CoveyError):
            await space.join("critic")


async def test_the_bridge_runs_until_it_is_interrupted(tmp_path: Path) -> None:
    with one_node(tmp_path / "server") as server:
        store = f"nats://{server.address}/team?cache={tmp_path / 'cache'}"
        joined = Folder(tmp_path).covey("--store", store, "join", "coder", "--json").json["session"]
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "covey"),
            *("--store", store, "nats", "bridge", "--json"),
            stdout=asyncio.subprocess.PIPE,
        )
        assert process.stdout is not None
        client = Client()
        await client.connect(server.url)
        await asyncio.wait_for(until_kept(client, joined, json.dumps(PAYLOAD).encode()), 20)
        line = await asyncio.wait_for(process.stdout.readline(), 20)
        process.send_signal(signal.SIGINT)
        await asyncio.wait_for(process.communicate(), 20)
        await client.close()
    assert set(json.loads(line)) == {"id"}
    assert process.returncode == INTERRUPTED
