"""The contracts for durable and shared stores, on a foreign adapter that passes and on one that wrongly claims to."""

import asyncio
import functools
from pathlib import Path

import pytest

from covey.testing import Locator, OpenStore
from covey.testing.contracts import DurableStoreContract, SharedStoreContract, StoreContract
from tests.testing.pickle_space import open_forgetful, open_pickle


@pytest.fixture
def open_store(tmp_path: Path) -> OpenStore:
    return functools.partial(open_pickle, str(tmp_path))


@pytest.fixture
def store_locator(tmp_path: Path) -> Locator:
    return Locator("tests.testing.pickle_space:open_pickle", str(tmp_path))


class TestStore(StoreContract): ...


class TestDurable(DurableStoreContract): ...


class TestShared(SharedStoreContract): ...


def test_a_store_that_keeps_nothing_is_found_out() -> None:
    forgetful = functools.partial(open_forgetful, "")
    test = DurableStoreContract().test_everything_is_there_when_it_is_opened_again(forgetful)
    with pytest.raises(AssertionError):
        asyncio.run(test)


def test_a_store_that_is_not_shared_is_found_out() -> None:
    forgetful = Locator("tests.testing.pickle_space:open_forgetful", "")
    test = SharedStoreContract().test_every_commit_of_every_process_counts(forgetful)
    with pytest.raises(AssertionError):
        asyncio.run(test)
