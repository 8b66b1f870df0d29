"""The verb `channels`."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from typing import Final

from covey.core.channels.channel import ChannelConfig, WebhookStyle, console, parse_secret, webhook
from covey.core.channels.post import OWN, PostState, parse_bound, parse_conversation, parse_person
from covey.core.errors import Invalid
from covey.core.names import AgentName, DeliveryId, delivery_id, delivery_message, parse_agent_name, parse_message_id
from covey.services.channels.channels import PersonMessage
from covey.surfaces.cli.call import Call, Verb
from covey.surfaces.cli.channels.views import (
    binding_document,
    channel_document,
    conversation_of,
    place_of,
    post_document,
    post_row,
    trouble_of,
)
from covey.surfaces.cli.exits import DONE
from covey.surfaces.cli.options.drafts import read_text
from covey.surfaces.cli.options.names import actor_or_user
from covey.surfaces.cli.times import positive
from covey.surfaces.cli.views.messages import show_receipt

LIST, ADD, REMOVE, BIND, UNBIND, RUN, POSTS, RETRY, SAY = ACTIONS = (
    "list",
    "add",
    "remove",
    "bind",
    "unbind",
    "run",
    "posts",
    "retry",
    "say",
)

_OF: Final[Mapping[str, str]] = {
    "console": ADD,
    "webhook": ADD,
    "webhook_file": ADD,
    "style": ADD,
    "secret_file": ADD,
    "about": ADD,
    "to": BIND,
    "once": RUN,
    "listen": RUN,
    "state": POSTS,
    "limit": POSTS,
    "person": SAY,
    "reply_to": SAY,
    "key": SAY,
}
"""The action of each option."""

MAX_FILE: Final = 4096


def _channels_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("action", nargs="?", default=LIST, choices=ACTIONS, help="what to do; by default list")
    parser.add_argument("words", nargs="*", metavar="NAME", help="which channel, and what about it")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--console", action="store_true", help="add: write posts where `run` runs")
    how.add_argument("--webhook", metavar="URL", help="add: send posts there, by HTTP")
    how.add_argument("--webhook-file", metavar="FILE", help="add: the same, with the URL from a file")
    parser.add_argument(
        "--style", choices=[*map(str, WebhookStyle)], help="add: what the receiver takes (default generic)"
    )
    parser.add_argument("--secret-file", metavar="FILE", help="add: the secret that both sides sign with")
    parser.add_argument("--about", metavar="TEXT", help="add: who is there")
    parser.add_argument("--to", metavar="AGENT", help="bind: the agent, or the key of one session")
    parser.add_argument("--once", action="store_true", help="run: carry what is due, and end")
    parser.add_argument("--listen", metavar="HOST:PORT", help="run: hear POST /CONVERSATION, signed; port 0 is any")
    parser.add_argument("--state", choices=[*map(str, PostState)], help="posts: only those")
    parser.add_argument("--limit", type=positive, metavar="N", help="posts: how many at most (default 100)")
    parser.add_argument("--person", metavar="WHO", help="say: who says it")
    parser.add_argument("--reply-to", metavar="ID", help="say: the message or post that it answers")
    parser.add_argument("--key", metavar="TEXT", help="say: again with the same key, and nothing happens twice")


def _run_channels(call: Call) -> int:
    options = call.options
    for name, action in _OF.items():
        if action != options.action and getattr(options, name) not in (False, None):
            raise Invalid(f"--{name.replace('_', '-')}", getattr(options, name), f"it goes with {action}")
    return {
        LIST: _list,
        ADD: _add,
        REMOVE: _remove,
        BIND: _bind,
        UNBIND: _unbind,
        RUN: _run,
        POSTS: _posts,
        RETRY: _retry,
        SAY: _say,
    }[options.action](call)


CHANNELS: Final = Verb(
    arguments=_channels_arguments,
    run=_run_channels,
    description="""\
