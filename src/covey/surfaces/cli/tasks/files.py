"""Files of a task, written to a folder."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from covey.core.errors import Invalid, WouldOverwrite
from covey.core.ledger.message import FilePart
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.tasks.story import Artifact
from covey.surfaces.cli.views.export_file import new_file


class Saved(NamedTuple):
    artifact: Artifact
    path: Path


def save(call: Call, artifacts: Sequence[Artifact], folder: str, *, replaces: bool) -> Sequence[Saved]:
    """Write files to a folder, which is created if it is missing.

    A file with other content is replaced only if `replaces` is set. Otherwise WouldOverwrite is raised before anything
    is written.
    """
    content = call.services.attachments.content
    planned = [(saved, call.run(content(saved.artifact.part))) for saved in _places(artifacts, Path(folder))]
    missing = [(saved, data) for saved, data in planned if not _has(saved.path, data)]
    for saved, _ in missing:
        if not replaces and (saved.path.exists() or saved.path.is_symlink()):
            raise WouldOverwrite(str(saved.path), "a file with another content is there")
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Invalid("folder", folder, (error.strerror or str(error)).lower()) from None
    for saved, data in missing:
        with new_file(str(saved.path), replace=True) as file:
            file.write(data)
    return [saved for saved, _ in planned]


def _places(artifacts: Sequence[Artifact], folder: Path) -> Iterator[Saved]:
    """Give each file a path of its own in the folder.

    A second file with the same name becomes name-2. Files with equal name and content share one path.
    """
    taken: dict[str, str] = {}
    for artifact in artifacts:
        first = Path(_safe(artifact.part))
        name, n = first.name, 1
        while taken.get(name, artifact.part.digest) != artifact.part.digest:
            n += 1
            name = f"{first.stem}-{n}{first.suffix}"
        if name not in taken:
            taken[name] = artifact.part.digest
            yield Saved(artifact, folder / name)


def _safe(part: FilePart) -> str:
    """Return a safe name for the file. The sender chose the name, so it must not lead out of the folder."""
    name = part.name.replace("\\", "/").rpartition("/")[2].replace("\0", "")
    return name if name not in ("", ".", "..") else part.digest[:12]


def _has(path: Path, content: bytes) -> bool:
    try:
        return not path.is_symlink() and path.read_bytes() == content
    except OSError:
        return False
