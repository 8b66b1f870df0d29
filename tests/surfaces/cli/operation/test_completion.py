"""`covey completion`: the words that a shell offers, from the catalogue, the parsers and the store."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from covey.surfaces.cli.catalogue import VERBS
from covey.surfaces.cli.exits import DONE, USAGE
from covey.surfaces.cli.main import parser_of
from covey.surfaces.cli.operation.completion import FILES, SHELLS, KnownWords, complete, script
from covey.surfaces.cli.topics import TOPICS
from tests.surfaces.commands import Folder
from tests.surfaces.conftest import Covey

NAMES = ("coder", "critic", "lead")
SESSIONS = (("fixer", "fixes the parser"), ("reader", "critic"))


def asked(*words: str) -> list[str]:
    known = KnownWords(lambda: NAMES, lambda: SESSIONS, lambda: SESSIONS[:1])
    return [word.word for word in complete(words, known, parser_of)]


def unasked(*words: str) -> list[str]:
    """Complete words, and fail if the completion reads the store."""

    def refuse() -> Sequence[Any]:
        raise AssertionError("the store was looked into")

    return [word.word for word in complete(words, KnownWords(refuse, refuse, refuse), parser_of)]


def test_verbs_come_first() -> None:
    assert unasked("") == unasked() == list(VERBS)
    assert unasked("ar") == ["archive"]
    assert unasked("--store", "sqlite:x", "swe") == ["sweep"]
    assert unasked("-") == ["--store", "--as", "--help", "--version"]
    assert unasked("quux", "") == []


@pytest.mark.parametrize(
    "words",
    [
        ("inbox", "c"),
        ("send", "c"),
        ("send", "--as", "c"),
        ("send", "lead", "hi", "--request", "--as", "c"),
        ("--as", "c"),
        ("inbox", "--as", "c"),
        ("tasks", "--agent", "c"),
        ("--store", "sqlite:x", "owed", "c"),
        ("watch", "c"),
    ],
)
def test_agents_are_offered_for_every_argument_that_takes_an_agent(words: Sequence[str]) -> None:
    assert asked(*words) == ["coder", "critic"]


def test_say_offers_sessions_and_stop_offers_children() -> None:
    assert asked("say", "") == ["fixer", "reader"]
    assert asked("say", "r") == ["reader"]
    assert unasked("say", "fixer", "") == []
    assert asked("say", "fixer", "hi", "--as", "l") == ["lead"]
    assert asked("stop", "") == asked("stop", "reader", "") == ["fixer"]
    assert unasked("spawn", "--label", "") == []


def test_sessions_and_children_are_read_from_the_space(folder: Folder) -> None:
    words = ("--word=:say", "--word=:")
    assert folder.covey("completion", "words", *words).out == ""
    assert folder.covey("join", "critic", "--lease", "1h", "--label", "reader").code == DONE
    spawn = ("spawn", "coder", "Wait.", "--from", "lead", "--run", "sleep 60", "--detach")
    assert folder.covey(*spawn, "--label", "slow").code == DONE
    unlabelled = folder.covey(*spawn).out[:8]
    assert folder.covey("completion", "words", *words).out.splitlines() == [
        "slow\tcoder",
        f"{unlabelled}\tcoder",
        "reader\tcritic",
    ]
    children = folder.covey("completion", "words", "--word=:stop", "--word=:").out.splitlines()
    assert [line.partition("\t")[0] for line in children] == ["slow", unlabelled]
    assert folder.covey("stop", "slow", unlabelled).code == DONE
    assert folder.covey("completion", "words", "--word=:stop", "--word=:").out == ""


def test_options_are_offered_after_dashes_and_once_unless_repeatable() -> None:
    assert unasked("gate", "T-1", "--") == [
        "--force-commit-phase",
        "--why",
        "--sweep",
        "--store",
        "--as",
        "--json",
        "--help",
    ]
    used = unasked("send", "b", "hi", "--request", "--file", "a", "--")
    assert "--request" not in used
    assert {"--file", "--as", "--scope"} <= set(used)
    assert {"--from", "--agent", "--to"} & set(used) == set()


def test_choices_topics_and_files_are_offered_for_their_arguments() -> None:
    assert unasked("inbox", "coder", "--state", "") == ["in_context", "offered", "queued"]
    assert unasked("inbox", "coder", "--kind", "re") == ["request", "response"]
    assert unasked("help", "le") == ["ledger", "leave"]
    assert set(unasked("help", "")) == {"all", *TOPICS, *VERBS}
    assert unasked("send", "--file", "/tm") == [FILES]
    assert unasked("completion", "z") == ["zsh"]
    assert unasked("gate", "") == unasked("gate", "T-1", "") == unasked("inbox", "coder", "") == []
    assert unasked("send", "hi", "--subject", "") == []


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_is_written_for_each_shell(covey: Covey, shell: str) -> None:
    said = covey("completion", shell)
    assert (said.code, said.out) == (DONE, script(shell))
    assert covey("completion", shell, "--json").json == {"shell": shell, "script": script(shell)}


@pytest.mark.parametrize("words", [[], ["tcsh"], ["bash", "zsh"]])
def test_another_shell_is_a_usage_error(covey: Covey, words: Sequence[str]) -> None:
    said = covey("completion", *words)
    assert (said.code, said.out) == (USAGE, "")


def test_the_queries_of_the_scripts_change_nothing(covey: Covey, tmp_path: Path) -> None:
    assert covey("send", "hi", "--from", "critic", "--to", "coder", "--register").code == DONE
    before = covey("log", "--json").out
    assert covey("completion", "words", "--word=:inbox", "--word=:c").out == "coder\ncritic\n"
    assert covey("completion", "words", "--word=:swe").out == f"sweep\t{VERBS['sweep'].summary}\n"
    assert covey("completion", "words", "--word=:send", "--word=:--json", "--word=:--").code == DONE
    elsewhere = f"--word=:sqlite:{tmp_path}/elsewhere/covey.db"
    assert covey("completion", "words", "--word=:--store", elsewhere, "--word=:inbox", "--word=:").out == ""
    assert not (tmp_path / "elsewhere").exists()
    assert covey("log", "--json").out == before


BASH = """\
eval "$(covey completion bash)"
complete -p covey
offer() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _covey covey; printf '%s\\n' "${COMPREPLY[*]}"; }
offer covey archi
offer covey inbox c
offer covey gate T-1 --w
offer covey send --file note
offer covey quux ''
"""

FISH = """\
covey completion fish | source
for line in 'covey archi' 'covey inbox c' 'covey gate T-1 --w' 'covey send --file note' 'covey quux '
    echo (complete -C $line | string split -f 1 \\t)
