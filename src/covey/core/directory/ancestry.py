"""Process ancestry: finding the agent client that a program works for among its ancestor processes.

A client starts its MCP server and its hooks as separate programs, some of them through a shell or a launcher. The
client is the ancestor that they have in common.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from covey.core.directory.session import Holder


class Ancestor(NamedTuple):
    """An ancestor process, with its name and the program that it runs. For a script, `name` is the script and `program`
    is its interpreter."""

    holder: Holder
    name: str
    program: str = ""


_SHELLS: Final = "ash bash busybox csh dash fish ksh mksh nu osh pwsh sh tcsh xonsh yash zsh"
_LAUNCHERS: Final = (
    "asdf chroot conda corepack direnv doas dumb-init env hatch make mamba micromamba mise nice nohup npm npx pdm "
    "pipenv pipx pixi pnpm poetry runuser rye script setsid stdbuf strace su sudo time timeout tini uv uvx xargs yarn"
)
_HOSTS: Final = (
    "agetty containerd-shim cron docker-init gnome-terminal- init kitty konsole launchd login screen sshd systemd tmux "
    "wezterm-gui xterm"
)
"""Programs that start shells for people. A program that is started there by hand works for no client. Kernels cut the
names of processes after 15 characters."""

_BETWEEN: Final = frozenset(f"{_SHELLS} {_LAUNCHERS}".split())
_INTERPRETERS: Final = frozenset(_SHELLS.split())
_ABOVE: Final = frozenset(_HOSTS.split())


def client_of(ancestors: Sequence[Ancestor]) -> Holder | None:
    """Return the process of the client: the nearest ancestor that is neither a shell nor a launcher. If a person
    started the program, return its nearest ancestor; without ancestors, return None."""
    for ancestor in ancestors:
        name = _plain(ancestor.name)
        if name in _ABOVE:
            break
        if name not in _BETWEEN and ancestor.program not in _INTERPRETERS:
            return ancestor.holder
    return ancestors[0].holder if ancestors else None


def _plain(name: str) -> str:
    """Return the name of a program without the additions of its process: `-bash`, `tmux: server`, `npm exec covey`."""
    first = name.removeprefix("-").partition(":")[0].split()
    return first[0] if first else ""
