"""Names of foreign programs on the peers' wire, mapped to names of agents."""

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from covey.core.errors import Invalid
from covey.core.names import AgentName, is_reserved, is_uuid_like

MAX_FOREIGN_NAME: Final = 128
SUFFIX: Final = "-wire"
_MOST_SUFFIXED: Final = 9
_OTHER = re.compile(r"[^A-Za-z0-9_-]+")
_ROOM: Final = 64 - len(SUFFIX) - 1


def parse_foreign_name(text: object) -> str:
    """Parse the name that a foreign program gives itself: printable, without spaces, and not reserved."""
    if not isinstance(text, str):
        raise Invalid("payload", type(text).__name__, "from_agent_id is a text")
    if not 0 < len(text) <= MAX_FOREIGN_NAME or not text.isprintable() or " " in text:
        raise Invalid("from_agent_id", text, f"use 1 to {MAX_FOREIGN_NAME} printable characters and no space")
    name = _mapped(text)
    if not name or is_uuid_like(name):
        raise Invalid("from_agent_id", text, "use letters or digits, and not the form of a uuid")
    if is_reserved(name):
        raise Invalid("from_agent_id", text, "the name is reserved")
    return text


def names_for(foreign: str) -> Iterator[AgentName]:
    """Yield the names that a foreign program may have in this space, the best one first. The later ones are for a
    program whose name belongs to another agent or program: `kate.v2` is kate-v2, else kate-v2-wire."""
    name = _mapped(foreign)
    yield AgentName(name)
    yield AgentName(f"{name}{SUFFIX}")
    for n in range(2, _MOST_SUFFIXED + 1):
        yield AgentName(f"{name}{SUFFIX}{n}")


def _mapped(foreign: str) -> str:
    return _OTHER.sub("-", unicodedata.normalize("NFKC", foreign)).strip("-")[:_ROOM]
