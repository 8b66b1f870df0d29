"""The text of a message: the argument, or what stands on stdin."""

import sys

from covey.core.errors import Invalid, MessageTooLarge
from covey.core.limits import MAX_ENVELOPE_BYTES
from covey.core.parts import TextPart
from covey.surfaces.cli.output import Output

STDIN = "-"


def text_parts(given: str | None, output: Output, *, has_files: bool = False) -> tuple[TextPart, ...]:
    """Return the text of a message as its first part. Only one that carries files may do without, and for it a person
    who gave no text is not asked to type."""
    if given is None and has_files and _is_typed():
        return ()
    text = read_text(given, output)
    if text.strip():
        return (TextPart(text),)
    if has_files:
        return ()
    raise Invalid("text", None, "give it as an argument or on stdin")


def read_text(given: str | None, output: Output) -> str:
    """Return the text that was given, or stdin where it is - or nothing. A person at a terminal is told to type."""
    if given is not None and given != STDIN:
        return given
    if sys.stdin is None:
        raise Invalid("text", None, "stdin is closed: give it as an argument")
    if _is_typed():
        output.note("Type the message; Ctrl-D on a line of its own ends it.")
    # One byte more than can be sent is enough to know that it can't be, however much there is.
    content = sys.stdin.buffer.read(MAX_ENVELOPE_BYTES + 1)
    if len(content) > MAX_ENVELOPE_BYTES:
        raise MessageTooLarge(len(content), MAX_ENVELOPE_BYTES)
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise Invalid("text", content, "stdin is not UTF-8: attach what is no text with --file") from None


def _is_typed() -> bool:
    """Tell whether reading stdin waits for a person to type."""
    return sys.stdin is not None and sys.stdin.isatty()
