"""Contract suites: one class a port, one test a sentence of the port's docstring.

An adapter's tests subclass the suites, in a line each. The adapter under test comes from a fixture of the module or its
conftest; the docstring of each suite names the fixture. Tests are coroutines: pytest needs a plugin that runs them.

    @pytest.fixture
    def open_store(tmp_path: Path) -> OpenStore:
        return lambda ring: closing(MyStore(tmp_path / "space", ring))

    class TestStore(StoreContract): ...
    class TestAgents(AgentsContract): ...
"""

# ruff: noqa: E402 — pytest rewrites the assertions only of modules that are imported after this call.
from pkgutil import iter_modules

import pytest

pytest.register_assert_rewrite(*(module.name for module in iter_modules(__path__, f"{__name__}.")))

from covey.testing.contracts.blobs import BlobsContract, BlobUpkeepContract
from covey.testing.contracts.channels import BindingsContract, PostsContract
from covey.testing.contracts.deliveries import DeliveriesContract
from covey.testing.contracts.directory import AgentsContract, SessionsContract, SettingsContract, TokensContract
from covey.testing.contracts.inboxes import InboxesContract
from covey.testing.contracts.journal import JournalContract
from covey.testing.contracts.launcher import LauncherContract, LauncherRefusalsContract
from covey.testing.contracts.launcher_ends import LauncherEndsContract
from covey.testing.contracts.log import LogContract, LogSnapshotsContract
from covey.testing.contracts.messages import MessagesContract
from covey.testing.contracts.pruning import PrunedContract
from covey.testing.contracts.retention import RetentionContract
from covey.testing.contracts.search import SearchContract
from covey.testing.contracts.shared import SharedLivenessContract, SharedStoreContract, SharedWakeupsContract
from covey.testing.contracts.store import DurableStoreContract, StoreContract
from covey.testing.contracts.storms import FlowsContract, TreesContract
from covey.testing.contracts.system import (
    ClockContract,
    IdsContract,
    LivenessContract,
    StartedProcess,
    StartProcess,
    WakeupsContract,
)
from covey.testing.contracts.tickets import OffersContract, TicketsContract
from covey.testing.contracts.views import ViewsContract
from covey.testing.contracts.work import RunsContract, TasksContract, WaitsContract

__all__ = [
    "AgentsContract",
    "BindingsContract",
    "BlobUpkeepContract",
    "BlobsContract",
    "ClockContract",
    "DeliveriesContract",
    "DurableStoreContract",
    "FlowsContract",
    "IdsContract",
    "InboxesContract",
    "JournalContract",
    "LauncherContract",
    "LauncherEndsContract",
    "LauncherRefusalsContract",
    "LivenessContract",
    "LogContract",
    "LogSnapshotsContract",
    "MessagesContract",
    "OffersContract",
    "PostsContract",
    "PrunedContract",
    "RetentionContract",
    "RunsContract",
    "SearchContract",
    "SessionsContract",
    "SettingsContract",
    "SharedLivenessContract",
    "SharedStoreContract",
    "SharedWakeupsContract",
    "StartProcess",
    "StartedProcess",
    "StoreContract",
    "TasksContract",
    "TicketsContract",
    "TokensContract",
    "TreesContract",
    "ViewsContract",
    "WaitsContract",
    "WakeupsContract",
]
