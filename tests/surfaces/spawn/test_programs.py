"""Children that are programs: their folder, their environment, their results and their ends."""

import asyncio
import os
import sys
import threading
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import covey
from covey import Card, Member, Space
from covey.adapters.system.ids import SystemIds
from covey.core.channels.channel import console
from covey.core.errors import Invalid, ProgramNotExecutable, ProgramNotFound
from covey.core.identity import token_from
from covey.core.names import AgentName
from covey.core.work.run import RunId, RunState, status_of
from covey.ports.work import RunFilter
from covey.runtime.programs.folders import RunFolders
from covey.services.care.upkeep import UpkeepResult
from covey.services.children.spawning import RunResult
from covey.surfaces.python.spawned import Spawned

LIMIT_S = 20.0


@asynccontextmanager
async def opened(tmp_path: Path) -> AsyncGenerator[Space]:
    async with covey.open(f"sqlite:{tmp_path}/.covey/covey.db", roots=[str(tmp_path)]) as space:
        yield space


async def lead_in(space: Space, script: str) -> Member:
    """Let a parent join whose children run a shell script."""
    return await space.join("lead", card=Card(command=("sh", "-c", script)))


async def result_of(child: Spawned) -> RunResult:
    result = await child.result(timeout=LIMIT_S)
    assert result is not None, "it did not come in time"
    return result


async def cleared(child: Spawned, tmp_path: Path) -> None:
    """Wait until no folder of a child is left."""
    async with asyncio.timeout(LIMIT_S):
        while (await child.refresh()).record.folder is not None:  # noqa: ASYNC110 - it is another's doing
            await asyncio.sleep(0.01)
    assert [*(tmp_path / ".covey" / "runs").iterdir()] == []


async def written(path: Path) -> None:
    """Wait until a program has written a line into a file."""
    async with asyncio.timeout(LIMIT_S):
        while not path.exists() or not path.read_text().endswith("\n"):  # noqa: ASYNC110 - it is another's doing
            await asyncio.sleep(0.01)


