"""A cluster whose nodes can lose each other and keep their clients: each is in a separate network namespace.

For a program that is alone in a network namespace (`in_a_network_of_its_own`). The program is the hub through which the
nodes reach each other, and the clients run there.
"""

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.nats.machines import ROOT, Held, NoNamespaces
from tests.nats.servers import Address, Cluster, NatsServer, jetstream

NODES = 3
PORT = 4222


class Node(NatsServer):
    """A node at 10.77.N.2."""

    def __init__(self, number: int, held: Held, folder: Path) -> None:
        self._held = held
        self._number = number
        routes = [f"nats://10.77.{n}.2:6222" for n in range(1, NODES + 1)]
        cluster = {"name": "covey", "listen": f"10.77.{number}.2:6222", "routes": routes}
        super().__init__(folder, {"server_name": f"n{number - 1}", "cluster": cluster, **jetstream(folder)})

    def command(self) -> list[str]:
        return [*self._held.enter, *super().command()]

    def choose_addresses(self) -> tuple[Address, Address]:
        host = f"10.77.{self._number}.2"
        return Address(host, PORT), Address(host, 8222)

    def lose_the_others(self) -> None:
        """Cut this node off from the other nodes; clients can still connect."""
        self._route("add")

    def find_the_others(self) -> None:
        self._route("del")

    def _route(self, what: str) -> None:
        for number in range(1, NODES + 1):
            if number != self._number:
                self._held.run("ip", "route", what, "blackhole", f"10.77.{number}.2/32")


@contextmanager
def three_nodes_apart(folder: Path) -> Generator[Cluster]:
    """Provide a cluster of three nodes that can be cut off from each other. This process must be alone in a network."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
    with ExitStack() as stack:
        nodes: list[Node] = []
        for number in range(1, NODES + 1):
            held = Held("unshare", "-n", "-u")
            stack.callback(held.close)
            words = ["ip", "link", "add", f"to-{number}", "type", "veth", "peer", "name", "eth0"]
            subprocess.run([*words, "netns", str(held.process.pid)], check=True)
            subprocess.run(["ip", "addr", "add", f"10.77.{number}.1/24", "dev", f"to-{number}"], check=True)
            subprocess.run(["ip", "link", "set", f"to-{number}", "up"], check=True)
            held.run("ip", "addr", "add", f"10.77.{number}.2/24", "dev", "eth0")
            held.run("ip", "link", "set", "eth0", "up")
            held.run("ip", "route", "add", "default", "via", f"10.77.{number}.1")
            nodes.append(Node(number, held, folder / f"n{number - 1}"))
        for node in nodes:
            stack.callback(node.stop)
        cluster = Cluster(nodes)
        cluster.start()
        yield cluster


def in_a_network_of_its_own(*words: str, limit_s: float) -> None:
    """Run a Python program alone in a network; it must succeed. Raise NoNamespaces if no network can be created."""
    prefix = ["unshare", "-U", "-r", "-n"]
    try:
        probe = subprocess.run([*prefix, "true"], capture_output=True, text=True, check=False)
    except OSError as error:
        raise NoNamespaces(str(error)) from error
    if probe.returncode != 0:
        raise NoNamespaces(probe.stderr)
    command = [*prefix, sys.executable, *words]
    ended = subprocess.run(command, cwd=ROOT, env=os.environ, timeout=limit_s, check=False)
    assert ended.returncode == 0, f"{words} ended with {ended.returncode}"
