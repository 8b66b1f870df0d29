"""The how-to on NATS: its configurations start servers, and its commands work on them."""

import re
from pathlib import Path

from covey.adapters.nats.client.settings import URL_OPTIONS, VARIABLES
from tests.docs.shell import run_commands
from tests.nats.certificates import tls_files
from tests.nats.servers import NatsServer

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "run-on-nats.md"
ADDRESSES = re.compile(r"^(listen|http): .*\n", re.MULTILINE)


def section(title: str) -> str:
    """Return the text under a heading."""
    match = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    assert match is not None
    return match[1]


def configuration(text: str) -> str:
    match = re.search(r"^```conf\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert match is not None
    return ADDRESSES.sub("", match[1])


def started(text: str, folder: Path) -> NatsServer:
    """Return a server with the configuration of a section, in a folder, on free ports."""
    made = configuration(text).replace("store_dir: data", f"store_dir: '{folder}/data'")
    server = NatsServer(folder, {}, include=made)
    server.start()
    return server


def at(server: NatsServer, text: str) -> str:
    return text.replace("127.0.0.1:4222", str(server.address)).replace("http://127.0.0.1:8222", server.monitor)


def test_one_node_is_started_and_used_and_the_doctor_finds_nothing(tmp_path: Path) -> None:
    text = section("One node")
    server = started(text, tmp_path)
    try:
        said = run_commands(at(server, text), tmp_path)
    finally:
        server.stop()
    assert (said.code, "a first draft" in said.out) == (0, True), said.err
    assert said.out.rstrip().endswith("Healthy.")


def test_permissions_are_made_and_used(tmp_path: Path) -> None:
    text = section("With permissions")
    making, using = text.split("```conf", 1)
    said = run_commands(making, tmp_path)
    assert (said.code, "coder.nk" in said.out) == (0, True), said.err
    server = started(text, tmp_path)
    try:
        said = run_commands(at(server, using), tmp_path)
    finally:
        server.stop()
    assert (said.code, "it is me" in said.out) == (0, True), said.err


def test_a_server_of_three_and_a_server_with_tls_start(tmp_path: Path) -> None:
    three = configuration(section("Three nodes"))
    for part in ("server_name: n1", "cluster {", "routes:"):
        assert part in three
    files = tls_files(tmp_path)
    names = {"server.pem": files.cert, "server-key.pem": files.key, "ca.pem": files.ca}
    text = section("With TLS")
    for name, file in names.items():
        text = re.sub(rf"(?<=: ){name}", f"'{file}'", text)
    server = started(text, tmp_path / "server")
    server.stop()


def test_every_setting_is_in_the_table() -> None:
    text = section("All settings")
    assert all(f"`{variable}`" in text or f"{variable}`" in text for variable in VARIABLES.values())
    assert all(f"{option}=" in text for option in URL_OPTIONS)
