"""covey messages-archive."""

from argparse import ArgumentParser

from covey.core.errors import Invalid
from covey.core.identity import Identity
from covey.core.ids import MessageId
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.options.references import add_message, message_given

DESCRIPTION = """\
Archive a message for its recipient; write {"archived": ID}. A request that expects a reply must have been answered.
Where nobody says who acts, it is the recipient."""


def arguments(parser: ArgumentParser) -> None:
    add_message(parser, "the message to put away")


def run(call: Call) -> int:
    message_id = message_given(call.options)
    actor = _actor(call, message_id)
    call.run(call.services.dialogue.archive(message_id, actor, call.on_behalf(actor)))
    call.output.json({"archived": message_id})
    return 0


def _actor(call: Call, message_id: MessageId) -> Identity:
    if call.is_identified:
        return call.actor()
    receipt = call.run(call.services.mail.receipt(message_id))
    recipients = sorted({delivery.agent for delivery in receipt.deliveries if delivery.agent is not None})
    if len(recipients) != 1:
        raise Invalid("agent", None, f"say who archives it: --agent {' or '.join(recipients) or 'NAME'}")
    call.run(call.services.dialogue.unarchived(recipients[0]))  # raises OrphanInbox if the recipient is not known
    return call.actor(recipients[0])
