"""Real nats-server processes: one node or three, with permissions or TLS, on free loopback ports.

Each start waits until the server can be used. A server is stopped by its process id.
"""

import errno
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import randrange
from typing import Any, NamedTuple

LIMIT_S = 30.0
PAUSE_S = 0.02
PORTS = (10_000, 32_000)
LOOPBACK = ("127.0.0.1", "127.0.0.2", "127.0.0.3")
"""The addresses of a cluster's nodes, as far as one machine can have several."""
LANES = 16
"""Number of port lanes.

Test workers run concurrently, and another worker could choose a port before it is in use. So each worker chooses only
ports of its own lane.
"""
LANE = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % LANES
_given: set[int] = set()


def program() -> str:
    """Return the path of the server program, which comes with the development dependencies."""
    beside = Path(sys.executable).parent / "nats-server"
    found = str(beside) if beside.exists() else shutil.which("nats-server")
    assert found is not None, "nats-server is missing: make setup"
    return found


class Address(NamedTuple):
    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


def free_address(host: str = LOOPBACK[0]) -> Address:
    """Return an address without a listener; on the first loopback address if the host has no other.

    The port is below the ephemeral range: a connection with an ephemeral port could take the port of a node that is
    down.
    """
    while True:
        port = randrange(*PORTS, LANES) + LANE
        with socket.socket() as probe:
            try:
                probe.bind((host, port))
            except OSError as error:
                if error.errno == errno.EADDRNOTAVAIL:
                    host = LOOPBACK[0]
                continue
        if port not in _given:
            _given.add(port)
            return Address(host, port)


