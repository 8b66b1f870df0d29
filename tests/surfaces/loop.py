"""The verbs that agent loops call, as real processes or through `main(argv)`. Each answers with JSON."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

LIMIT_S = 30.0
TASK = "M001-S001-T0001"


class Answer(NamedTuple):
    """The answer of a verb: its exit code and its JSON."""

    code: int
    json: Any

    @property
    def error(self) -> str:
        """The code of the reported error."""
        assert self.code != 0
        return self.json["error"]["code"]


Verb = Callable[..., Answer]


def in_a_process(folder: Path) -> Verb:
    """Return a function that calls verbs, each as its own process in `folder`."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVEY_")}

    def call(*words: str) -> Answer:
        command = [sys.executable, "-m", "covey", *words]
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False
        )
        assert done.stderr == "", done.stderr
        assert done.stdout.count("\n") == 1
        return Answer(done.returncode, json.loads(done.stdout))

    return call


def sent(verb: Verb, kind: str, sender: str, to: str, *more: str, subject: str = "style", task: str = TASK) -> str:
    """Send a message of a task; return the id of the message."""
    words = ("--from", sender, "--to", to, "--phase", task, "--kind", kind, "--subject", subject, *more)
    answer = verb("messages-send", *words)
    assert answer.code == 0, answer
    return answer.json["id"]


def inbox(verb: Verb, agent: str, *more: str) -> list[str]:
    """Return the ids of the messages in an agent's inbox."""
    answer = verb("messages-inbox", "--agent", agent, *more)
    assert answer.code == 0, answer
    return [message["id"] for message in answer.json]
