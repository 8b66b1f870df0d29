"""Look-alike characters, mapped to plain letters: for finding words in disguise."""

import re
import unicodedata
from typing import Final

_MARKS: Final = re.compile(
    "[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f\u200c\u200d\ufe0e\ufe0f]"
)
_TWINS: Final = str.maketrans(
    "АВЕЅІЈКМНОРСТУХаеѕіјорсухһԁԛԝᴦԌв"  # Cyrillic
    "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαεινορυτκ"  # Greek
    "ıɪʜʟɴʀʏʙɢꜱꜰᴀᴄᴅᴇᴊᴋᴍᴏᴘᴛᴜᴠᴡᴢɑɡℓ"  # small capitals and the like
    "꞉∶ː˸։׃：﹕︓",  # colons
    "ABESIJKMHOPCTYXaesijopcyxhdqwrGbABEZHIKMNOPTYXaeivopvtkiihlnrybgsfacdejkmoptuvwzagl:::::::::",
)


def as_it_looks(text: str) -> str:
    """Return a text with look-alike characters replaced by plain letters. The number of lines stays the same."""
    plain = unicodedata.normalize("NFKD", text).translate(_TWINS)
    return _MARKS.sub("", plain)
