"""The verb `covey mcp` of the command line. Nothing here needs the extra: help and completion work without it."""

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import Protocol, cast

from covey.core.errors import ExtraMissing, Invalid
from covey.core.http import HttpAddress, HttpLimits, check_limits, parse_http_address
from covey.core.json import Json
from covey.core.names import parse_agent_name
from covey.core.store_url import StoreUrl
from covey.toolkits.catalogue import DEFAULT, HOMES, toolkit

DESCRIPTION = """\
Serve the tools of a toolkit to an MCP client. On stdin and stdout, for the client that starts this program: it is one
session of an agent, with a name from --as or COVEY_AGENT or a new one (agentA, …), and ends when the client is gone.
With --http for clients that connect: each shows a token (`covey token create`) in its header Authorization: Bearer."""
EXAMPLES = """\
examples:
  covey mcp --as coder
  covey mcp --toolkit peers,broadcast
  covey mcp --http
  covey mcp --http 127.0.0.1:9000 --root ./shared"""

NEEDED = ("anyio", "h11", "mcp", "mcp_types", "starlette", "uvicorn")
"""The modules of the extra. An older version of mcp lacks some of them."""


LIMITS = HttpLimits()


class CommandOutput(Protocol):
    """The output of the command line, for a person or a program."""

    as_json: bool

    def note(self, line: str) -> None: ...
    def text(self, line: str = "") -> None: ...
    def json(self, value: Json) -> None: ...
    def flush(self) -> None: ...


class CommandCall(Protocol):
    """The parts of a command-line call that this verb needs."""

    options: Namespace

    @property
    def url(self) -> StoreUrl: ...
    @property
    def output(self) -> CommandOutput: ...
    def tell_of_new_space(self, *, comes_now: bool = False) -> None: ...


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--toolkit",
        metavar="NAME[,NAME]",
        default=DEFAULT,
        help=f"which tools: {', '.join(HOMES)} (default {DEFAULT})",
    )
    parser.add_argument(
        "--http",
        nargs="?",
        const=str(HttpAddress()),
        metavar="HOST:PORT",
        help=f"serve over HTTP, by default on {HttpAddress()}; port 0 takes any that is free",
    )
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="HOST[:PORT]",
        help="with --http: another name that requests may come for, such as a proxy's",
    )
    for name, kind, value, about in (
        ("connections", int, LIMITS.connections, "how many connections it serves at once"),
        ("per-token", int, LIMITS.per_token, "how many requests and streams a token may have open"),
        ("sessions", int, LIMITS.sessions, "how many sessions a token may have open"),
        ("request-timeout", float, LIMITS.request_s, "how many seconds a request may take to come in"),
    ):
        parser.add_argument(
            f"--{name}", type=kind, default=value, metavar="N", help=f"with --http: {about} (default {value:g})"
        )
    parser.add_argument(
        "--root",
        action="append",
        metavar="DIR",
        help="a folder that files may be attached from; may be repeated. By default this folder, with --http none",
    )


def run(call: CommandCall) -> int:
    options, output = call.options, call.output
    kit = toolkit(options.toolkit)
    given = options.actor or os.environ.get("COVEY_AGENT")
    name = parse_agent_name(given) if given else None
    address = parse_http_address(options.http) if options.http else None
    if address is not None and options.actor:
        raise Invalid("agent", options.actor, "over HTTP each client is who its token stands for")
    limits = check_limits(HttpLimits(options.connections, options.per_token, options.sessions, options.request_timeout))
    roots = _roots(options.root, is_for_others=address is not None)
    url = call.url
    try:
        from covey.surfaces.mcp import program
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in NEEDED:
            raise ExtraMissing("covey mcp", "mcp") from error
        raise

    def tell(where: str) -> None:
        if output.as_json:
            output.json({"url": where})
        else:
            output.text(f"Serving MCP on {where}; Ctrl-C ends it.")
        output.flush()

    call.tell_of_new_space(comes_now=True)
    if address is not None:
        program.run_until_told(
            lambda ending: program.serve_http(url, roots, kit, address, options.allow_host, limits, tell, ending)
        )
        return 0
    if cast(object, sys.stdin) is None:  # a closed descriptor makes it None; the type stubs deny that
        raise Invalid("stdin", None, "an MCP client talks to this program there")
    if sys.stdin.isatty():
        output.note("This speaks MCP on stdin and stdout: it is for an MCP client to start. Ctrl-C ends it.")
    program.run_until_told(lambda ending: program.serve_stdio(url, roots, kit, name, ending))
    return 0


MCP = (arguments, run, DESCRIPTION, EXAMPLES)
"""The verb, as the catalogue of the command line loads it."""


def _roots(given: Sequence[str] | None, *, is_for_others: bool) -> Sequence[str]:
    """Return the folders that files may be attached from. The default on stdio is this folder, in which the client
    works too. Clients that connect over HTTP work elsewhere, and get only the folders that were given."""
    for root in given or ():
        if not os.path.isdir(os.path.expanduser(root)):  # noqa: PTH111, PTH112 - pathlib is not needed for help
            raise Invalid("--root", root, "there is no such folder")
    return given if given is not None else () if is_for_others else (".",)
