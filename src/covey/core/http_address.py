"""The address of an HTTP server: HOST:PORT, on the loopback interface by default."""

from typing import Final, NamedTuple

from covey.core.errors import Invalid

LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
USUAL_PORT: Final = 8677
LAST_PORT: Final = 65_535


class HttpAddress(NamedTuple):
    host: str = LOOPBACK[0]
    port: int = USUAL_PORT
    """0 for any free port."""

    @property
    def is_loopback(self) -> bool:
        return self.host in LOOPBACK

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_http_address(text: str) -> HttpAddress:
    """Parse an address: HOST:PORT, a port alone, or a host alone."""
    if text.isdecimal():
        return HttpAddress(port=_port(text, text))
    host, colon, port = text.rpartition(":")
    if not colon or text.endswith("]"):
        host, port = text, str(USUAL_PORT)
    host = host.removeprefix("[").removesuffix("]") or LOOPBACK[0]
    if any(letter.isspace() or letter in "/@" for letter in host):
        raise Invalid("address", text, "use HOST:PORT, such as 127.0.0.1:8677")
    return HttpAddress(host, _port(port, text))


def _port(port: str, text: str) -> int:
    if not port.isdecimal() or int(port) > LAST_PORT:
        raise Invalid("address", text, "use HOST:PORT, such as 127.0.0.1:8677")
    return int(port)
