"""The private names of nats-py that the adapter relies on: each is the same as when `steady.py` was written."""

import ast
import hashlib
import inspect
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest
from nats.aio.client import Client
from nats.aio.transport import TcpTransport

from covey.adapters.nats.client import steady

WRITTEN_FOR = "2.16.0"

METHODS: dict[str, str] = {
    "_attempt_reconnect": "2bbc96e0f2f765ec",
    "_connect_to_server": "1356d992325fde9f",
    "_flush_pending": "317c8d7ef54b90b7",
    "_parse_header_lines": "049cf69148e0bb4f",
    "_process_err": "ceb70f44e38fa728",
    "_process_msg": "6cff75947e97717a",
    "_process_op_err": "d4257cb1203cdbcb",
    "_read_loop": "b44b9401f436dd0e",
    "_send_ping": "d57b2f820443afb4",
}
"""The first 16 digits of the SHA-256 of each method's source in that version.

The adapter patches or calls these methods.
"""

ATTRIBUTES: dict[str, object] = {
    "_error_cb": None,
    "_flusher_task": None,
    "_io_writer": None,
    "_pending": [],
    "_pending_data_size": 0,
    "_ping_interval_task": None,
    "_reading_task": None,
    "_reconnection_task": None,
    "_server_info": {},
    "_transport": None,
}
"""Attributes of a client or a transport that is not connected."""

FOLDER = Path(steady.__file__).parent


@pytest.mark.parametrize("name", METHODS)
def test_a_method_is_unchanged(name: str) -> None:
    method = getattr(Client, name, None)
    assert method is not None, f"nats-py {version('nats-py')} has no Client.{name}: see steady.py"
    assert digest(name) == METHODS[name], (
        f"nats-py {version('nats-py')} has another Client.{name} than {WRITTEN_FOR}: "
        "read it, see whether steady.py still does what it says, and note the new digest here"
    )


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_an_attribute_exists_with_its_initial_value(name: str) -> None:
    found = {**vars(TcpTransport()), **vars(Client())}
    assert name in found, f"nats-py {version('nats-py')} has no attribute {name}: see steady.py"
    if name == "_error_cb":
        assert inspect.iscoroutinefunction(found[name])
    else:
        assert found[name] == ATTRIBUTES[name]


def test_only_one_module_uses_private_names_and_all_are_listed_here() -> None:
    private = {name for name in {*dir(Client()), *vars(TcpTransport())} if name.startswith("_") and name[1] != "_"}
    known = {path.name: set(names(path)) & private for path in FOLDER.glob("*.py")}
    assert known.pop("steady.py") <= {*METHODS, *ATTRIBUTES}
    assert {module: found for module, found in known.items() if found} == {}


def names(path: Path) -> Iterator[str]:
    """Yield the attributes of other objects that a module uses; those of `self` too, in the module that patches."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Attribute):
            is_own = isinstance(node.value, ast.Name) and node.value.id == "self"
            if not is_own or path.name == "steady.py":
                yield node.attr
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and path.name == "steady.py":
            yield node.name


def digest(name: str) -> str:
    return hashlib.sha256(inspect.getsource(getattr(Client, name)).encode()).hexdigest()[:16]
