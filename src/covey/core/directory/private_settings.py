"""Private settings: settings that never leave their space, such as the secret of a webhook."""

from typing import Final

PRIVATE: Final = "private."
"""The prefix of their names. Exports, listings and the journal leave private settings out."""


def is_private(setting: str) -> bool:
    """Tell whether a setting stays in its space."""
    return setting.startswith(PRIVATE)
