"""Export, import and restore of a space with a shared folder."""

from pathlib import Path

from covey.core.coroutine import finish
from covey.core.formats.layout import Layout
from covey.core.identity import Identity
from covey.core.names import AgentName, Scope
from covey.engines import engine_of, parse_store_url
from covey.services.care.backup import Backup, Restore
from tests.services.shared_folder import letter, opened
from tests.services.transferring import exported, imported

ALICE, OWNER = AgentName("alice"), AgentName("owner")


async def test_imported_messages_are_in_the_folder_and_in_its_manifest(tmp_path: Path) -> None:
    async with opened(tmp_path / "from", Layout.MAILBOX) as old:
        asked = await old.ask("bob", "alice", "why?", scope=Scope("M1"))
        done = (await old.send("bob", "alice carol", "fyi")).message_id
        for agent in (ALICE, AgentName("carol")):
            await old.services.dialogue.archive(done, Identity(agent))
        lines = exported(old.services, old.views)
    async with opened(tmp_path / "to", Layout.DIALOGUE) as new:
        before = (await new.send("dave", "alice", "was here before")).message_id
        imported(new.services, lines)
        standing = sorted((path.rpartition("/")[0], new.read(path)["body"]) for path in new.paths())
        assert standing == [
            ("archive", "fyi"),
            ("archive", "fyi"),
            ("inbox/alice", "was here before"),
            ("inbox/alice", "why?"),
        ]
        told = [(line["event"], line["id"][:13]) for line in new.manifest()]
        assert told == [
            ("sent", before[:13]),
            ("sent", asked[:13]),
            ("sent", done[:13]),
            ("sent", done[:13]),
            ("archived", done[:13]),
            ("archived", done[:13]),
        ]
        assert await new.faults() == []


async def test_a_backup_is_restored_with_its_folder(tmp_path: Path) -> None:
    root = tmp_path / "d"
    url = parse_store_url(f"files:{root}")
    async with opened(root, Layout.DIALOGUE) as shared:
        await shared.send("bob", "alice", "kept")
        shared.drop("inbox/alice/x.json", letter(1, "carol", "alice", "theirs"))
    archive = str(tmp_path / "space.tar")
    care = engine_of(url).care
    finish(Backup(*care.backup(url)).back_up(archive, replace=False, tell=_quiet))
    async with opened(root, Layout.DIALOGUE) as shared:
        await shared.send("bob", "alice", "later")
        paths = shared.paths()
        assert len(paths) == 3
    finish(Restore(*care.restore(url)).restore(archive, Identity(OWNER), replace=True, tell=_quiet))
    async with opened(root, Layout.DIALOGUE) as shared:
        # A message that the backup lacks is taken in from its file, like a foreign one.
        assert sorted(message.text for message in await shared.messages()) == ["kept", "later", "theirs"]
        assert shared.paths() == paths
        assert await shared.faults() == []


def _quiet(_done: int, _of: int | None) -> None:
    """Report nothing."""
