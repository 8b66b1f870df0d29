"""Write the state diagrams into the docs: `python tools/diagrams.py`."""

import re
from pathlib import Path

from covey.core.diagram import delivery_diagram, task_diagram, ticket_diagram

PAGE = Path(__file__).parent.parent / "docs" / "explanation" / "ledger.md"
BLOCK = re.compile(r"```mermaid\n(.*?)```\n", re.DOTALL)


def main() -> None:
    """Put each diagram into its block, in the order of the page."""
    diagrams = iter((delivery_diagram(), ticket_diagram(), task_diagram()))
    page = BLOCK.sub(lambda _: f"```mermaid\n{next(diagrams)}```\n", PAGE.read_text(encoding="utf-8"))
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
