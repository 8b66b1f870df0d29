"""A process that forks while its store is open: the child does no harm and holds no lock."""

import os
import signal
from pathlib import Path

from covey.adapters.sqlite.transactions.store import SqliteStore
from covey.core.coroutine import finish
from tests.adapters.children import child
from tests.adapters.sqlite.stories import LIMIT_S, make_store, names_in, register

FORK_BEFORE_THE_COMMIT = """
import os, sys
from covey.adapters.sqlite.engine.connection import connect

connection = connect(sys.argv[1], "full")
execute = connection.execute
execute("pragma cache_size = 10; create table t(a, b); create index i on t(b); begin immediate").fetchall()
for number in range(2000):  # more than the cache holds
    execute("insert into t values (?, ?)", (number, "x" * 500 + str(number)))
if (pid := os.fork()) == 0:
    sys.exit(7)  # an ordinary end, in which Python lets go of everything
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
for number in range(2000):
    execute("insert into t values (?, ?)", (number, "y" * 500 + str(number)))
execute("commit")
print(execute("pragma integrity_check").get, execute("select count(*) from t").get, flush=True)
"""

FORK_AND_WAIT = """
import os, sys, time
from covey.adapters.sqlite.transactions.store import SqliteStore
from covey.core.coroutine import finish

async def write(transaction):
    await transaction.settings.put("name", "value")
    if (pid := os.fork()) == 0:
        time.sleep(60)
        os._exit(0)
    print(pid, flush=True)
    sys.stdin.readline()

finish(SqliteStore(sys.argv[1]).commit(write))
"""


def test_a_child_that_exits_does_not_harm_its_parents_transaction(tmp_path: Path) -> None:
    path = tmp_path / "covey.db"
    make_store(path)
    with child(FORK_BEFORE_THE_COMMIT, str(path)) as parent:
        assert parent.line() == "7"
        assert parent.line() == "ok 4000"


def test_the_child_of_a_killed_writer_blocks_no_other_writer(tmp_path: Path) -> None:
    path = tmp_path / "covey.db"
    make_store(path)
    with child(FORK_AND_WAIT, str(path)) as parent:
        forked = int(parent.line())
        try:
            parent.kill()
            os.kill(forked, 0)  # the child is alive
            store = SqliteStore(path, limit_s=LIMIT_S)
            finish(store.commit(register("alice")))
            finish(store.close())
        finally:
            os.kill(forked, signal.SIGKILL)
    assert names_in(path) == ["alice", "bob"]
