"""A program of agent loops: the documented verbs, each with JSON on standard output.

loop ROOT send --from A --to B --phase T --round 2 --kind request --subject style --body … --expects-reply
loop ROOT inbox --agent B --task T · archive ID · thread ID · pending T · commit T · sweep T
loop ROOT watch      read every file repeatedly until the input ends; then report
loop ROOT busy       send, archive, sweep and log without a pause until the input ends; then report
"""

import argparse
import json
import random
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.foreign.loop_folder import LoopError, LoopFolder
from tests.foreign.onlooker import BUSY_PAUSE_S, has_ended, watch


def main(words: Sequence[str]) -> int:
    options = parsed(words)
    folder = LoopFolder(Path(options.root))
    try:
        answer = run(folder, options)
    except LoopError as error:
        print(json.dumps({"error": {"code": error.code, **error.details}}))
        return 1
    print(json.dumps(answer), flush=True)
    return 0


def run(folder: LoopFolder, options: argparse.Namespace) -> Any:
    match options.verb:
        case "send":
            return folder.send(
                options.sender,
                options.to,
                options.body,
                phase=options.phase,
                number=options.round,
                kind=options.kind,
                subject=options.subject,
                expects_reply=options.expects_reply,
                in_reply_to=options.in_reply_to,
            )
        case "inbox":
            return folder.inbox(options.agent, options.task, options.kind)
        case "archive":
            return folder.archive(options.what)
        case "thread":
            return folder.thread(options.what)
        case "pending":
            return folder.pending_replies(options.what)
        case "commit":
            return {"messages_swept": folder.commit(options.what)}
        case "sweep":
            return {"messages_swept": folder.sweep(options.what)}
        case "watch":
            return watch(folder.root, ("inbox/*/*.json", "archive/*.json", "archive/by-task/*/*.json"))
        case "archive-each":
            return archive_each(folder)
        case "answer":
            return answer(folder, options.what)
        case _:
            return busy(folder, options.what or "loop")


def answer(folder: LoopFolder, agent: str) -> list[str]:
    """Act as an agent that reads its inbox repeatedly: answer requests that expect it, and archive every message."""
    answered: list[str] = []
    print("ready", flush=True)
    while not has_ended():
        for message in folder.inbox(agent):
            if message["kind"] == "request" and message["expects_reply"]:
                text, task = f"re: {message['body']}", message["phase"]
                folder.send(agent, message["from"], text, phase=task, kind="response", in_reply_to=message["id"])
                answered.append(message["id"])
            folder.archive(message["id"])
    return answered


def archive_each(folder: LoopFolder) -> int:
    """Archive each message whose id comes as a line. Print `archived`, or the error code."""
    count = 0
    print("ready", flush=True)
    for line in sys.stdin:
        count += 1
        try:
            folder.archive(line.strip())
        except LoopError as error:
            print(error.code, flush=True)
        else:
            print("archived", flush=True)
    return count


def busy(folder: LoopFolder, name: str) -> Any:
    """Act as a busy neighbour: messages between two agents, answered, archived, and swept by task."""
    choose = random.Random(name)
    done: list[str] = []
    print("ready", flush=True)
    while not has_ended(BUSY_PAUSE_S):
        task = f"{name}-{len(done) % 3}"
        to = choose.choice((f"{name}-b", "np-executor"))
        asked = folder.send(f"{name}-a", to, "does it fit?", phase=task, kind="request", expects_reply=True)
        answer = folder.send(to, f"{name}-a", "it does", phase=task, kind="response", in_reply_to=asked["id"])
        with suppress(LoopError):  # another program of the folder was faster
            folder.archive(asked["id"])
        done += [asked["id"], answer["id"]]
        if choose.random() < 0.1:
            folder.sweep(task)
    return done


def parsed(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("root")
    parser.add_argument("verb")
    parser.add_argument("what", nargs="?")
    parser.add_argument("--from", dest="sender")
    for name in ("to", "phase", "subject", "body", "in-reply-to", "agent", "task", "kind"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--round", type=int)
    parser.add_argument("--expects-reply", action="store_true")
    return parser.parse_args(words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
