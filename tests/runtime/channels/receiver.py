"""A receiver of webhooks, as a program: it handles each request as its arguments say, and keeps a book.

    python -m tests.runtime.channels.receiver PORT BOOK [BEHAVIOUR …]

`ok` takes a post, `STATUS` or `STATUS:RETRY-AFTER` refuses it, `hang` takes it and never answers, `lose` takes it and
closes the connection, `drop` closes the connection without taking the post, `drip` answers a byte at a time. After the
last behaviour, every request is ok. A post whose key is in the book is answered and not taken again.
"""

import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import cast

LOCK = threading.Lock()
SOON_S = 60.0


class Receiver(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, port: int, book: Path, behaviours: list[str]) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.book = book
        self.behaviours = behaviours
        self.known = {line["key"] for line in read_book(book) if line["taken"]}

    def note(self, handler: "Handler", body: bytes, behaviour: str) -> None:
        """Write one request into the book."""
        key = handler.headers["Idempotency-Key"]
        takes = behaviour in ("ok", "hang", "lose", "drip")
        line = {
            "key": key,
            "taken": takes and key not in self.known,
            "behaviour": behaviour,
            "path": handler.path,
            "headers": dict(handler.headers),
            "raw": body.decode(),
            "body": json.loads(body),
        }
        if takes:
            self.known.add(key)
        with self.book.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        receiver = cast(Receiver, self.server)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with LOCK:
            behaviour = receiver.behaviours.pop(0) if receiver.behaviours else "ok"
            receiver.note(self, body, behaviour)
        if behaviour == "hang":
            time.sleep(SOON_S)
        elif behaviour == "drip":
            for byte in b"HTTP/1.1 200 OK\r\n" * 1000:
                self.wfile.write(bytes([byte]))
                time.sleep(0.05)
        elif behaviour not in ("lose", "drop"):
            self._answer(behaviour)
        self.close_connection = True

    def _answer(self, behaviour: str) -> None:
        status, _, after = behaviour.partition(":")
        content = b'{"code": 0}' if behaviour == "ok" else b"not\x1b[31m now"
        self.send_response(200 if status == "ok" else int(status))
        self.send_header("Content-Length", str(len(content)))
        if after:
            self.send_header("Retry-After", after)
        if status.startswith("3"):
            self.send_header("Location", "http://127.0.0.1:1/")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002 - the base names it so


def read_book(book: Path) -> list[dict[str, object]]:
    """Return all complete lines of a book."""
    if not book.exists():
        return []
    return [json.loads(line) for line in book.read_text(encoding="utf-8").split("\n")[:-1]]


if __name__ == "__main__":
    with Receiver(int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]) as server:
        print(server.server_address[1], flush=True)
        server.serve_forever()
