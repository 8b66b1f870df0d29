"""One exchange over HTTP: a request and the beginning of its answer, in the calling thread."""

import socket
import ssl
from collections.abc import Mapping
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Final, NamedTuple
from urllib.parse import urlsplit

METHOD: Final = "POST"

MAX_ANSWER: Final = 16 * 1024
"""How much of an answer is read; receivers have little to say."""


class Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    """By lower-case names."""
    body: bytes
    """Its beginning."""


class Unreachable(Exception):
    """There is no answer: no name, no connection, none in time, or none that is HTTP."""


class Exchange:
    """A POST that can be broken off from another thread. Redirects are not followed: what was signed for one place is
    not for another."""

    def __init__(self, url: str, headers: Mapping[str, str], body: bytes, seconds: float) -> None:
        parts = urlsplit(url)
        self._target = target_of(url)
        self._headers = headers
        self._body = body
        host = parts.hostname or ""
        if parts.scheme == "https":
            context = ssl.create_default_context()
            self._connection = HTTPSConnection(host, parts.port, timeout=seconds, context=context)
        else:
            self._connection = HTTPConnection(host, parts.port, timeout=seconds)

    def run(self) -> Answer:
        """Return the answer, or raise Unreachable."""
        try:
            self._connection.request(METHOD, self._target, self._body, dict(self._headers))
            response = self._connection.getresponse()
            body = response.read(MAX_ANSWER)
            return Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, body)
        except TimeoutError:
            raise Unreachable("no answer in time") from None
        except ssl.SSLError as error:
            raise Unreachable(f"no secure connection: {error.reason or error}") from error
        except (OSError, HTTPException) as error:
            raise Unreachable(f"no answer: {_in_words(error)}") from error
        finally:
            self._connection.close()

    def break_off(self) -> None:
        """End what `run` waits for. Afterwards, or before it has begun, nothing happens."""
        connected = self._connection.sock
        if connected is not None:
            with suppress(OSError):
                connected.shutdown(socket.SHUT_RDWR)


def target_of(url: str) -> str:
    """Return what a request for a URL names: the path, with what comes after a question mark."""
    parts = urlsplit(url)
    return f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"


def _in_words(error: OSError | HTTPException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__
