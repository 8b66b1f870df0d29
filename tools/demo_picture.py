"""Make the picture of the demo from a real run in a real terminal: `python tools/demo_picture.py`."""

import contextlib
import fcntl
import os
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple
from xml.sax.saxutils import escape

PICTURE: Final = Path(__file__).parent.parent / "docs" / "images" / "demo.svg"
PROMPT: Final = "$ covey demo"
SHOWN: Final = ("3. ", "4. ", "What the ledger says")
"""The parts in the picture: a whole run would be too tall for a page. A line with dots stands for omitted parts."""

COLUMNS, ROWS = 80, 24
LIMIT_S: Final = 60.0
CELL, LEADING, EDGE = 8.4, 20, 24

_CODES: Final = re.compile(r"\x1b\[([0-9;]*)m")
_CLASSES: Final = {"1": "bold", "2": "dim", "3": "italic"} | dict(
    zip(("31", "32", "33", "34", "35", "36"), ("red", "green", "yellow", "blue", "magenta", "cyan"), strict=True)
)
STYLE: Final = """
  .paper { fill: #ffffff; stroke: #d0d7de; }
  text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #1f2328; }
  .bold { font-weight: 600; } .italic { font-style: italic; } .dim { fill: #6e7781; }
  .red { fill: #cf222e; } .green { fill: #1a7f37; } .yellow { fill: #9a6700; }
  .blue { fill: #0969da; } .magenta { fill: #8250df; } .cyan { fill: #1b7c83; }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #0d1117; stroke: #30363d; }
    text { fill: #e6edf3; } .dim { fill: #8b949e; }
    .red { fill: #ff7b72; } .green { fill: #3fb950; } .yellow { fill: #d29922; }
    .blue { fill: #58a6ff; } .magenta { fill: #bc8cff; } .cyan { fill: #39c5cf; }
  }
"""


class Run(NamedTuple):
    """Letters in one style, and the column of the first."""

    column: int
    text: str
    classes: str


def recorded() -> str:
    """Run the demo in a terminal of 80 columns. Return its output, including colours."""
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    scripts = Path(sys.executable).parent  # with `covey` on the path, as after an installation
    path = os.pathsep.join((str(scripts), os.environ["PATH"]))
    environment = {"PATH": path, "TERM": "xterm-256color", "LANG": "C.UTF-8"}
    with subprocess.Popen([scripts / "covey", "demo"], stdout=slave, stderr=slave, env=environment) as demo:
        os.close(slave)
        written = b"".join(_chunks(master))
        os.close(master)
        if demo.wait(LIMIT_S) != 0:
            raise SystemExit(written.decode())
    return written.decode().replace("\r", "")


def _chunks(master: int) -> Iterator[bytes]:
    with contextlib.suppress(OSError):  # Linux reports the closed side of a terminal in this way
        while chunk := os.read(master, 65_536):
            yield chunk


def excerpt(lines: Sequence[str]) -> Sequence[str]:
    """Return the opening and the shown parts, with dots between them."""
    parts: list[list[str]] = [[]]
    for line in lines:
        if _CODES.sub("", line).startswith("── "):
            parts.append([])
        parts[-1].append(line)
    opening, *acts = parts
    chosen = [act for act in acts if any(f"── {title}" in _CODES.sub("", act[0]) for title in SHOWN)]
    told = [line for line in opening[:3] if line]
    return [PROMPT, *told, "", "\x1b[2m…\x1b[0m", "", *(line for act in chosen for line in act)]


def runs(line: str) -> Iterator[Run]:
    """Yield the pieces of a line, each in one style."""
    column, classes = 0, ""
    pieces = _CODES.split(line)
    for n, piece in enumerate(pieces):
        if n % 2 == 1:
            codes = [code for code in piece.split(";") if code not in ("", "0")]
            classes = " ".join(_CLASSES[code] for code in codes)
        elif piece:
            yield Run(column, piece, classes)
            column += len(piece)


def picture(lines: Sequence[str], title: str = "A run of covey demo") -> str:
    """Return the lines of a terminal as an SVG that follows the reader's light or dark theme."""
    width, height = round(COLUMNS * CELL + 2 * EDGE), LEADING * len(lines) + 2 * EDGE
    texts = [
        _text(run, EDGE + LEADING * (n + 1) - 6)
        for n, line in enumerate(lines)
        for run in runs(line)
        if run.text.strip()
    ]
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="{title}">',
            f"<title>{title}</title>",
            f"<style>{STYLE}</style>",
            f'<rect class="paper" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8"/>',
            *texts,
            "</svg>\n",
        )
    )


def _text(run: Run, y: int) -> str:
    stripped = run.text.lstrip(" ")
    x = EDGE + CELL * (run.column + len(run.text) - len(stripped))
    letters = stripped.rstrip(" ")
    look = f' class="{run.classes}"' if run.classes else ""
    # With a given length, each piece keeps its columns in any font.
    size = f'textLength="{CELL * len(letters):.1f}" lengthAdjust="spacingAndGlyphs"'
    return f'<text x="{x:.1f}" y="{y}" xml:space="preserve" {size}{look}>{escape(letters)}</text>'


def main() -> None:
    """Record the demo, choose the parts, and draw the picture."""
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    PICTURE.write_text(picture(excerpt(recorded().splitlines())), encoding="utf-8")


if __name__ == "__main__":
    main()
