"""The child that a letter is from, as its reader is told: label, session key, run and status tell children apart."""

from covey.core.attention import Letter, Ways
from covey.core.json import Json
from covey.core.render_escape import one_line


def child_fields(letter: Letter, ways: Ways) -> dict[str, str]:
    """Return what is told of the child that a letter is from, by name; nothing where it is from none, or the reader is
    a coordinator, who is told of its work."""
    child = letter.child
    if child is None or (ways.worker and letter.work is not None):
        return {}
    told = {"label": child.label, "session": child.session, "run": child.run, "status": child.status}
    return {name: value for name, value in told.items() if value}


def child_entry(letter: Letter, ways: Ways) -> Json:
    """Return the same as an object; None where there is none."""
    return {name: one_line(value) for name, value in child_fields(letter, ways).items()} or None


def child_line(letter: Letter, ways: Ways) -> str:
    """Return the same as words that go on after who sent the letter and when; empty where there is none."""
    told = [f"{name} {one_line(value)}" for name, value in child_fields(letter, ways).items()]
    return f" [child: {', '.join(told)}]" if told else ""
