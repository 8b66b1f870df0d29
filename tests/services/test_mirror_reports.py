"""Progress reports of a long pass."""

from pathlib import Path

import pytest

from covey.core.formats.layout import Layout
from covey.services.mirror import mirror
from covey.services.mirror import outflow as mirror_outflow
from covey.services.transfer import imports as transfer_import
from tests.reports import Reports
from tests.services.shared_folder import letter, opened
from tests.services.transferring import exported, imported


async def test_files_that_are_taken_in_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mirror, "LOOK", 4)
    reported = Reports()
    async with opened(tmp_path / "d", Layout.DIALOGUE, report=reported) as shared:
        for n in range(1, 11):
            content = letter(n, "bob", "alice", f"{n}")
            shared.drop(f"inbox/alice/{content['id']}.json", content)
        assert len(await shared.inbox("alice")) == 10
        what = "reading new files"
        assert reported == [(what, 4, None), (what, 8, None), (what, 8, 8)]
        await shared.send("bob", "alice", "one more")
        assert len(reported) == 3


async def test_files_that_are_written_after_an_import_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path / "from", Layout.MAILBOX) as old:
        for n in range(10):
            await old.send("bob", "alice", f"{n}")
        lines = exported(old.services, old.views)
    reported = Reports()
    async with opened(tmp_path / "to", Layout.DIALOGUE, report=reported) as new:
        monkeypatch.setattr(transfer_import, "BATCH", 5)  # so that messages come after the events about them
        monkeypatch.setattr(mirror_outflow, "PAGE", 4)
        imported(new.services, lines)
        assert len(new.paths()) == 10
        what = "writing files"
        assert reported == [(what, 4, 10), (what, 8, 10), (what, 8, 8)]
