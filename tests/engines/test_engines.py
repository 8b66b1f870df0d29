"""The engines of Covey: each is found by its scheme and does as it declares."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from covey.core.coroutine import finish
from covey.core.errors import Invalid
from covey.core.store_url import StoreUrl
from covey.engines import BUILT_IN, engine_of, folder, memory, nats, parse_store_url, sqlite
from covey.engines.engine import Engine
from covey.ports.store import Survives

pytestmark = pytest.mark.requirement("house.engines")

ENGINES: Final[Mapping[str, Engine]] = {
    "memory": memory.ENGINE,
    "sqlite": sqlite.ENGINE,
    "files": folder.ENGINE,
    "nats": nats.ENGINE,
    "tls": nats.ENGINE,
}


def test_every_scheme_has_its_engine() -> None:
    assert {scheme: engine_of(StoreUrl(scheme, "", {})) for scheme in BUILT_IN} == ENGINES


@pytest.mark.parametrize("text", ["memory:", "sqlite:{0}/covey.db", "files:{0}/shared?layout=dialogue"])
def test_an_engine_declares_what_its_open_store_declares(text: str, tmp_path: Path) -> None:
    url = parse_store_url(text.format(tmp_path))
    engine = engine_of(url)
    ports = engine.connect_inline(url, ())
    try:
        declared = ports.store.capabilities
        assert engine.capabilities.is_shared is declared.shared
        assert engine.capabilities.is_lasting is (declared.survives is not Survives.NOTHING)
        assert ports.author is None
        assert not engine.capabilities.has_accounts
    finally:
        finish(ports.close())


@pytest.mark.parametrize("text", ["memory:", "sqlite:some/covey.db?synchronous=normal", "files:some", "files:~/some"])
def test_an_absolute_url_is_parsed_as_itself_and_names_the_same_ledger(text: str) -> None:
    url = parse_store_url(text)
    engine = engine_of(url)
    absolute = engine.absolute(url)
    assert parse_store_url(absolute.with_login()) == absolute == engine.absolute(absolute)
    assert engine.ledger_path(absolute) == engine.ledger_path(url)


def test_file_paths_in_the_url_of_a_server_are_made_absolute_too() -> None:
    url = parse_store_url("nats://coder:secret@host/team?cache=here&limit=3")
    absolute = engine_of(url).absolute(url)
    assert absolute.options == {"cache": os.path.abspath("here"), "limit": "3"}  # noqa: PTH100 - a text is compared
    assert "secret" in absolute.with_login()
    assert "secret" not in f"{absolute} {absolute!r}"


@pytest.mark.parametrize("text", ["", "plain", "redis://me:secret@host/1", "Sqlite:x"])
def test_an_unknown_scheme_names_the_known_ones_and_shows_no_login(text: str) -> None:
    with pytest.raises(Invalid, match="use memory:, sqlite:PATH, files:PATH or nats://HOST:PORT/SPACE") as refused:
        parse_store_url(text)
    assert "secret" not in refused.value.message


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("sqlite:", "name a file: sqlite:PATH"),
        ("files:?layout=dialogue", "name a folder: files:PATH"),
        ("nats:host/team", "use nats://HOST:PORT/SPACE"),
        ("memory:?synchronous=full", "known options are: none"),
        ("sqlite:x?synchronous", "known options are: synchronous=full|normal"),
        ("files:x?layout=none", "known options are: layout=dialogue|mailbox; synchronous=full|normal"),
    ],
)
def test_a_url_that_its_engine_cannot_use_is_refused_with_advice(text: str, advice: str) -> None:
    with pytest.raises(Invalid) as refused:
        parse_store_url(text)
    assert advice in refused.value.message


def test_only_a_new_shared_folder_needs_a_layout(tmp_path: Path) -> None:
    there, new = parse_store_url(f"files:{tmp_path}"), parse_store_url(f"files:{tmp_path}/new?synchronous=normal")
    assert engine_of(there).for_new(there) == there
    assert engine_of(new).for_new(new).options == {"synchronous": "normal", "layout": "dialogue"}
    file = parse_store_url("sqlite:new.db")
    assert engine_of(file).for_new(file) == file


def test_a_shared_folder_has_messages_before_it_has_a_ledger(tmp_path: Path) -> None:
    url = parse_store_url(f"files:{tmp_path}?layout=mailbox")
    assert not engine_of(url).is_there(url)
    assert engine_of(url).has_messages(url)
