"""covey task."""

from argparse import ArgumentParser
from collections.abc import Sequence

from covey.services.tasks.tasks import TaskView
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.exits import DONE, INTERRUPTED
from covey.surfaces.cli.options.when import parse_span
from covey.surfaces.cli.tasks.document import artifact_document, step_document, task_document, tree_document
from covey.surfaces.cli.tasks.ending import EXIT_HELP, exit_of, show_ending
from covey.surfaces.cli.tasks.naming import HELP_OR_OWN, number_of, task_of
from covey.surfaces.cli.tasks.story import artifacts, said, story
from covey.surfaces.cli.views.documents import message_document

DESCRIPTION = f"""\
Show a task: what is to be done, every move with who made it, how far it is, its result, its files, and the tasks that
it is a part of or that were handed on from it. Looking changes nothing. --save writes the files to a folder.

With --wait the command waits for the end of the task, and then writes what `covey delegate` would: the result alone.
Whoever handed it over and waits here has then been told: its updates leave the inbox.

With --wait, {EXIT_HELP}"""
EXAMPLES = """\
examples:
  covey task coder:3
  covey task coder:3 --save results
  covey task coder:3 --wait 10m --agent lead"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", nargs="?", help=HELP_OR_OWN)
    parser.add_argument("--wait", metavar="SPAN", help="wait until it is finished, for 30s, 10m, 2h")
    parser.add_argument("--save", metavar="PATH", help="write its files to this folder")
    parser.add_argument("--replace", action="store_true", help="with --save: write over files that are there")


def run(call: Call) -> int:
    view = task_of(call, call.options.id)
    if call.options.wait is not None:
        return _wait(call, view)
    services = call.services
    steps = call.run(story(services, view.task.id))
    files = call.run(artifacts(services, view, steps))
    tree = call.run(services.tasks.tree(view.task.id))
    if call.options.save is not None:
        from covey.surfaces.cli.tasks.files import save

        saved: Sequence[str] = [
            str(s.path) for s in save(call, files, call.options.save, replaces=call.options.replace)
        ]
    else:
        saved = ()
    if call.output.as_json:
        progress, result = (call.run(said(services, update)) for update in (view.task.progress, view.task.result))
        call.output.json(
            {
                **task_document(view, call.run(number_of(services, view.task))),
                "progress": message_document(progress) if progress else None,
                "result": message_document(result) if result else None,
                "artifacts": [artifact_document(file) for file in files],
                "saved": list(saved),
                "history": [step_document(step) for step in steps],
                "tree": tree_document(tree),
            }
        )
    else:
        from covey.surfaces.cli.tasks.page import show_page

        show_page(call, view, steps, files, tree, saved)
    return DONE


def _wait(call: Call, view: TaskView) -> int:
    seconds = parse_span(call.options.wait).total_seconds()
    actor = call.actor() if call.is_identified else None
    try:
        from covey.surfaces.cli.live import run_live
        from covey.surfaces.cli.tasks.waiting import await_task

        task_id = view.task.id
        view = run_live(call, lambda services: await_task(services, call.output, task_id, actor, seconds))
    except KeyboardInterrupt:
        call.output.status("")  # also removes the key that the terminal echoes
        show_ending(call, view, "Interrupted")
        return INTERRUPTED
    show_ending(call, view, f"{view.task.agent} has not finished it yet: it is {view.task.state}")
    return exit_of(view)
