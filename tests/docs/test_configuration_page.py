"""The configuration reference: it agrees with the code on every setting, its default and how to change it."""

import json
import re
from argparse import ArgumentParser
from pathlib import Path

import pytest

from covey.core.channels.channel import setting_of
from covey.core.directory.card import Card, encode_card
from covey.core.directory.routing import WHOLE
from covey.core.errors import Invalid
from covey.core.names import AgentName
from covey.core.store_url import StoreUrl
from covey.core.storms.budget import STORM_LIMITS, Limit, Limits
from covey.core.work.negotiation import MAX_ROUNDS, ROUNDS, ROUNDS_SETTING
from covey.engines import BUILT_IN, engine_of, parse_store_url
from covey.runtime.children.launchers import PLACEHOLDERS
from covey.services.directory import settings as policies
from covey.surfaces.cli.space.session import JOIN

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src" / "covey"
PAGE = (ROOT / "docs" / "reference" / "configuration.md").read_text(encoding="utf-8")


def rows(first: str) -> dict[str, list[str]]:
    """Return the rows of the tables with this first heading, by their first cell."""
    found: dict[str, list[str]] = {}
    for table in re.findall(rf"^\| {first} \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", PAGE, re.MULTILINE):
        for line in table.splitlines():
            name, *cells = (cell.strip() for cell in line.strip("|").split(" | "))
            found[name.strip("`")] = cells
    return found


@pytest.mark.requirement("sessions.docs")
def test_every_field_of_a_card_is_on_the_page_with_its_default() -> None:
    shown = {name: json.loads(cells[0].strip("`")) for name, cells in rows("field").items()}
    assert shown == encode_card(Card())


def test_the_options_that_change_a_card_are_those_of_join() -> None:
    parser = ArgumentParser()
    JOIN.arguments(parser)
    known = set(re.findall(r"--[a-z-]+", parser.format_help().partition("the agent's card")[2]))
    shown = {option for cells in rows("field").values() for option in re.findall(r"--[a-z-]+", cells[-1])}
    assert shown == known


@pytest.mark.requirement("sessions.docs")
def test_every_environment_variable_is_on_the_page() -> None:
    read = {
        name
        for path in SOURCES.rglob("*.py")
        for name in re.findall(r"\bCOVEY_[A-Z_]+\b", path.read_text(encoding="utf-8"))
        if "testing" not in path.parts
    }
    assert set(rows("variable")) == read


@pytest.mark.requirement("sessions.docs")
def test_every_setting_of_a_space_is_on_the_page() -> None:
    policy_names = {value for name, value in vars(policies).items() if name.isupper() and isinstance(value, str)} - {
        WHOLE
    }
    shown = rows("setting")
    assert set(shown) == {STORM_LIMITS, ROUNDS_SETTING, setting_of(AgentName("NAME")), *policy_names}
    assert shown[ROUNDS_SETTING][0] == str(ROUNDS)
    assert f"at most {MAX_ROUNDS}" in shown[ROUNDS_SETTING][1]
    limits = {name: int(cells[0].replace(",", "")) for name, cells in rows("storm limit").items()}
    assert limits == {str(limit): Limits().of(limit) for limit in Limit}


def test_the_code_writes_no_setting_that_the_page_lacks() -> None:
    """A new setting must be added to the page, and here."""
    written = {
        name
        for path in (SOURCES / "services").rglob("*.py")
        for name in re.findall(r"settings\.put\(([A-Za-z_]+)", path.read_text(encoding="utf-8"))
    }
    switches = {"setting", "SUBJECTS_ARE_CATEGORIES"}  # of the policies, and of a layout
    channels = {"setting_of", "private_setting_of"}
    bookkeeping = {"NEXT_AUTOMATIC_NAME", "_PREFIX", "name"}  # progress and contents of an import
    assert written == {"STORM_LIMITS", "STOPPED", "PAUSED", "ROUNDS_SETTING"} | switches | channels | bookkeeping


def test_every_store_and_each_of_its_options_is_on_the_page() -> None:
    shown = [parse_store_url(url.replace("PATH", "file.db")) for url in rows("URL")]
    assert {engine_of(url) for url in shown} == {engine_of(StoreUrl(scheme, "", {})) for scheme in BUILT_IN}
    options: set[tuple[str, str]] = set()
    for engine in ("sqlite", "files"):
        with pytest.raises(Invalid, match="known options are: ") as refused:
            parse_store_url(f"{engine}:file.db?unknown=1")
        known = re.findall(r"(\w+)=([\w|]+)", refused.value.message.partition("known options are: ")[2])
        options |= {(name, value) for name, values in known for value in values.split("|")}
    assert {pair for url in shown for pair in url.options.items()} == options


def test_every_placeholder_of_a_command_is_on_the_page() -> None:
    assert {name.strip("{}") for name in rows("placeholder")} == set(PLACEHOLDERS)
