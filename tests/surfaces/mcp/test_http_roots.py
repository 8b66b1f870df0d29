"""`covey mcp --http` reads only files in folders that the user has named."""

from pathlib import Path

import pytest

from covey.surfaces.cli.exits import DONE, USAGE
from tests.disk.test_reading import ODD
from tests.surfaces.commands import Folder
from tests.surfaces.mcp.desk import text_of
from tests.surfaces.mcp.serving import http_server

NAMED = "shared"


def space_with_a_token(folder: Folder) -> str:
    """Create a space and a file with the operator's token in its folder; return the token."""
    assert folder.covey("init").code == DONE
    token = folder.covey("token", "create", "--operator", "--json").json["token"]
    (folder.path / "operator.token").write_text(token)
    (folder.path / NAMED).mkdir()
    (folder.path / NAMED / "plan.txt").write_text("the plan")
    (folder.path / NAMED / "link.txt").symlink_to(folder.path / "operator.token")
    return token


@pytest.mark.requirement("trust.roots")
@pytest.mark.parametrize("words", [(), ("--root", NAMED), ("--root", ".")], ids=["none", "one", "all"])
async def test_no_agent_gets_the_operators_token_from_the_servers_folder(
    folder: Folder, words: tuple[str, ...]
) -> None:
    secret = space_with_a_token(folder)
    with http_server(folder, *words) as server:
        async with server.client(server.token("mallory", "--register"), "legacy") as mallory:
            server.token("lead", "--register")
            for path in ("operator.token", f"{NAMED}/link.txt", ".covey/covey.db", "/proc/self/environ"):
                said = await mallory.call_tool("send_message", {"to": "lead", "message": "x", "files": [path]})
                assert said.is_error
                assert "outside the declared roots" in text_of(said) or "is not read" in text_of(said)
                assert secret not in text_of(said)
            plan = {"to": "lead", "message": "the plan", "files": [f"{NAMED}/plan.txt"]}
            said = await mallory.call_tool("send_message", plan)
            assert said.is_error == (not words), text_of(said)


async def test_attaching_special_files_leaks_no_descriptors(folder: Folder) -> None:
    space_with_a_token(folder)
    for number, (make, _, _) in enumerate(ODD.values()):
        make(folder.path / NAMED / str(number))
    with http_server(folder, "--root", NAMED) as server:
        server.token("lead", "--register")
        async with server.client(server.token("mallory", "--register"), "legacy") as mallory:

            async def attach_all() -> None:
                for number in range(len(ODD)):
                    path = f"{NAMED}/{number}"
                    await mallory.call_tool("send_message", {"to": "lead", "message": "x", "files": [path]})

            await attach_all()
            before = open_descriptors(server.process.process.pid)
            for _ in range(ROUNDS):
                await attach_all()
            # connections open and close meanwhile
            assert open_descriptors(server.process.process.pid) < before + ROUNDS


ROUNDS = 10


def open_descriptors(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def test_a_root_that_is_no_folder_is_refused_at_the_start(folder: Folder) -> None:
    folder.covey("init")
    said = folder.covey("mcp", "--http", "127.0.0.1:0", "--root", "nowhere", "--json")
    assert said.code == USAGE
    assert said.json["error"]["code"] == "invalid"
