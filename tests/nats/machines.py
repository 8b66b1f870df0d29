"""Several machines on one: each with a separate network, host name, home and runtime folder.

This uses network namespaces. Root can create them, and other users can if user namespaces are allowed. A machine
reaches only the hub, where the server runs. Without namespaces, each machine reaches the server at a different loopback
address, and nothing isolates it. Everything is gone with the process that holds it.
"""

import os
import subprocess
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.nats.servers import jetstream, program

ROOT = Path(__file__).parents[2]
LIMIT_S = 30.0
HOLD = "ip link set lo up && echo ready && exec cat"
"""Keeps a namespace until its input ends."""


class Machine(NamedTuple):
    name: str
    server: str
    """HOST:PORT of the server, as this machine reaches it."""
    inside: Sequence[str]
    """The prefix of a command that runs it on this machine."""
    env: Mapping[str, str]

    def url(self, space: str) -> str:
        return f"nats://{self.server}/{space}"

    def start(self, *words: str, **more: str) -> "subprocess.Popen[str]":
        """Start a Python program on this machine."""
        return subprocess.Popen(
            [*self.inside, sys.executable, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**self.env, **more},
        )

    def run(self, *words: str, **more: str) -> str:
        """Run a Python program on this machine. It must succeed. Return its output."""
        with self.start(*words, **more) as process:
            said, _ = process.communicate(timeout=LIMIT_S)
        assert process.returncode == 0, f"{words} ended with {process.returncode}: {said}"
        return said


class Held:
    """The namespaces of a process that only holds them."""

    def __init__(self, *words: str) -> None:
        self.process = subprocess.Popen(
            [*words, "sh", "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        if self.process.stdout.readline() != "ready\n":
            assert self.process.stderr is not None
            raise NoNamespaces(self.process.stderr.read() or "they can't be made")

    @property
    def enter(self) -> Sequence[str]:
        """The prefix of a command that runs it in these namespaces."""
        is_own = Path("/proc/self/ns/user").readlink() == Path(f"/proc/{self.process.pid}/ns/user").readlink()
        user = () if is_own else ("-U", "--preserve-credentials")
        return ("nsenter", "-t", str(self.process.pid), "-n", "-u", *user)

    def run(self, *words: str) -> None:
        subprocess.run([*self.enter, *words], check=True, timeout=LIMIT_S)

    def close(self) -> None:
        self.process.communicate(timeout=LIMIT_S)


class NoNamespaces(Exception):
    """Namespaces can't be created here."""


@contextmanager
def machines(folder: Path, names: Sequence[str]) -> Generator[Sequence[Machine]]:
    """Provide machines with these names. All of them can reach one server, which runs on none of them."""
    with ExitStack() as stack:
        try:
            found = _apart(folder, names, stack)
        except (NoNamespaces, OSError) as error:
            print(f"no network namespaces ({error}): the machines differ by loopback address")
            found = _beside(folder, names, stack)
        yield found


def _apart(folder: Path, names: Sequence[str], stack: ExitStack) -> Sequence[Machine]:
    hub = Held("unshare", "-U", "-r", "-n", "-u")
    stack.callback(hub.close)
    found: list[Machine] = []
    for n, name in enumerate(names, 1):
        # The namespace is below the hub's user namespace, so that the hub may put its end of the cable there.
        held = Held(*hub.enter, "unshare", "-n", "-u")
        stack.callback(held.close)
        held.run("hostname", name)
        hub.run(
            "ip", "link", "add", f"to-{name}", "type", "veth", "peer", "name", "eth0", "netns", str(held.process.pid)
        )
        hub.run("ip", "addr", "add", f"10.77.{n}.1/24", "dev", f"to-{name}")
        hub.run("ip", "link", "set", f"to-{name}", "up")
        held.run("ip", "addr", "add", f"10.77.{n}.2/24", "dev", "eth0")
        held.run("ip", "link", "set", "eth0", "up")
        found.append(Machine(name, f"10.77.{n}.1:4222", held.enter, _environment(folder, name)))
    _serve(folder, "0.0.0.0:4222", hub.enter, stack)
    return found


def _beside(folder: Path, names: Sequence[str], stack: ExitStack) -> Sequence[Machine]:
    port = _serve(folder, "0.0.0.0:-1", (), stack)
    return [Machine(name, f"127.0.0.{n}:{port}", (), _environment(folder, name)) for n, name in enumerate(names, 2)]


def _environment(folder: Path, name: str) -> Mapping[str, str]:
    """Return the environment of a machine. Of Covey's variables, only those for its folders are set."""
    home = folder / name
    home.mkdir(parents=True)
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("COVEY_", "XDG_"))}
    return {**kept, "HOME": str(home), "COVEY_RUNTIME_DIR": str(home / "r")}


def _serve(folder: Path, listen: str, inside: Sequence[str], stack: ExitStack) -> int:
    """Start a server. Return its port when it is ready."""
    home = folder / "server"
    home.mkdir()
    store = jetstream(home)["jetstream"]
    config = f'listen: "{listen}"\njetstream: {{store_dir: "{store["store_dir"]}", max_file_store: 1GB}}\n'
    (home / "server.conf").write_text(config)
    process = subprocess.Popen([*inside, program(), "-c", str(home / "server.conf")], stderr=subprocess.PIPE, text=True)
    stack.callback(process.wait, LIMIT_S)
    stack.callback(process.terminate)
    assert process.stderr is not None
    port = 0
    for line in process.stderr:
        if "Listening for client connections on" in line:
            port = int(line.rpartition(":")[2])
        if "Server is ready" in line:
            # The pipe is not read any further: the server writes little, and a pipe has much more room.
            stack.callback(process.stderr.close)
            return port
    raise AssertionError("the server did not start")
