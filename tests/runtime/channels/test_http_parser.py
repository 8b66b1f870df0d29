"""For any input, the parser returns a request, nothing or a refusal, and never waits after the end of the input."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from covey.runtime.channels.http_listener import MAX_BODY, Request, UnreadableRequest, read_request

LIMIT_S = 10.0

LINES = st.sampled_from(
    [
        b"POST / HTTP/1.1",
        b"GET /c?x=1 HTTP/1.0",
        b"CONNECT h:1 HTTP/1.1",
        b"Host: x",
        b"Content-Length: 3",
        b"Content-Length: 99999999999999999999",
        b"Transfer-Encoding: chunked",
        b"Expect: 100-continue",
        b"Upgrade: h2c",
        b"Connection: close",
        b"3",
        b"abc",
        b" folded",
        b"",
    ]
)
ENDS = st.sampled_from([b"\r\n", b"\n", b"\r", b"\x00", b""])


@st.composite
def nearly_http(draw: st.DrawFn) -> bytes:
    lines = draw(st.lists(st.tuples(st.one_of(LINES, st.binary(max_size=8)), ENDS), max_size=12))
    return b"".join(line + end for line, end in lines)


async def outcome(content: bytes) -> Request | UnreadableRequest | None:
    reader = asyncio.StreamReader()
    reader.feed_data(content)
    reader.feed_eof()
    async with asyncio.timeout(LIMIT_S):
        try:
            return await read_request(reader)
        except UnreadableRequest as error:
            return error


@given(st.one_of(st.binary(), nearly_http()))
def test_any_bytes_give_a_request_nothing_or_a_refusal(content: bytes) -> None:
    match asyncio.run(outcome(content)):
        case None:
            assert not content
        case Request(target=target, body=body):
            assert target.startswith("/")
            assert len(body) <= MAX_BODY
        case error:
            assert error.status in (400, 411, 413, 431)
            assert str(error).isascii()
