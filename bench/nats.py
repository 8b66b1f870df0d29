"""A space on NATS, compared with the bare client on the same server."""

import asyncio
from pathlib import Path
from typing import Any

from bench import nats_raw
from bench.figures import Row, ms, per_second, percentile
from bench.pending import grown
from bench.push import pushes
from bench.send_worker import senders
from bench.sends import make_sink
from bench.workers import together
from tests.nats.servers import NatsServer, one_node

IN_FLIGHT = 64


def space(server: NatsServer, name: str, folder: Path, machine: str = "here") -> str:
    """Return the URL of a space, for a machine whose replica is below the folder."""
    return f"{server.url}/{name}?cache={folder / machine / name}"


def streams(server: NatsServer) -> dict[str, dict[str, Any]]:
    """Return the state that the server reports for each of its streams, by name."""
    _, jsz = server.ask("/jsz?streams=true&accounts=true")
    details = [stream for account in jsz["account_details"] for stream in account["stream_detail"]]
    return {stream["name"]: stream["state"] for stream in details}


def nats_sends(folder: Path, seconds: float) -> Row:
    with one_node(folder / "server") as server:
        url = space(server, "sends", folder)
        asyncio.run(make_sink(url))
        before = asyncio.run(nats_raw.publishes(server.url, IN_FLIGHT, seconds / 2))
        records = streams(server)["covey_sends"]["last_seq"]
        sent = asyncio.run(senders(url, "sender", IN_FLIGHT, seconds))
        state = streams(server)["covey_sends"]
        after = asyncio.run(nats_raw.publishes(server.url, IN_FLIGHT, seconds / 2))
    raw = (before["count"] + after["count"]) / (before["elapsed"] + after["elapsed"])
    rate = sent["count"] / sent["elapsed"]
    publishes = (state["last_seq"] - records) / sent["count"]
    size = state["bytes"] / sent["count"]
    return Row(
        "NATS: acknowledged sends, 64 in flight, 1 KB",
        f"{per_second(rate)} (p50 {ms(sent['p50'])}, p99 {ms(sent['p99'])}); {publishes:.3f} publishes and "
        f"{size:,.0f} bytes of log each; raw publish_async {per_second(raw)} (p50 {ms(before['p50'])})",
        f"{rate / raw:.2f} × raw publish_async with 64 in flight",
        "at least 0.35 ×, aim 0.5 ×",
        {"rate": rate, "raw": raw, "publishes": publishes, "log_bytes": size, **sent},
    )


def nats_push(folder: Path, count: int) -> Row:
    with one_node(folder / "server") as server:
        stored = asyncio.run(nats_raw.publishes(server.url, 1, 2.0))
        heard = percentile(asyncio.run(nats_raw.pushes(server.url, count)), 0.5)
        far = asyncio.run(pushes(space(server, "far", folder), count, space(server, "far", folder, "there")))
        near = asyncio.run(pushes(space(server, "near", folder), count))
        again = asyncio.run(nats_raw.publishes(server.url, 1, 2.0))
    acknowledged = (stored["p50"] + again["p50"]) / 2
    raw = acknowledged + heard
    p50, p99 = percentile(far, 0.5), percentile(far, 0.99)
    return Row(
        "NATS: send → a process on another machine has it",
        f"p50 {ms(p50)}, p99 {ms(p99)}; on the same machine p50 {ms(percentile(near, 0.5))}; raw acknowledged publish "
        f"{ms(acknowledged)} + subscription {ms(heard)}",
        f"{p50 / raw:.2f} × raw acknowledged publish + subscription",
        "at most 3 ×",
        {"p50": p50, "p99": p99, "near": percentile(near, 0.5), "acknowledged": acknowledged, "heard": heard},
    )


def nats_growth(folder: Path, large: int) -> Row:
    with one_node(folder / "server", max_file_store=16 << 30) as server:
        return grown(lambda name: space(server, name, folder), large, "NATS: ")


def nats_crowd(folder: Path, size: int) -> Row:
    with one_node(folder / "server") as server:
        empty = memory_of(server)
        (whole,) = together("bench.crowd", [[space(server, "crowd", folder), str(size)]])
        _, varz = server.ask("/varz")
        _, jsz = server.ask("/jsz")
        held = streams(server)
    kept = sum(stream["bytes"] for stream in held.values())
    return Row(
        f"NATS: {size:,} live sessions in one process",
        f"{jsz['consumers']} consumers, {len(held)} streams with {kept / 1e6:.1f} MB, server {varz['mem'] / 1e6:.0f} "
        f"MB (empty {empty / 1e6:.0f}); broadcast to all {ms(whole['broadcast'])}, all have read it "
        f"{ms(whole['hear_all'])}, join {ms(whole['join_each'])} each",
        f"{(varz['mem'] - empty) / size / 1e3:.1f} KB of the server each",
        "reported",
        {"consumers": jsz["consumers"], "streams": len(held), "server": varz["mem"], "empty": empty, **whole},
    )


def memory_of(server: NatsServer) -> float:
    _, varz = server.ask("/varz")
    return float(varz["mem"])