@pytest.mark.requirement("sessions.workspace")
async def test_a_child_starts_in_its_parents_folder_or_the_workspace_of_its_card(
    tmp_path: Path,
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
    async with opened(tmp_path) as space:
        lead = await lead_in(space, "pwd")
        owner = space.services.identities.claim(lead.name)
        for name, workspace in (("coder", str(there)), ("drifter", None), ("lost", str(tmp_path / "nowhere"))):
            card = Card(command=("sh", "-c", "pwd"), workspace=workspace)
            await space.services.directory.register(AgentName(name), card, owner)
        assert (await result_of(await lead.spawn("Where?", cwd=str(here)))).text == str(here)
        assert (await result_of(await lead.spawn("Where?"))).text == str(Path.cwd())
        assert (await result_of(await lead.spawn("Where?", agent="coder", cwd=str(here)))).text == str(there)
        drifting = await lead.spawn("Where?", agent="drifter", cwd=str(here))
        assert (await result_of(drifting)).text == str(tmp_path / ".covey" / "runs" / drifting.run_id)
        with pytest.raises(Invalid, match="the folder does not exist"):
            await lead.spawn("Where?", agent="lost")
        await cleared(drifting, tmp_path)


async def test_a_child_without_attachments_has_an_empty_folder_for_them(tmp_path: Path) -> None:
    async with opened(tmp_path) as space:
        lead = await lead_in(space, 'cd "$COVEY_FOLDER"/attachments && ls -A | wc -l')
        child = await lead.spawn("Look")
        assert (await result_of(child)).text.strip() == "0"
        await cleared(child, tmp_path)


@pytest.mark.requirement("sessions.attachments")
async def test_attachments_are_snapshots_that_are_removed_with_the_child(tmp_path: Path) -> None:
    original = tmp_path / "plan.txt"
    original.write_text("as it was")
    async with opened(tmp_path) as space:
        lead = await lead_in(space, 'while [ -e "$ORIGINAL" ]; do sleep 0.01; done; cat "$COVEY_FOLDER"/attachments/*')
        os.environ["ORIGINAL"] = str(original)
        try:
            child = await lead.spawn("Read it", attachments=[str(original)])
            original.write_text("changed")
            original.unlink()
            assert (await result_of(child)).text == "as it was"
        finally:
            del os.environ["ORIGINAL"]
        await cleared(child, tmp_path)


async def test_a_child_acts_as_its_own_session(tmp_path: Path) -> None:
    script = f'{sys.executable} -m covey send --to lead "from $COVEY_LABEL"; echo $COVEY_SESSION_KEY $COVEY_RUN_ID'
    async with opened(tmp_path) as space:
        lead = await lead_in(space, script)
        os.environ["COVEY_TOKEN"] = "of the parent"
        try:
            child = await lead.spawn("Say hello", label="greeter")
            result = await result_of(child)
        finally:
            del os.environ["COVEY_TOKEN"]
        (hello,) = await lead.inbox.peek()
        assert (hello.text, hello.message.sender.session) == ("from greeter", child.record.session)
        assert f"{child.key} {child.run_id}" in result.text


async def test_a_prompt_is_on_stdin_or_in_the_arguments_of_the_command(tmp_path: Path) -> None:
    async with opened(tmp_path) as space:
        lead = await space.join("lead", card=Card(command=("cat",)))
        told = (await result_of(await lead.spawn("Repeat $(this) 'exactly'"))).text
        assert "Repeat $(this) 'exactly'" in told
        assert "You are a child of lead" in told
        words = ("printf", "%s|", "{task}", "{label}", "{agent}", "{folder}", "{run}")
        await space.services.directory.register(lead.name, Card(command=words), lead.identity)
        child = await lead.spawn("Repeat $(this)", label="x")
        expected = ["Repeat $(this)", "x", "lead", child.record.folder, child.run_id, ""]
        assert (await result_of(child)).text.split("|") == expected


async def test_a_program_can_return_json_and_files(tmp_path: Path) -> None:
    script = 'echo data > "$COVEY_FOLDER/output/table.csv"; echo \'{"result": "two rows", "data": {"rows": 2}}\''
    async with opened(tmp_path) as space:
        lead = await lead_in(space, script)
        result = await result_of(await lead.spawn("Count"))
        assert (result.status, result.text, result.data) == (RunState.COMPLETED, "two rows", {"rows": 2})
        (file,) = result.files
        assert (file.name, await space.services.attachments.content(file)) == ("table.csv", b"data\n")


@pytest.mark.parametrize(
    ("script", "status", "said"),
    [
        ("echo oops >&2; exit 3", RunState.FAILED, "exited with code 3"),
        ("kill -9 $$", RunState.FAILED, "was ended by SIGKILL"),
        ("yes | head -c 30000000", RunState.COMPLETED, "bytes left out"),
        ('echo \'{"error": "no such branch"}\'', RunState.FAILED, "no such branch"),
    ],
)
async def test_the_way_a_program_ends_is_reported_to_its_parent(
    tmp_path: Path, script: str, status: RunState, said: str
) -> None:
    async with opened(tmp_path) as space:
        child = await (await lead_in(space, script)).spawn("Go")
        result = await result_of(child)
        assert result.status is status
        assert said in result.text
        await cleared(child, tmp_path)


@pytest.mark.requirement("sessions.timeout")
async def test_a_time_limit_ends_the_whole_process_tree_and_keeps_the_output(tmp_path: Path) -> None:
    marker = tmp_path / "pids"
    script = f"echo half of it; (sleep 600 & echo $! >> {marker}); (setsid sleep 600 & echo $! >> {marker}); sleep 600"
    async with opened(tmp_path) as space:
        child = await (await lead_in(space, script)).spawn("Go", time_limit=0.5)
        result = await result_of(child)
        assert result.status is RunState.TIMED_OUT
        assert "took longer than its time limit of 0.5 s" in result.text
        assert "half of it" in result.text
        pids = [int(line) for line in marker.read_text().split()]
        assert len(pids) == 2
        assert [pid for pid in pids if Path(f"/proc/{pid}").exists()] == []
        await cleared(child, tmp_path)


async def test_a_stopped_child_can_clean_up(tmp_path: Path) -> None:
    script = 'trap "echo tidied; exit 0" TERM; echo begun; echo > begun; while :; do sleep 0.01; done'
    async with opened(tmp_path) as space:
        lead = await lead_in(space, script)
        child = await lead.spawn("Go", cwd=str(tmp_path))
        await written(tmp_path / "begun")
        await child.stop("enough")
        result = await result_of(child)
        assert (result.status, child.record.reason) == (RunState.STOPPED, "enough")
        assert "begun\ntidied" in result.text
        await cleared(child, tmp_path)


async def test_children_end_when_the_space_is_closed(tmp_path: Path) -> None:
    async with opened(tmp_path) as space:
        child = await (await lead_in(space, "echo $$ > pid; exec sleep 600")).spawn("Go", cwd=str(tmp_path))
        await written(tmp_path / "pid")
    assert not Path(f"/proc/{(tmp_path / 'pid').read_text().strip()}").exists()
    async with opened(tmp_path) as space:
        assert (await space.services.runs.view(child.run_id)).run.state is RunState.STOPPED
        back = await space.join("lead")
        (told,) = await back.inbox.peek()
        assert status_of(told.message) == "stopped"
    assert [*(tmp_path / ".covey" / "runs").iterdir()] == []


@pytest.mark.parametrize(
    ("command", "error"),
    [
        (("no-such-program",), ProgramNotFound),
        (("./plan.txt",), ProgramNotExecutable),
        (("{task}",), Invalid),
        (("echo", "{prompt}" * 200), Invalid),
    ],
)
async def test_a_command_that_can_not_be_run_is_an_error_and_leaves_nothing(
    tmp_path: Path, command: tuple[str, ...], error: type[Exception]
) -> None:
    (tmp_path / "plan.txt").write_text("no program")
    async with opened(tmp_path) as space:
        lead = await space.join("lead")
        await space.services.directory.register(lead.name, Card(command=command), lead.identity)
        with pytest.raises(error):
            await lead.spawn("Go" * 1000, cwd=str(tmp_path))
        assert [*(tmp_path / ".covey" / "runs").iterdir()] == []
        assert [view.name for view in await space.agents() if view.sessions] == ["lead"]


async def test_in_session_mode_a_program_runs_for_each_message(tmp_path: Path) -> None:
    async with opened(tmp_path) as space:
        lead = await lead_in(space, 'n=$(cat n 2>/dev/null || echo 0); n=$((n+1)); echo $n > n; echo "time $n"')
        await space.services.channels.add(console(AgentName("ops")), lead.identity)
        child = await lead.spawn("Begin", mode="session", thread=True, cwd=str(tmp_path))
        assert (await result_of(child)).text == "time 1"
        assert (await lead.ask(str(child.key), "And again", timeout=LIMIT_S)).text == "time 2"
        assert (await lead.ask(str(child.key), "And again", timeout=LIMIT_S)).text == "time 3"
        await child.stop()
        assert child.state is RunState.STOPPED
        await cleared(child, tmp_path)


async def test_a_spawn_that_is_cancelled_while_its_folder_is_created_leaves_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on, made = threading.Event(), threading.Event(), threading.Event()
    make = RunFolders.make

    def slowly(folders: RunFolders, run_id: RunId, files: Mapping[str, bytes], cwd: str | None) -> None:
        begun.set()
        go_on.wait(LIMIT_S)
        try:
            make(folders, run_id, files, cwd)
        finally:
            made.set()

    monkeypatch.setattr(RunFolders, "make", slowly)
    async with opened(tmp_path) as space:
        lead = await lead_in(space, "true")
        (tmp_path / "plan.txt").write_text("a plan")
        spawning = asyncio.ensure_future(lead.spawn("Go", attachments=[str(tmp_path / "plan.txt")]))
        assert await asyncio.to_thread(begun.wait, LIMIT_S)
        for _ in range(2):  # the second cancellation comes during the cleanup of the first
            spawning.cancel()
            await asyncio.wait({spawning}, timeout=0.1)
        go_on.set()
        await asyncio.wait({spawning})
        assert spawning.cancelled()
        assert await asyncio.to_thread(made.wait, LIMIT_S)
        assert [*(tmp_path / ".covey" / "runs").iterdir()] == []
        assert [*await space.services.runs.find(RunFilter(has_ended=False))] == []


async def test_a_spawn_that_is_cancelled_leaves_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path) as space:
        lead = await lead_in(space, "sleep 600")
        (tmp_path / "plan.txt").write_text("a plan")
        await (await lead.spawn("Warm up")).stop()
        for number in range(25):
            spawning = asyncio.ensure_future(lead.spawn("Go", attachments=[str(tmp_path / "plan.txt")]))
            await asyncio.wait({spawning}, timeout=number * 0.002)
            if spawning.cancel():
                await asyncio.wait({spawning})
            else:
                await spawning.result().stop()
        runs = await space.services.runs.find(RunFilter(has_ended=False))
        assert [*runs] == []
        async with asyncio.timeout(LIMIT_S):
            while await space.services.upkeep.tend() != UpkeepResult(0, 0, 0, 0):
                pass
        assert [*(tmp_path / ".covey" / "runs").iterdir()] == []
        assert [view.name for view in await space.agents() if len(view.sessions) != 1] == []


