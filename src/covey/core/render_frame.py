"""A text of others in a frame of its own, beside lines of ours: a tag that says whose it is."""

from covey.core.render_escape import attribute, harmless


def enclosed(tag: str, text: str, **named: str) -> str:
    """Return a text between an opening tag with these attributes and a closing one. Nothing in the text ends it."""
    attributes = "".join(f' {name.rstrip("_")}="{attribute(value)}"' for name, value in named.items() if value)
    return f"<{tag}{attributes}>\n{harmless(text)}\n</{tag}>"
