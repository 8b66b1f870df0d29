"""Paths from a model: every parameter of every tool is tried, and none of them opens a file that is off limits.

A parameter takes paths if the content of a harmless file arrives among the attachments of the space. The test finds
these parameters by trying, so it covers new tools too. `MEANT` lists the parameters that should take paths.
"""

import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

import covey
from covey import Card
from covey.adapters.system.ids import SystemIds
from covey.core.identity import token_from
from covey.core.json import Json, JsonObject
from covey.toolkits.catalogue import HOMES, toolkit
from covey.toolkits.schemas import schemas
from covey.toolkits.tool import ToolAnswer
from tests.toolkits.test_any_call import RIGHT, without_waiting

MEANT = {
    "native.delegate_task.files",
    "native.send_message.files",
    "native.spawn_agent.files",
    "native.update_task.files",
    "worker.send_message.files",
    "worker.update_task.files",
    "mailbox.delegate_task.parts",
    "mailbox.send_message.parts",
    "mailbox.update_task.parts",
    "sessions.sessions_spawn.attachments",
}
HARMLESS = "plain.txt"
STORES = ("sqlite:{}/.covey/covey.db", "files:{}?layout=dialogue", "files:{}?layout=mailbox")
"""Stores in a folder from which files may be attached."""
CARD = Card(command=(sys.executable, "-c", "pass"), max_children=1000)


def with_path(schema: JsonObject, path: str) -> Iterator[Json]:
    """Yield values that fit a schema, with a path in every place that takes a text."""
    kind = schema.get("type")
    if kind == "array":
        items = schema.get("items")
        yield from ([value] for value in with_path(items if isinstance(items, dict) else {"type": "string"}, path))
    elif kind == "object":
        fields = schema.get("properties")
        known: JsonObject = fields if isinstance(fields, dict) else {}
        chosen = [(name, field["enum"]) for name, field in known.items() if isinstance(field, dict) and "enum" in field]
        texts: dict[str, Json] = {name: path for name, field in known.items() if field == {"type": "string"}}
        if not known:
            yield {"type": "file", "path": path}  # the schema does not describe the object: a part
        for name, choices in chosen:
            yield from ({**texts, name: choice} for choice in (choices if isinstance(choices, list) else []))
    elif "enum" not in schema:
        yield path


def parameters(kit: str) -> Iterator[tuple[str, str, JsonObject]]:
    """Yield the parameters of a toolkit's tools, as a client sees them: tool, name, schema."""
    for tool in schemas(toolkit(kit), "mcp"):
        inputs = tool["inputSchema"]
        assert isinstance(inputs, dict)
        properties = inputs["properties"]
        assert isinstance(properties, dict)
        for name, schema in properties.items():
            assert isinstance(schema, dict)
            yield str(tool["name"]), name, schema


class Room:
    """A folder with a space, in which an agent has tools, and with files that the agent must not read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.token = token_from(SystemIds().secret())
        (folder / HARMLESS).write_text("harmless")
        (folder / "operator.token").write_text(self.token)
        (folder / "linked.txt").symlink_to(folder / "operator.token")
        (folder / "same.txt").hardlink_to(folder / "operator.token")

    def give_links_to_the_ledger(self) -> None:
        ledger = self.folder / ".covey" / "covey.db"
        (self.folder / "ledger.txt").symlink_to(ledger)
        (self.folder / "log.txt").hardlink_to(f"{ledger}-wal")
        for number, path in enumerate(self.mail):
            (self.folder / f"mail-{number}.txt").symlink_to(path)
            (self.folder / f"same-mail-{number}.txt").hardlink_to(path)

    @property
    def mail(self) -> list[Path]:
        """The files in a shared folder that contain messages or refer to them."""
        patterns = (
            "inbox/**/*.json",
            "archive/**/*.json",
            "manifest.jsonl",
            "_registry.json",
            "*/inbox/*",
            "*/processed/*",
        )
        return sorted(path for pattern in patterns for path in self.folder.glob(pattern) if path.is_file())

    @property
    def off_limits(self) -> list[Path]:
        names = ("operator.token", "linked.txt", "same.txt", "ledger.txt", "log.txt")
        # The registry is rewritten from time to time: a hard link to an old version is an ordinary file.
        links = [path for path in self.folder.glob("*mail-*.txt") if path.is_symlink() or path.stat().st_nlink > 1]
        return [*(self.folder / name for name in names), self.folder / ".covey" / "covey.db", *self.mail, *links]

    @property
    def taken(self) -> set[str]:
        """The digests of the file contents that the space keeps."""
        kept = (self.folder / ".covey" / "blobs").glob("??/*")
        return {f"{path.parent.name}{path.name}" for path in kept}


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("kit", HOMES)
async def test_no_parameter_of_any_tool_opens_a_file_that_is_off_limits(tmp_path: Path, kit: str, store: str) -> None:
    room = Room(tmp_path)
    found: set[str] = set()
    async with covey.open(store.format(tmp_path), roots=[str(tmp_path)]) as space:
        coder, critic = await space.join("coder", card=CARD), await space.join("critic", card=CARD)
        for text in ("hello", "shall I?"):
            await critic.send("coder", text)
        await critic.delegate("coder", "sort them")
        room.give_links_to_the_ledger()
        tools = coder.tools(kit)

        async def call(tool: str, name: str, value: Json) -> ToolAnswer:
            named = next(each for each in tools.toolkit.tools if each.name == tool)
            return await tools.call(tool, without_waiting(named, {**RIGHT.get(f"{kit}.{tool}", {}), name: value}))

        for number, (tool, name, schema) in enumerate(parameters(kit)):
            harmless = tmp_path / f"{number}.txt"
            harmless.write_text(f"harmless {number}")
            for value in with_path(schema, str(harmless)):
                await call(tool, name, value)
            if sha256(harmless.read_bytes()).hexdigest() not in room.taken:
                continue
            before = room.taken
            found.add(f"{kit}.{tool}.{name}")
            for path in room.off_limits:
                for value in with_path(schema, str(path)):
                    answer = await call(tool, name, value)
                    assert room.token not in f"{answer.text}{answer.data}"
                assert room.taken == before, path
    assert found == {name for name in MEANT if name.startswith(f"{kit}.")}


@pytest.mark.parametrize("store", STORES)
async def test_no_call_of_the_python_api_opens_a_file_that_is_off_limits(tmp_path: Path, store: str) -> None:
    room = Room(tmp_path)
    async with covey.open(store.format(tmp_path), roots=[str(tmp_path)]) as space:
        coder = await space.join("coder", card=CARD)
        await coder.send("coder", "a secret")
        assert bool(room.mail) == store.startswith("files:")
        room.give_links_to_the_ledger()
        for path in room.off_limits:
            with pytest.raises(covey.CoveyError) as refused:
                await coder.attach(str(path))
            assert refused.value.code == "file-off-limits"
            with pytest.raises(covey.CoveyError) as refused:
                await coder.spawn("Read it", attachments=[str(path)])
            assert refused.value.code == "file-off-limits"
        assert room.taken == set()
        await coder.attach(str(tmp_path / HARMLESS))
        assert len(room.taken) == 1
