"""The console channel: a line on a stream for each post."""

from typing import TextIO

from covey.core.channels.post import OutgoingPost, PostAcceptance, PostRefusal
from covey.core.ledger.message import body_of
from covey.core.text.hidden import unbroken, visible


class ConsoleChannel:
    """`Channel`. The text of a message can't move the cursor, change colours or fake a second line."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    async def post(self, outgoing: OutgoingPost) -> PostAcceptance | PostRefusal:
        try:
            self._stream.write(f"{line_of(outgoing)}\n")
            self._stream.flush()
        except BrokenPipeError:
            raise  # the reader has closed the stream: there is no console any more
        except (OSError, ValueError) as error:
            return PostRefusal(f"the stream can't be written: {error}")
        return PostAcceptance()


def line_of(outgoing: OutgoingPost) -> str:
    """Return a post as one line: channel, conversation, sender, state of the task, and text."""
    post, message = outgoing
    where = f"{post.channel}/{post.conversation}" if post.conversation else post.channel
    task = f" [task {message.task.state}]" if message.task is not None and message.task.state else ""
    line = f"{where} {message.sender.agent}:{task} {body_of(message)}"
    return visible(unbroken(line))
