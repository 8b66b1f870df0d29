"""`covey mcp` on stdin and stdout: a real process with the SDK's client, and with a client that checks every byte."""

import json
import signal
import sys

import pytest
from mcp import Client, StdioServerParameters

from covey.surfaces.cli.exits import DONE, INTERRUPTED, UNAVAILABLE, USAGE
from tests.surfaces.commands import Folder
from tests.surfaces.conftest import Covey
from tests.surfaces.mcp.desk import ERAS, Era, text_of
from tests.surfaces.mcp.speaking import HELLO, Speaker


def server_in(folder: Folder, *words: str, **environment: str) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "covey", "mcp", *words],
        env={**folder.environment, **environment},
        cwd=folder.path,
    )


def presences(folder: Folder) -> dict[str, str]:
    """Return the presence of each agent."""
    return {agent["agent"]: agent["presence"] for agent in folder.covey("agents", "--json").json}


@pytest.mark.parametrize("era", ERAS)
async def test_the_sdks_client_works(folder: Folder, era: Era) -> None:
    async with Client(server_in(folder, "--agent", "coder"), mode=era) as coder:
        await coder.list_tools()
        assert presences(folder) == {"coder": "idle"}
        assert folder.covey("send", "--from", "lead", "--to", "coder", "hello").code == DONE
        assert "  hello" in text_of(await coder.call_tool("list_agents", {}))
        assert "No new messages" in text_of(await coder.call_tool("read_inbox", {"wait": 0}))
    assert presences(folder)["coder"] == "offline", "it left when the client closed stdin"


async def test_the_instructions_name_the_agent_and_the_place_of_its_mail(folder: Folder) -> None:
    async with Client(server_in(folder, "--agent", "coder")) as coder:
        assert coder.protocol_version == "2026-07-28"
        told = coder.instructions or ""
    first, *_, last = told.splitlines()
    assert first == "You are the agent coder."
    assert "<covey-mail>" in last
    assert len(told) < 800


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, INTERRUPTED), (signal.SIGTERM, DONE)])
def test_a_signal_ends_the_server_cleanly(folder: Folder, number: signal.Signals, code: int) -> None:
    with Speaker(folder, "--agent", "coder") as speaker:
        speaker.say(
            {
                "jsonrpc": "2.0",
                "id": "w",
                "method": "tools/call",
                "params": {"name": "read_inbox", "arguments": {"wait": 25}},
            }
        )
        assert speaker.signal(number) == code
    assert presences(folder) == {"coder": "offline"}
    (left,) = folder.covey("log", "--action", "session.ended", "--json").json_lines
    assert left["details"]["reason"] == "left"


def test_stdout_has_only_protocol_messages(folder: Folder) -> None:
    with Speaker(folder, "--agent", "coder") as speaker:
        speaker.process.stdin.write(b"this is no message\n\xff\xfe\n\n")  # pyright: ignore[reportOptionalMemberAccess]
        speaker.call("send_message", to="nobody", message="x" * 100_000)
        speaker.call("list_agents", nonsense=True)
        assert speaker.hang_up() == DONE
        assert speaker.process.stdout is not None
        assert speaker.process.stdout.read() == b""
        assert speaker.process.stderr is not None
        assert b"this is no message" in speaker.process.stderr.read()


def test_a_long_message_is_complete(folder: Folder) -> None:
    text = 'a "quoted" line\n' * 20_000
    folder.covey("send", "--from", "critic", "--to", "lead", "--register", "hello")
    with Speaker(folder, "--agent", "coder") as coder:
        assert coder.call("send_message", to="lead", message=text).startswith("Kept for lead")
    _, item = folder.covey("inbox", "lead", "--json").json
    assert item["text"] == text


def test_requests_piped_in_at_once_are_answered(folder: Folder) -> None:
    hello = {**HELLO, "protocolVersion": "2025-06-18"}
    lines: list[dict[str, object]] = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "list_agents"}},
    ]
    (folder.path / "in.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    for command in (
        "covey mcp < in.jsonl",
        "cat in.jsonl | covey mcp",
        "covey mcp < in.jsonl > out.jsonl; cat out.jsonl",
    ):
        said = folder.run(["sh", "-c", command])
        assert said.code == DONE
        first, second = said.json_lines
        assert first["result"]["protocolVersion"] == "2025-06-18"
        assert "You are agent" in second["result"]["content"][0]["text"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--toolkit", "nativ"), "did you mean native?"),
        (("--toolkit", "native,mailbox"), "both have"),
        (("--agent", "no name"), "agent name 'no name'"),
        (("--http", "127.0.0.1:99999"), "use HOST:PORT"),
        (("--http", "--agent", "coder"), "who its token stands for"),
    ],
)
def test_a_wrong_option_is_reported_before_serving(covey: Covey, words: tuple[str, ...], told: str) -> None:
    said = covey("mcp", *words)
    assert (said.code, said.out) == (USAGE, "")
    assert told in said.err


def test_a_missing_extra_is_reported_by_name(folder: Folder) -> None:
    """Block the import of the package, to imitate a missing one."""
    program = "import sys; sys.modules['mcp'] = None; from covey.surfaces.cli.main import main; sys.exit(main())"
    said = folder.run([sys.executable, "-c", program, "mcp"])
    assert (said.code, said.out) == (UNAVAILABLE, "")
    assert "pip install 'covey[mcp]'" in said.err
    said = folder.run([sys.executable, "-c", program, "mcp", "--json"])
    assert said.json["error"]["code"] == "extra-missing"
    assert said.json["error"]["details"]["extra"] == "mcp"


def test_help_needs_no_extra(folder: Folder) -> None:
    program = "import sys; sys.modules['mcp'] = None; from covey.surfaces.cli.main import main; sys.exit(main())"
    said = folder.run([sys.executable, "-c", program, "mcp", "--help"])
    assert said.code == DONE
    assert "--toolkit NAME[,NAME]" in said.out


def test_the_agent_name_comes_from_the_environment_or_is_new(folder: Folder) -> None:
    with Speaker(folder, COVEY_AGENT="critic") as critic, Speaker(folder) as one, Speaker(folder) as two:
        assert critic.call("list_agents").startswith("You are critic.")
        assert one.call("list_agents").startswith("You are agentA.")
        assert two.call("list_agents").startswith("You are agentB.")


def test_a_token_in_the_environment_determines_the_agent(folder: Folder) -> None:
    token = folder.covey("token", "create", "coder", "--register", "--json").json["token"]
    with Speaker(folder, COVEY_TOKEN=token) as coder, Speaker(folder, "--agent", "critic") as critic:
        coder.call("send_message", to="critic", message="hello")
        assert "from coder (token)" in critic.call("list_agents")
    refused = folder.covey("mcp", COVEY_TOKEN=token[:-1] + "_")
    assert refused.code == 1
    assert "no such token" in refused.err


def test_an_inherited_session_outlives_the_server(folder: Folder) -> None:
    joined = folder.covey("join", "coder", "--lease", "1h", "--json").json
    environment = {name: str(value) for name, value in joined["environment"].items()}
    with Speaker(folder, **environment) as speaker:
        assert speaker.call("list_agents").startswith("You are coder.")
        (agent,) = folder.covey("agents", "--json").json
        assert len(agent["sessions"]) == 1
        assert speaker.hang_up() == DONE
    assert presences(folder) == {"coder": "idle"}
    folder.covey("leave", **environment)
    with Speaker(folder, **environment) as speaker:
        assert speaker.call("list_agents").startswith("You are coder.")