end
"""

ZSH = """\
autoload -U compinit
compinit -D -u
eval "$(covey completion zsh)"
print -r -- $_comps[covey]
_describe() { print -r -- ${(P)2} }
_files() { print -r -- note.txt }
offer() { words=("$@"); CURRENT=$#; _covey }
offer covey archi
offer covey inbox c
offer covey gate T-1 --w
offer covey send --file note
offer covey quux ''
"""


@pytest.fixture
def talked(folder: Folder) -> Folder:
    assert folder.covey("send", "hi", "--from", "critic", "--to", "coder", "--register").code == DONE
    (folder.path / "note.txt").touch()
    return folder


def test_bash_completes(talked: Folder) -> None:
    said = talked.run(["bash", "-c", BASH])
    registered, *offered = said.out.splitlines()
    assert (said.code, said.err, registered) == (DONE, "", "complete -F _covey covey")
    assert offered == ["archive", "coder critic", "--why", "note.txt", ""]


def test_fish_and_zsh_complete_if_they_are_installed(talked: Folder) -> None:
    if shutil.which("fish"):
        said = talked.run(["fish", "--no-config", "-c", FISH])
        assert (said.code, said.err) == (DONE, "")
        assert said.out.splitlines() == ["archive", "coder critic", "--why", "note.txt", ""]
    if shutil.which("zsh"):
        said = talked.run(["zsh", "-f", "-c", ZSH])
        registered, *offered = said.out.splitlines()
        assert (said.code, said.err, registered) == (DONE, "", "_covey")
        assert [line.partition(":")[0] for line in offered] == ["archive", "coder", "--why", "note.txt", ""]
        assert offered[1] == "coder:coder critic:critic"
