"""The child that sent a letter, in renderings: label, session key, run and status tell children apart."""

from covey.core.attention import Letter, Ways
from covey.core.json import Json
from covey.core.render_escape import one_line


def child_fields(letter: Letter, ways: Ways) -> dict[str, str]:
    """Return the fields for the child that sent a letter. Return none if no child sent it, or if the reader is a
    coordinator and the letter has fields for the child's work."""
    child = letter.child
    if child is None or (ways.worker and letter.work is not None):
        return {}
    told = {"label": child.label, "session": child.session, "run": child.run, "status": child.status}
    return {name: value for name, value in told.items() if value}


def child_entry(letter: Letter, ways: Ways) -> Json:
    """Return the fields of `child_fields` as an object, or None without any."""
    return {name: one_line(value) for name, value in child_fields(letter, ways).items()} or None


def child_line(letter: Letter, ways: Ways) -> str:
    """Return the fields of `child_fields` as words that follow the letter's sender and time; empty without any."""
    told = [f"{name} {one_line(value)}" for name, value in child_fields(letter, ways).items()]
    return f" [child: {', '.join(told)}]" if told else ""