async def test_a_child_cannot_make_its_parent_send_the_store_or_a_token(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(token_from(SystemIds().secret()))
    store = tmp_path / ".covey"
    script = f"""
        cd "$COVEY_FOLDER/output"
        ln {store}/covey.db hard-ledger; ln {store}/covey.db-wal hard-log; ln -s {store}/covey.db soft
        ln -s {store} folder; ln {tmp_path}/secret hard-secret; cat {tmp_path}/secret > copied
        ln {store}/covey.db result.json
        echo fine > report; echo done
    """
    async with opened(tmp_path) as space:
        lead = await lead_in(space, script)
        result = await result_of(await lead.spawn("Go", label="thief"))
        assert [part.name for part in result.files] == ["report"]
        for name in ("copied", "folder", "hard-ledger", "hard-log", "hard-secret", "soft"):
            assert f"- {name} (" in result.text, name
        await lead.send("lead", "the store is still locked as it should be, and takes mail")
    assert (await sound(tmp_path)).startswith("ok")


async def sound(folder: Path) -> str:
    """Return SQLite's integrity check of the store, from another process."""
    check = "import apsw, sys; print(apsw.Connection(sys.argv[1]).pragma('integrity_check'))"
    done = await asyncio.create_subprocess_exec(
        sys.executable, "-c", check, str(folder / ".covey" / "covey.db"), stdout=asyncio.subprocess.PIPE
    )
    said, _ = await done.communicate()
    return said.decode()
