"""Framed text: a text of another agent between tags that name its origin, beside lines of Covey."""

from covey.core.render_escape import attribute, harmless


def enclosed(tag: str, text: str, **named: str) -> str:
    """Return a text between an opening tag with these attributes and a closing tag. The text can't close the frame."""
    attributes = "".join(f' {name.rstrip("_")}="{attribute(value)}"' for name, value in named.items() if value)
    return f"<{tag}{attributes}>\n{harmless(text)}\n</{tag}>"
