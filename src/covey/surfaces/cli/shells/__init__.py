"""Shell completion: one script for each shell, which asks covey for words."""

from typing import Final

SHELLS: Final = ("bash", "zsh", "fish")


def script(shell: str) -> str:
    """Return the script of a shell."""
    from pathlib import Path

    return Path(__file__).with_name(f"covey.{shell}").read_text(encoding="utf-8")
