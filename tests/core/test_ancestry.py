"""The choice of the client among the ancestors of a process."""

import pytest

from covey.core.directory.session import Ancestor, Holder, client_of


def descent(*names: str) -> list[Ancestor]:
    return [Ancestor(Holder(pid=number, started="0"), name) for number, name in enumerate(names, 1)]


@pytest.mark.parametrize(
    ("names", "client"),
    [
        (("claude", "bash", "tmux: server", "systemd"), 1),
        (("sh", "claude", "zsh", "sshd"), 2),
        (("uvx", "codex", "node", "-bash"), 2),
        (("npm exec covey-m", "sh", "node", "fish"), 3),
        (("python", "codex", "bash", "claude"), 1),
        (("bash", "gnome-terminal-", "systemd"), 1),
        (("bash", "tmux: server"), 1),
        (("timeout", "bash", "init"), 1),
        (("bash", "sh"), 1),
        (("", "bash"), 1),
    ],
)
def test_the_client_is_the_nearest_ancestor_that_is_neither_a_shell_nor_a_launcher(
    names: tuple[str, ...], client: int
) -> None:
    assert client_of(descent(*names)) == Holder(pid=client, started="0")


def test_a_script_of_a_shell_is_a_shell() -> None:
    wrapper = Ancestor(Holder(pid=7, started="0"), "run-covey", "dash")
    assert client_of([wrapper, *descent("claude")]) == Holder(pid=1, started="0")


def test_a_process_without_ancestors_has_no_client() -> None:
    assert client_of(()) is None