Reach people. A channel is an agent of the space: what is sent to it is posted to people, on a console or by a webhook,
and what they say goes to the agent that the conversation is bound to, whose answers are posted there. What could not be
posted is tried again, also after a restart; when a day is over its sender is told.

  list                           the channels, and how they fare (default)
  add NAME --console             posts become lines where `run` runs
  add NAME --webhook URL         posts become signed HTTP requests
  remove NAME                    what was not posted stays in its inbox
  bind NAME [CONVERSATION]       who hears what is said there; without a
                                 conversation, in all that are not bound
  unbind NAME [CONVERSATION]
  run [NAME ...]                 carry posts until Ctrl-C, and hear people
  posts NAME                     what is to be posted, and what failed
  retry POST                     try a failed post again
  say NAME CONVERSATION TEXT     what a person says there""",
    examples="""\
examples:
  covey channels add ops --console
  covey channels add chat --webhook-file hook.url --style slack
  covey channels bind ops --to coder
  covey channels run ops --listen 127.0.0.1:8677
  covey channels run --once
  covey channels say ops c-1 "Is it done?" --person ann""",
)


def _words(options: Namespace, *names: str, optional: int = 0) -> list[str | None]:
    """Return the words of an action, one for each of its names. The last `optional` ones may be missing."""
    words: Sequence[str] = options.words
    if len(words) > len(names):
        raise Invalid("argument", words[len(names)], f"{options.action} takes {', '.join(names) or 'none'}")
    needed = len(names) - optional
    if len(words) < needed:
        raise Invalid(names[len(words)], None, f"covey channels {options.action} {' '.join(names)}")
    return [*words, *([None] * (len(names) - len(words)))]


def _channel(text: str | None) -> AgentName:
    return parse_agent_name(text)


def _list(call: Call) -> int:
    _words(call.options)
    views = call.run(call.services.channels.all())
    if call.output.as_json:
        call.output.json([channel_document(view) for view in views])
        return DONE
    now = call.services.clock.now()
    call.output.table(
        ("channel", "reaches", "waiting", "trouble"),
        [(view.name, place_of(view.config), str(view.waiting), trouble_of(view, now)) for view in views],
        "There are no channels. `covey channels add NAME --console` makes one.",
    )
    bindings = [binding for view in views for binding in view.bindings]
    if bindings:
        call.output.text()
        rows = [(bound.channel, bound.conversation or "(every other one)", bound.to.value) for bound in bindings]
        call.output.table(("channel", "conversation", "bound to"), rows, "")
    return DONE


def _add(call: Call) -> int:
    (name,) = _words(call.options, "NAME")
    config = _config(call.options, _channel(name))
    call.run(call.services.channels.add(config, actor_or_user(call), call.options.about or ""))
    if call.output.as_json:
        view = next(v for v in call.run(call.services.channels.all()) if v.name == config.name)
        call.output.json(channel_document(view))
        return DONE
    call.output.text(f"{config.name} is a channel: {place_of(config)}.")
    call.output.note(f"`covey channels run {config.name}` carries its posts.")
    return DONE


def _config(options: Namespace, name: AgentName) -> ChannelConfig:
    url = _file(options.webhook_file, "--webhook-file") if options.webhook_file else options.webhook
    if options.console:
        for flag in ("style", "secret_file"):
            if getattr(options, flag) is not None:
                raise Invalid(f"--{flag.replace('_', '-')}", getattr(options, flag), "a console has none")
        return console(name)
    if url is None:
        raise Invalid("channel", name, "say how it reaches people: --console, or --webhook URL")
    secret = parse_secret(_file(options.secret_file, "--secret-file")) if options.secret_file else None
    return webhook(name, url.strip(), WebhookStyle(options.style or WebhookStyle.GENERIC), secret)


def _file(path: str, flag: str) -> str:
    """Return the text of a small file. Secrets are never options: other users can read the command line."""
    try:
        with open(path, encoding="utf-8") as file:  # noqa: PTH123 - the rest of pathlib is not needed
            return file.read(MAX_FILE)
    except (OSError, UnicodeDecodeError) as error:
        raise Invalid(
            flag, path, f"it can't be read: {getattr(error, 'strerror', None) or 'it is not UTF-8'}"
        ) from None


def _remove(call: Call) -> int:
    (word,) = _words(call.options, "NAME")
    name = _channel(word)
    left = call.run(call.services.channels.remove(name, actor_or_user(call)))
    if call.output.as_json:
        call.output.json({"channel": name, "unposted": left})
        return DONE
    call.output.text(f"{name} is no channel any more.")
    if left:
        call.output.note(f"{left} of its posts were still to be posted: `covey inbox {name}` shows them.")
    return DONE


def _bind(call: Call) -> int:
    name, conversation = _words(call.options, "NAME", "CONVERSATION", optional=1)
    if call.options.to is None:
        raise Invalid("--to", None, "say which agent hears what is said there")
    where = OWN if conversation is None else parse_conversation(conversation)
    to = parse_bound(call.options.to)
    bound = call.run(call.services.channels.bind(_channel(name), where, to, actor_or_user(call)))
    if call.output.as_json:
        call.output.json(binding_document(bound))
    else:
        what = (
            conversation_of(bound.conversation) if bound.conversation else "Every conversation without its own binding"
        )
        call.output.text(f"{what} on {bound.channel} goes to {bound.to.value}.")
    return DONE


def _unbind(call: Call) -> int:
    name, conversation = _words(call.options, "NAME", "CONVERSATION", optional=1)
    where = OWN if conversation is None else parse_conversation(conversation)
    bound = call.run(call.services.channels.unbind(_channel(name), where, actor_or_user(call)))
    if call.output.as_json:
        call.output.json(binding_document(bound))
    else:
        call.output.text(f"{conversation_of(bound.conversation)} on {bound.channel} is not bound to anyone now.")
    return DONE


def _posts(call: Call) -> int:
    (word,) = _words(call.options, "NAME")
    name = _channel(word)
    states = [PostState(call.options.state)] if call.options.state else [PostState.FAILED, PostState.PENDING]
    limit = call.options.limit or 100
    found = [out for state in states for out in call.run(call.services.posts.find(name, state, limit))]
    if call.output.as_json:
        call.output.json([{**post_document(out.post), "text": out.message.text} for out in found])
        return DONE
    now = call.services.clock.now()
    call.output.table(
        ("id", "age", "conversation", "from", "state", "tries", "error", "text"),
        [post_row(out, now) for out in found],
        "Nothing is to be posted." if not call.options.state else f"No post is {call.options.state}.",
    )
    return DONE


def _retry(call: Call) -> int:
    (word,) = _words(call.options, "POST")
    post = call.run(call.services.posts.retry(_post_id(word or ""), actor_or_user(call)))
    if call.output.as_json:
        call.output.json(post_document(post))
    else:
        call.output.text(f"{post.id} is tried again by whoever runs {post.channel}.")
    return DONE


def _post_id(text: str) -> DeliveryId:
    message_id, _, copy = text.partition(".")
    if not copy.isascii() or not copy.isdigit() or len(copy) > 9:
        raise Invalid("post", text, "use <message id>.<n>, as `covey channels posts NAME` shows it")
    return delivery_id(parse_message_id(message_id), int(copy))


def _say(call: Call) -> int:
    options = call.options
    name, conversation, text = _words(options, "NAME", "CONVERSATION", "TEXT", optional=1)
    answered = options.reply_to
    said = PersonMessage(
        _channel(name),
        parse_conversation(conversation) if conversation else OWN,
        read_text(text, call.output),
        None if options.person is None else parse_person(options.person),
        None if answered is None else delivery_message(DeliveryId(answered)) if "." in answered else answered,
        options.key,
    )
    if said.reply_to is not None:
        parse_message_id(said.reply_to)
    return show_receipt(call.output, call.run(call.services.channels.hear(said)))


def _run(call: Call) -> int:
    from covey.surfaces.cli.channels.output import run_in_terminal  # imported late because it loads an event loop

    names = [_channel(word) for word in call.options.words]
    return run_in_terminal(call, names, sys.stderr if call.output.as_json else sys.stdout)