class NatsServer:
    """One node. It keeps its addresses and its store across restarts."""

    def __init__(self, folder: Path, config: Mapping[str, Any], host: str = LOOPBACK[0], include: str = "") -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._host = host
        self.address, self._monitor = self.choose_addresses()
        self._config = folder / "server.conf"
        self._include = include
        self._process: subprocess.Popen[bytes] | None = None
        self.configure(config)

    @property
    def url(self) -> str:
        return f"nats://{self.address}"

    @property
    def monitor(self) -> str:
        return f"http://{self._monitor}"

    @property
    def pid(self) -> int:
        assert self._process is not None, "the server is not running"
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process is not None

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text()

    def choose_addresses(self) -> tuple[Address, Address]:
        """Return the address for clients, and that of the monitor."""
        return free_address(self._host), free_address(self._host)

    def command(self) -> list[str]:
        """Return the command that starts the server."""
        return [program(), "-c", str(self._config)]

    def configure(self, config: Mapping[str, Any]) -> None:
        """Write the configuration for the next start."""
        lines = {"listen": str(self.address), "http": str(self._monitor), **config}
        text = "".join(f"{key}: {json.dumps(value)}\n" for key, value in lines.items())
        if self._include:
            (self.folder / "included.conf").write_text(self._include)
            text += "include ./included.conf\n"
        self._config.write_text(text)

    def start(self) -> None:
        """Start the server, and return when it listens."""
        assert self._process is None, "the server is running"
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.until("/healthz?js-enabled-only=true", lambda status, _: status in (200, 400))

    def until_healthy(self) -> None:
        """Return when the node has caught up with its cluster."""
        self.until("/healthz", lambda status, _: status == 200)

    def until(self, path: str, holds: Callable[[int, Any], bool]) -> Any:
        """Query the monitor until `holds` is true for the status and content of the answer. Return the content."""
        end = time.monotonic() + LIMIT_S
        while True:
            try:
                status, content = self.ask(path)
                if holds(status, content):
                    return content
            except OSError:
                status = None
            assert self._process is not None
            assert self._process.poll() is None, f"the server has ended:\n{self.log[-2000:]}"
            assert time.monotonic() < end, f"{path} said {status} for {LIMIT_S:g} s:\n{self.log[-2000:]}"
            time.sleep(PAUSE_S)

    def ask(self, path: str) -> tuple[int, Any]:
        """Return the monitor's answer: status and content."""
        connection = http.client.HTTPConnection(self._monitor.host, self._monitor.port, timeout=5)
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, json.loads(response.read() or b"null")
        finally:
            connection.close()

    def reload(self) -> None:
        """Let the server read its configuration again."""
        os.kill(self.pid, signal.SIGHUP)

    def stop(self) -> None:
        """Stop the server in order, and return when it is gone."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """Kill the server, and return when it is gone."""
        self._end(signal.SIGKILL)

    def restart(self) -> None:
        self.stop()
        self.start()

    def cut_off(self) -> None:
        """Suspend the process: for the other nodes and its clients, this looks like a lost network."""
        os.kill(self.pid, signal.SIGSTOP)
        os.waitid(os.P_PID, self.pid, os.WSTOPPED)  # until then it may still answer

    def rejoin(self) -> None:
        """Resume the process."""
        os.kill(self.pid, signal.SIGCONT)

    def _end(self, how: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(signal.SIGCONT)
        process.send_signal(how)
        try:
            process.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(LIMIT_S)
            raise


def jetstream(folder: Path, **settings: Any) -> dict[str, Any]:
    """Return the part of a configuration that lets a server keep streams in the folder."""
    return {"jetstream": {"store_dir": str(folder / "store"), "max_file_store": 1 << 30, **settings}}


@contextmanager
def one_node(
    folder: Path, config: Mapping[str, Any] | None = None, *, include: str = "", **settings: Any
) -> Generator[NatsServer]:
    """Provide a single server. `config` is added to its configuration, `settings` to that of JetStream."""
    server = NatsServer(folder, {**jetstream(folder, **settings), **(config or {})}, include=include)
    try:
        server.start()
        yield server
    finally:
        server.stop()


class Cluster:
    """Three nodes that know each other, each on a different loopback address."""

    def __init__(self, nodes: Sequence[NatsServer]) -> None:
        self.nodes = nodes

    @property
    def url(self) -> str:
        """The URL with all nodes, in the form of a store URL."""
        return "nats://" + ",".join(str(node.address) for node in self.nodes)

    def start(self) -> None:
        """Start all nodes, and return when they have a leader and have caught up."""
        for node in self.nodes:
            node.start()
        self.until_led()
        for node in self.nodes:
            node.until_healthy()

    def until_led(self) -> NatsServer:
        """Wait until the cluster has a leader, and return that node."""
        alive = next(node for node in self.nodes if node.is_running)
        jsz = alive.until("/jsz", lambda status, found: status == 200 and bool(found["meta_cluster"].get("leader")))
        return self.named(jsz["meta_cluster"]["leader"])

    def named(self, name: str) -> NatsServer:
        return self.nodes[int(name[1:])]

    def leader_of(self, stream: str) -> NatsServer:
        """Wait until a stream has a leader, and return that node."""
        alive = next(node for node in self.nodes if node.is_running)
        found: Any = alive.until("/jsz?streams=true&accounts=true", lambda _, jsz: leader_in(jsz, stream) is not None)
        return self.named(leader_in(found, stream) or "")

    def stop(self) -> None:
        for node in self.nodes:
            node.stop()


def leader_in(jsz: Any, stream: str) -> str | None:
    """Return the leader of a stream, from a monitor's answer."""
    for account in jsz.get("account_details") or ():
        for detail in account.get("stream_detail") or ():
            if detail["name"] == stream:
                return detail["cluster"].get("leader")
    return None


@contextmanager
def three_nodes(
    folder: Path, config: Mapping[str, Any] | None = None, *, include: str = "", **settings: Any
) -> Generator[Cluster]:
    """Provide a cluster of three nodes."""
    routes = [free_address(host) for host in LOOPBACK]
    nodes: list[NatsServer] = []
    for n, route in enumerate(routes):
        home = folder / f"n{n}"
        cluster = {"name": "covey", "listen": str(route), "routes": [f"nats://{other}" for other in routes]}
        own = {"server_name": f"n{n}", "cluster": cluster, **jetstream(home, **settings), **(config or {})}
        nodes.append(NatsServer(home, own, LOOPBACK[n], include))
    with ExitStack() as stack:
        for node in nodes:
            stack.callback(node.stop)
        whole = Cluster(nodes)
        whole.start()
        yield whole
