"""Comparing: which files are not what they were when they were taken in or written, and which share an id."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from covey.adapters.files.judging import Content, digest_of, read
from covey.adapters.files.records import Row
from covey.core.errors import Invalid
from covey.core.layout import Layout
from covey.core.layouts import paper


class Compared(NamedTuple):
    changed: Sequence[str]
    """Paths of files whose content is another one now."""
    twice: Sequence[str]
    """Ids that several files of other programs have, each with the paths of these."""


def compare(root: str, layout: Layout, rows: Iterable[Row]) -> Compared:
    """Read every file that is known, and compare it with what is remembered of it."""
    changed: list[str] = []
    by_id: defaultdict[str, list[str]] = defaultdict(list)
    for row in rows:
        found = read(f"{root}/{row.path}")
        if not isinstance(found, Content):
            continue  # it is gone, or was replaced by something that is told of elsewhere
        if digest_of(found.content) != row.digest:
            changed.append(row.path)
        elif not row.is_ours and (file_id := _id_in(layout, found.content, row.owner)):
            by_id[file_id].append(row.path)
    twice = [f"{file_id}: {', '.join(paths)}" for file_id, paths in sorted(by_id.items()) if _are_two(paths)]
    return Compared(changed, twice)


def _are_two(paths: Collection[str]) -> bool:
    return len(paths) > 1


def _id_in(layout: Layout, content: bytes, owner: str) -> str:
    try:
        return paper(layout, content, owner).id
    except Invalid:
        return ""
