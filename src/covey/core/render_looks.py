"""How a text looks to a reader, in plain letters: for finding what only looks like a word that matters."""

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
    """Return a text in the plainest letters that look the same. It has as many lines as before."""
    plain = unicodedata.normalize("NFKD", text).translate(_TWINS)
    return _MARKS.sub("", plain)
