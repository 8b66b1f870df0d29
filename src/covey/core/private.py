"""Private settings: what a space needs to know and tells no other one, such as the secret of a webhook."""

from typing import Final

PRIVATE: Final = "private."
"""What their names begin with. No export has them, no listing and no journal."""


def is_private(setting: str) -> bool:
    """Tell whether a setting stays in its space."""
    return setting.startswith(PRIVATE)
