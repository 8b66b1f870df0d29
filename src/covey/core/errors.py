"""The error tree, in three branches that tell the caller whether a retry helps.

CoveyError
├── Rejected            the request is wrong; a retry will not help
│   ├── Invalid             a value that can't be parsed (names, ids, fields, sizes)
│   ├── MessageTooLarge     an envelope over the limit
│   ├── IdReused            a known message id with another content
│   ├── RequestReplayed     a signed request that was accepted before
│   ├── IllegalMove         a move that the state table does not have
│   ├── TaskTaken           another session has the task
│   ├── QuotaFull           the agent has reached its quota of tasks
│   ├── SpawnDepth          a child would be deeper than its parent's card allows
│   ├── SpawnLimit          the agent has as many children as its card allows
│   ├── SpawnNotAllowed     a card does not allow children of that agent
│   ├── NoParent            only a child has siblings
│   ├── NotYours            only the recipient, the sender or the operator may do that
│   ├── IdentityRefused     a wrong secret or token, or a name that needs one
│   ├── BeyondToken         an agent's token is for that agent's own mail and name
│   ├── OperatorOnly        only the operator, with a token, may do that
│   ├── HopsExhausted       the message was relayed as often as it may be
│   ├── TreeExhausted       a message and all that it led to have reached a limit
│   ├── EchoStorm           two agents exchange messages that say nothing new
│   ├── ExchangeStorm       agents keep each other going without a rest
│   ├── ProgressStorm       the progress of a task is reported too often
│   ├── WaitCircle          a wait that would be a deadlock: agents that wait for each other
│   ├── Paused              the operator has paused the agent, or the space
│   ├── RoundsExhausted     a negotiation has had all its rounds
│   ├── KindRule            request, response and notify each have their rules
│   ├── NotAnswered         archiving a request that is not answered
│   ├── AlreadyArchived     archiving twice
│   ├── NotAnApproval       approving or rejecting a message that asks for no approval
│   ├── DecisionMissing     answering a request for approval without a decision
│   ├── AlreadyDecided      a decision that contradicts an earlier one
│   ├── GateClosed          the scope still has debts
│   ├── LabelAmbiguous      a label that several live sessions carry
│   ├── SessionEnded        acting for a session that has ended
│   ├── FileOffLimits       a file part from a store, or with a credential in it
│   ├── FileOutsideRoots    a file part from a folder that was not declared
│   ├── ExportDamaged       an export that was cut off or changed, or a file that is no export
│   ├── ExportNewer         an export in a format that only a newer Covey reads
│   ├── ImportConflict      a record of the export is in this space already
│   ├── ProgramNotExecutable  a program that exists and can't be run
│   └── WouldOverwrite      an existing file or space would be overwritten
├── NotFound            the named object does not exist
│   ├── RecipientUnknown    no agent has that name
│   ├── OrphanInbox         mail waits for a name that no agent has
│   ├── MessageUnknown      no message has that id
│   ├── MessagePruned       the message was closed and has been pruned
│   ├── NumberUnknown       no message has that number for the agent
│   ├── SessionUnknown      no session has that id
│   ├── TicketUnknown       no ticket has that id
│   ├── OfferUnknown        no offer has that id
│   ├── TaskUnknown         no task has that id
│   ├── RunUnknown          no run has that id
│   ├── TokenUnknown        no token has that id
│   ├── DeliveryUnknown     the message was never delivered to that agent
│   ├── ChannelUnknown      no channel has that name
│   ├── PostUnknown         no post has that id
│   ├── ConversationUnbound  a conversation is bound to no agent
│   ├── BlobMissing         the content of a file part is gone or damaged
│   └── ProgramNotFound     there is no such program to run
└── Unavailable         the space can't answer now
    ├── SpaceMissing        there is no space at the place that was named or found
    ├── StoreBusy           another process holds the store too long (retry)
    ├── StoreFull           no room on the disk (retry when there is)
    ├── StoreReadOnly       the folder or file can't be written
    ├── StoreCorrupt        the file is damaged, or is not a Covey store
    ├── StoreNewer          written by a newer Covey
    ├── StoreMissing        the files of an open store were removed, moved or replaced
    ├── StoreUnconfirmed    the disk did not confirm a commit: it may be kept or lost
    ├── StoreStopped        nothing is written after a commit that was not confirmed
    ├── RecordDamaged       the store has a record that can't be read, or that was altered
    ├── MessageDamaged      a message in the store is not the one that was accepted
    ├── StoreClosed         used after it was closed
    ├── LogDiverged         the log of a space was deleted, or has lost records that its replica has
    ├── SpaceInUse          other processes have the space open (retry when they have ended)
    ├── BackupUnusable      a backup that is damaged, or a file that is no backup
    ├── LauncherUnavailable  no program can be started or ended now (retry)
    ├── NatsUnreachable     no NATS server answers (retry)
    ├── NatsUntrusted       a secure connection to the server can't be made
    ├── NatsRefused         the server refuses the credentials, or they lack a right
    ├── NatsNoJetStream     the server has no JetStream
    ├── NatsStorageFull     the server has too little room for streams (retry when it has)
    ├── NatsPayloadSmall    the server's limit for the size of a message is too small
    ├── ClocksApart         the clocks of this machine and the server do not agree
    └── ExtraMissing        an optional part of Covey is not installed

`code` is stable: programs may depend on it. `advice` says what to do next.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from covey.core.json import Json


class CoveyError(Exception):
    """The root of all errors: a stable code, a message for people, details for programs."""

    code: ClassVar[str] = "error"
    retryable: ClassVar[bool] = False
    advice: ClassVar[str] = ""

    def __init__(self, message: str, **details: Json) -> None:
        super().__init__(message)
        self.message = message
        self.details: Mapping[str, Json] = details

    def envelope(self, code: str | None = None) -> Mapping[str, Json]:
        """Return the error as a document for programs. `code` replaces the error's own."""
        return {"error": {"code": code or self.code, "message": self.message, "details": dict(self.details)}}


class Rejected(CoveyError):
    """The request is wrong; a retry will not help."""

    code = "rejected"


class NotFound(CoveyError):
    """The named object does not exist."""

    code = "not-found"


class Unavailable(CoveyError):
    """The space can't answer now."""

    code = "unavailable"
    retryable = True
    advice = "Try again. If it fails again, remove the cause that the message names."


class Invalid(Rejected):
    code = "invalid"
    advice = "Correct the value; the message says which rule it breaks."

    def __init__(self, what: str, value: object, rule: str) -> None:
        shown = _shown(value)
        fault = "is missing" if value is None else f"{shown} is not valid"
        super().__init__(f"{what} {fault}: {rule}", what=what, value=shown, rule=rule)
        self.what = what
        self.rule = rule


def _shown(value: object) -> str:
    try:
        shown = repr(value)
    except (ValueError, RecursionError):  # numbers of thousands of digits, data that contains itself
        shown = f"a {type(value).__name__}"
    return shown if len(shown) <= 80 else shown[:77] + "..."


class MessageTooLarge(Rejected):
    code = "message-too-large"
    advice = "Send the bulk as a file part: it is stored once and travels as a reference."

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(f"the message is {size} bytes; the limit is {limit}", size=size, limit=limit)


class IdReused(Rejected):
    code = "message-id-reused"
    advice = "Use a new id for a new message; the same id only repeats the same message."

    def __init__(self, message_id: str) -> None:
        super().__init__(f"message {message_id} exists already, with different content", message_id=message_id)


class RequestReplayed(Rejected):
    code = "request-replayed"
    advice = "Do nothing: the request was accepted. For a new message, sign a new request with a new Idempotency-Key."

    def __init__(self, message_id: str) -> None:
        super().__init__(
            f"this request was accepted before, as message {message_id}; it counts only once", message_id=message_id
        )


class IllegalMove(Rejected):
    code = "illegal-move"
    advice = "Check the current state: `covey receipt ID` for a message, `covey tasks` for a task."

    def __init__(self, what: str, state: str, move: str) -> None:
        super().__init__(f"a {what} that is {state} can't {move}", what=what, state=state, move=move)


class TaskTaken(Rejected):
    code = "task-taken"
    advice = "Leave the task to that session or attempt; `covey tasks` shows its state."

    def __init__(self, task_id: str, holder: str) -> None:
        super().__init__(f"task {task_id} is held by {holder}", task_id=task_id, holder=holder)


class QuotaFull(Rejected):
    code = "quota-full"
    advice = "Finish a task first, or raise the quota on the agent's card; the task waits."

    def __init__(self, task_id: str, agent: str, quota: int) -> None:
        super().__init__(
            f"{agent} has reached its quota of {quota}: task {task_id} waits",
            task_id=task_id,
            agent=agent,
            quota=quota,
        )


class SpawnDepth(Rejected):
    code = "spawn-depth"
    advice = "Start the child from a session at a lower depth, or raise max_depth on that card."

    def __init__(self, agent: str, depth: int, limit: int) -> None:
        super().__init__(
            f"the child would be at depth {depth}, and the limit is {limit} (max_depth on the card of {agent})",
            agent=agent,
            depth=depth,
            limit=limit,
        )


class SpawnLimit(Rejected):
    code = "spawn-limit"
    advice = "Wait until a child has ended, stop one, or raise max_children on that card."

    def __init__(self, agent: str, children: int, limit: int) -> None:
        super().__init__(
            f"{agent} has {children} children over all its sessions, and the limit is {limit} "
            f"(max_children on the card of {agent})",
            agent=agent,
            children=children,
            limit=limit,
        )


class SpawnNotAllowed(Rejected):
    code = "spawn-not-allowed"
    advice = "Start a child of an agent that is allowed, or change the list that the message names."

    def __init__(self, agent: str, child: str, allowed: Sequence[str], rule: str, owner: str) -> None:
        names = ", ".join(allowed) or "no agent"
        super().__init__(
            f"{agent} can't start a child of {child}: {rule} on the card of {owner} allows {names}",
            agent=agent,
            child=child,
            allowed=list(allowed),
            rule=rule,
        )


class NoParent(Rejected):
    code = "no-parent"
    advice = "Start a child of this session instead: spawn without asking for a sibling."

    def __init__(self, agent: str) -> None:
        super().__init__(f"this session of {agent} is not a child, so it has no siblings", agent=agent)


class NotYours(Rejected):
    code = "not-yours"
    advice = "Act as the agent that the error names, or as the operator."

    def __init__(self, action: str, message_id: str, agent: str | None, owner: str) -> None:
        super().__init__(
            f"{agent or 'an unnamed agent'} can't {action} message {message_id}: only {owner} or the operator can",
            action=action,
            message_id=message_id,
            agent=agent,
            owner=owner,
        )


class IdentityRefused(Rejected):
    code = "identity-refused"
    advice = "Join the space for a session of your own, or use a valid token."

    def __init__(self, reason: str) -> None:
        super().__init__(f"identity refused: {reason}", reason=reason)


class BeyondToken(Rejected):
    code = "beyond-token"
    advice = "Use the token of the agent that the action concerns, or the operator's."

    def __init__(self, agent: str, action: str) -> None:
        super().__init__(f"{agent}'s token can't {action}", agent=agent, action=action)


class OperatorOnly(Rejected):
    code = "operator-only"
    advice = "`covey token create --operator` makes the operator's token; commands take it from COVEY_TOKEN."

    def __init__(self, agent: str, action: str) -> None:
        super().__init__(f"{agent} may not {action}: only the operator may", agent=agent, action=action)


class HopsExhausted(Rejected):
    code = "hops-exhausted"
    advice = "Handle the message yourself or answer the sender: it can't be relayed further."

    def __init__(self, message_id: str) -> None:
        super().__init__(f"message {message_id} has no hops left", message_id=message_id)


class TreeExhausted(Rejected):
    code = "storm-budget"
    advice = "Send the answers that you owe, then stop. The operator can let the tree go on."

    def __init__(self, tree: str, limit: str, count: int, allowed: int) -> None:
        counted = (
            f"{count:,} hours" if limit == "hours" else f"{count:,} {limit}" if limit != "depth" else f"depth {count:,}"
        )
        super().__init__(
            f"the tree of message {tree} would have {counted}, and the limit is {allowed:,}: "
            f"`covey storms limits --{limit} N` raises the limit, `covey storms lift {tree}` lets this tree go on",
            tree=tree,
            limit=limit,
            count=count,
            allowed=allowed,
            raise_with=f"covey storms limits --{limit} N",
            lift_with=f"covey storms lift {tree}",
        )


class EchoStorm(Rejected):
    code = "echo-storm"
    advice = "Don't answer courtesies. A message with news is delivered; the operator can let the talk go on."

    def __init__(self, tree: str, sender: str, recipients: Sequence[str], count: int) -> None:
        others = " and ".join(recipients) if len(recipients) == 1 else "the others"
        super().__init__(
            f"{sender} and {others} have said nothing new in {count} messages: say something new, or "
            f"`covey storms lift {tree}` lets it go on",
            tree=tree,
            agents=[sender, *recipients],
            count=count,
            lift_with=f"covey storms lift {tree}",
        )


class ExchangeStorm(Rejected):
    code = "exchange-storm"
    advice = "Send the answers that you owe, and go on with your own work. The operator can let the exchange go on."

    def __init__(self, stop: str, agents: Sequence[str], count: int, until: str) -> None:
        who = f"{', '.join(agents[:-1])} and {agents[-1]}" if len(agents) > 1 else f"sessions of {agents[0]}"
        super().__init__(
            f"{who} have exchanged about {count:,} messages without a rest, so "
            f"they are stopped until {until}: `covey storms lift {stop}` lets them go on, "
            "`covey storms limits --exchange N` raises the limit",
            stop=stop,
            agents=[*agents],
            count=count,
            until=until,
            raise_with="covey storms limits --exchange N",
            lift_with=f"covey storms lift {stop}",
        )


class ProgressStorm(Rejected):
    code = "progress-storm"
    advice = "Report progress less often, at most every few seconds. Finishing the task is not limited."

    def __init__(self, task: str, agent: str, count: int, seconds: float) -> None:
        super().__init__(
            f"{agent} has reported the progress of task {task} {count:,} times, each within {seconds:g} s of the "
            f"update before: wait {seconds:g} s between updates, or `covey storms lift {task}` lets it go on",
            task=task,
            agents=[agent],
            count=count,
            seconds=seconds,
            raise_with="covey storms limits --progress N",
            lift_with=f"covey storms lift {task}",
        )


class WaitCircle(Rejected):
    code = "wait-circle"
    advice = (
        "First answer the request that you owe, ask back in its thread, or send yours without waiting for the answer."
    )

    def __init__(self, path: Sequence[str], waits: Sequence[str]) -> None:
        super().__init__(
            f"this wait would be a deadlock, {' → '.join((*path, path[0]))}: {'; '.join(waits)}",
            path=[*path, path[0]],
            waits=list(waits),
        )


class Paused(Rejected):
    code = "paused"
    advice = "Wait: mail is kept meanwhile. The operator ends the pause."

    def __init__(self, agent: str, by: str, reason: str, *, is_space: bool) -> None:
        what = "the space" if is_space else agent
        why = f" ({reason})" if reason else ""
        resume = "covey resume" if is_space else f"covey resume {agent}"
        super().__init__(
            f"{what} was paused by {by}{why}: `{resume}` lets it go on",
            agent=agent,
            is_space=is_space,
            by=by,
            reason=reason,
            resume_with=resume,
        )


class RoundsExhausted(Rejected):
    code = "rounds-exhausted"
    advice = (
        "Decide on what was said, and send the decision without waiting for a reply. The operator can raise the limit."
    )

    def __init__(self, session: str, rounds: int, seconds: float) -> None:
        super().__init__(
            f"the negotiation with {session} has used its {rounds} rounds: `covey storms limits --rounds N` raises the "
            f"limit, and a new negotiation can begin in {seconds:.0f} s",
            session=session,
            rounds=rounds,
            seconds=round(seconds, 3),
            raise_with="covey storms limits --rounds N",
        )


class KindRule(Rejected):
    code = "kind-rule"
    advice = "A request may expect a reply; a response names its request; a notify does neither."


class NotAnswered(Rejected):
    code = "messages-archive-without-reply"
    advice = "Reply to the request first; then archive it."

    def __init__(self, message_id: str) -> None:
        super().__init__(f"request {message_id} expects a reply and has none", message_id=message_id)


class AlreadyArchived(Rejected):
    code = "messages-already-archived"
    advice = "Do nothing: the message is archived. Read it with its thread."

    def __init__(self, message_id: str) -> None:
        super().__init__(f"message {message_id} is archived already", message_id=message_id)


class NotAnApproval(Rejected):
    code = "not-an-approval"
    advice = "Answer the message with a reply."

    def __init__(self, message_id: str) -> None:
        super().__init__(f"message {message_id} asks for no approval", message_id=message_id)


class DecisionMissing(Rejected):
    code = "decision-missing"
    advice = "Approve or reject the request; a remark alone is not an answer."

    def __init__(self, message_id: str, fault: str = "this one has none") -> None:
        super().__init__(
            f"the answer to request {message_id} must contain a decision: {fault}", message_id=message_id, fault=fault
        )


class AlreadyDecided(Rejected):
    code = "already-decided"
    advice = "The first decision counts; for another one, ask for approval again."

    def __init__(self, message_id: str, decision: str, answer: str | None) -> None:
        super().__init__(
            f"request {message_id} was {decision} already", message_id=message_id, decision=decision, answer=answer
        )
        self.decision = decision
        self.answer = answer


class GateClosed(Rejected):
    """The gate's refusal, with the code and the fields that the commit step of an agent loop expects."""

    code = "loop-commit-precondition-missing"
    advice = "Answer and archive the pending requests, or force the gate with a reason."

    def __init__(self, scope: str, pending: int, subjects: Sequence[str]) -> None:
        super().__init__(
            f"scope {scope} has {pending} unarchived request(s): {', '.join(subjects)}",
            scope=scope,
            missing="pending-replies-cleared",
            observed_pending_replies=pending,
            pending_subjects=list(subjects),
        )


class LabelAmbiguous(Rejected):
    code = "label-ambiguous"
    advice = "Use one of the session keys instead."

    def __init__(self, label: str, keys: Sequence[str]) -> None:
        super().__init__(f"label {label} names {len(keys)} sessions: {', '.join(keys)}", label=label, keys=list(keys))


class SessionEnded(Rejected):
    code = "session-ended"
    advice = "Join again for a new session; unhandled mail waits for it."

    def __init__(self, session_id: str, reason: str) -> None:
        super().__init__(f"session {session_id} has ended: {reason}", session_id=session_id, reason=reason)


class FileOutsideRoots(Rejected):
    code = "file-outside-roots"
    advice = "Declare the folder as a root when opening the space, or copy the file into one."

    def __init__(self, path: str, roots: Sequence[str]) -> None:
        super().__init__(f"the file {path} is outside the declared roots ({', '.join(roots) or 'none'})", path=path)


class FileOffLimits(Rejected):
    code = "file-off-limits"
    advice = "Choose another file: files of a store and credentials are never sent."

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path} is not read: {reason}", path=path, reason=reason)


class WouldOverwrite(Rejected):
    code = "would-overwrite"
    advice = "Choose another place, or say --replace; nothing was changed."

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(f"{place} would be overwritten: {reason}", place=place, reason=reason)


class ExportDamaged(Rejected):
    code = "export-damaged"
    advice = "Copy or make the export again, and import it again."

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line} of the export: {reason}", line=line, reason=reason)


class ExportNewer(Rejected):
    code = "export-newer"
    advice = "Upgrade Covey; nothing was changed."

    def __init__(self, version: int, known: int) -> None:
        super().__init__(
            f"the export has format version {version}, and this Covey reads up to version {known}",
            version=version,
            known=known,
        )


class ImportConflict(Rejected):
    code = "import-conflict"
    advice = "Import it into a new space: an export is imported as a whole or not at all."

    def __init__(self, what: str, item: str) -> None:
        super().__init__(
            f"{what} {item} exists in this space already, and does not come from this export", what=what, id=item
        )


class ProgramNotExecutable(Rejected):
    code = "program-not-executable"
    advice = "Make it executable, or name the program that runs it (sh FILE, python FILE); nothing has run."

    def __init__(self, command: str, reason: str) -> None:
        super().__init__(f"{command} can't be run: {reason}", command=command, reason=reason)


class RecipientUnknown(NotFound):
    code = "messages-recipient-unknown"
    advice = "Check the name against the list of agents."

    def __init__(self, recipient: str, closest: Sequence[str] = ()) -> None:
        hint = f"; did you mean {' or '.join(closest)}?" if closest else ""
        super().__init__(f"no agent {recipient} is known here{hint}", recipient=recipient, closest=list(closest))


class OrphanInbox(NotFound):
    code = "messages-orphan-inbox"
    advice = "`covey doctor` lists the waiting messages and says how to repair this."

    def __init__(self, agent: str, waiting: int) -> None:
        super().__init__(
            f"{waiting} message(s) wait for {agent}, and no agent has that name", agent=agent, waiting=waiting
        )


class MessageUnknown(NotFound):
    code = "message-unknown"
    advice = "Check the id; search finds messages by their words."

    def __init__(self, message_id: str) -> None:
        super().__init__(f"no message {message_id}", message_id=message_id)


class MessagePruned(NotFound):
    """The message was pruned. Raised also when it is sent again: an id is never accepted a second time."""

    code = "message-pruned"
    advice = "An older backup may have it; a new message needs a new id."

    def __init__(self, message_id: str) -> None:
        super().__init__(f"message {message_id} was accepted, closed and pruned", message_id=message_id)


class NumberUnknown(NotFound):
    code = "number-unknown"
    advice = "Look at the inbox for the numbers of the waiting messages."

    def __init__(self, number: str, agent: str) -> None:
        super().__init__(f"{agent} has no message with the number {number}", number=number, agent=agent)


class SessionUnknown(NotFound):
    code = "session-unknown"
    advice = "`covey sessions` lists the live sessions."

    def __init__(self, session: str) -> None:
        super().__init__(f"no live session {session}", session=session)


class TicketUnknown(NotFound):
    code = "ticket-unknown"
    advice = "A ticket's id is the request's id, an @ and the agent that owes the answer."

    def __init__(self, ticket: str) -> None:
        super().__init__(f"no ticket {ticket}", ticket=ticket)


class OfferUnknown(NotFound):
    code = "offer-unknown"
    advice = "Use the id that came with the offer."

    def __init__(self, offer: str) -> None:
        super().__init__(f"no offer {offer}", offer=offer)


class RunUnknown(NotFound):
    code = "run-unknown"
    advice = "`covey sessions --all` lists the sessions and their runs."

    def __init__(self, run: str) -> None:
        super().__init__(f"there is no run {run}", run=run)


class TokenUnknown(NotFound):
    code = "token-unknown"
    advice = "`covey token list` lists the tokens with their ids."

    def __init__(self, token_id: str) -> None:
        super().__init__(f"no token {token_id}", token=token_id)


class TaskUnknown(NotFound):
    code = "task-unknown"
    advice = "`covey tasks` lists the tasks; a task's id is the id of the message that delegated it."

    def __init__(self, task_id: str) -> None:
        super().__init__(f"no task {task_id}", task_id=task_id)


class DeliveryUnknown(NotFound):
    code = "delivery-unknown"
    advice = "`covey receipt ID` lists the deliveries of a message."

    def __init__(self, message_id: str, agent: str | None) -> None:
        super().__init__(f"message {message_id} was not delivered to {agent}", message_id=message_id, agent=agent)


class ChannelUnknown(NotFound):
    code = "channel-unknown"
    advice = "`covey channels` lists the channels; `covey channels add NAME` adds one."

    def __init__(self, name: str) -> None:
        super().__init__(f"no channel has the name {name}", channel=name)


class PostUnknown(NotFound):
    code = "post-unknown"
    advice = "`covey channels posts NAME` lists the posts of a channel; a post has the id of its delivery."

    def __init__(self, post_id: str) -> None:
        super().__init__(f"no post {post_id}", post=post_id)


class ConversationUnbound(NotFound):
    code = "conversation-unbound"
    advice = "Bind the conversation, or the whole channel, to an agent; or name the message that is answered."

    def __init__(self, channel: str, conversation: str) -> None:
        super().__init__(
            f"no agent is bound to {f'conversation {conversation} of ' if conversation else 'channel '}{channel}",
            channel=channel,
            conversation=conversation,
        )


class BlobMissing(NotFound):
    code = "blob-missing"
    advice = "Restore the blobs folder from a backup, or ask the sender for the file again."

    def __init__(self, digest: str) -> None:
        super().__init__(f"no blob {digest}", digest=digest)


class ProgramNotFound(NotFound):
    code = "program-not-found"
    advice = "Check its name, or give its whole path; nothing has run."

    def __init__(self, command: str) -> None:
        super().__init__(f"there is no program {command}", command=command)


class SpaceMissing(Unavailable):
    code = "space-missing"
    retryable = False
    advice = "Or name another space with --store or COVEY_STORE. Nothing was created."

    def __init__(self, store: str, reason: str) -> None:
        super().__init__(f"there is no space at {store}: {reason}", store=store, reason=reason)


class StoreBusy(Unavailable):
    code = "store-busy"
    advice = "Try again. If it fails again, look for a stopped process that holds the store."

    def __init__(self, path: str, waited_s: float) -> None:
        super().__init__(f"{path} was held by another process for {waited_s:g} s", path=path, waited_s=waited_s)


class StoreFull(Unavailable):
    code = "store-full"
    advice = "Free some disk space and try again; nothing was changed."

    def __init__(self, path: str) -> None:
        super().__init__(f"no room left to write {path}", path=path)


class StoreReadOnly(Unavailable):
    code = "store-read-only"
    retryable = False
    advice = "Make the folder and its files writable for this user, or choose another store."

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path} can't be written: {reason}", path=path, reason=reason)


class StoreCorrupt(Unavailable):
    code = "store-corrupt"
    retryable = False
    advice = "Keep a copy of the file, then restore a backup or choose another store."

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path} is damaged or is not a Covey store: {reason}", path=path, reason=reason)


class StoreNewer(Unavailable):
    code = "store-newer"
    retryable = False
    advice = "Upgrade Covey; nothing was changed."

    def __init__(self, path: str, unknown: Sequence[str]) -> None:
        super().__init__(
            f"{path} was written by a newer Covey (unknown: {', '.join(unknown)})", path=path, unknown=list(unknown)
        )


class StoreMissing(Unavailable):
    code = "store-missing"
    retryable = False
    advice = (
        "Put the files back, or restore a backup. Then open the space again, and send the messages that were not"
        " accepted again, with the same ids."
    )

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(
            f"{path} is no longer the store that was opened ({reason}): it was removed, moved or replaced."
            " Nothing was accepted since",
            path=path,
            reason=reason,
        )


class StoreUnconfirmed(Unavailable):
    code = "store-unconfirmed"
    retryable = False
    advice = (
        "Open the space again, then ask for each message with `covey receipt ID`. Sending again with the same id is"
        " safe: nothing is stored twice."
    )

    def __init__(self, path: str, reason: str, message_ids: Sequence[str] = ()) -> None:
        what = f"message {', '.join(message_ids)}" if message_ids else "a change"
        super().__init__(
            f"the disk did not confirm that {path} keeps {what} ({reason}): it may be kept or lost",
            path=path,
            reason=reason,
            message_ids=list(message_ids),
        )
        self.path = path
        self.reason = reason
        self.message_ids = tuple(message_ids)

    def about(self, message_ids: Sequence[str]) -> "StoreUnconfirmed":
        """Return the same error for the sender of these messages."""
        return StoreUnconfirmed(self.path, self.reason, message_ids)


class StoreStopped(Unavailable):
    code = "store-stopped"
    retryable = False
    advice = "Check the disk, then open the space again. Nothing from this call was stored."

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(
            f"this process has stopped using {path}: the disk did not confirm an earlier write ({reason})",
            path=path,
            reason=reason,
        )


class RecordDamaged(Unavailable):
    code = "record-damaged"
    retryable = False
    advice = "`covey doctor` lists the damage. Restore a backup, or copy the readable records (`--salvage NEW.db`)."

    def __init__(self, table: str, reason: str) -> None:
        super().__init__(f"a record in {table} is damaged: {reason}", table=table, reason=reason)


class MessageDamaged(Unavailable):
    code = "message-damaged"
    retryable = False
    advice = "Restore a backup, or ask the sender for the message again; `covey doctor` lists the damage."

    def __init__(self, message_id: str, reason: str) -> None:
        super().__init__(
            f"message {message_id} is damaged in the store and is not shown: {reason}",
            message_id=message_id,
            reason=reason,
        )


class StoreClosed(Unavailable):
    code = "store-closed"
    retryable = False
    advice = "Open the space again."

    def __init__(self) -> None:
        super().__init__("the store is closed")


class LogDiverged(Unavailable):
    code = "log-diverged"
    retryable = False
    advice = (
        "First save the records that only the replica has: `covey export FILE --store sqlite:REPLICA`, for a new space."
        " Then end all programs that use the space on this machine, and remove that folder: it is rebuilt from the log."
    )

    def __init__(self, log: str, replica: str, reason: str) -> None:
        folder = replica.rpartition("/")[0]
        message = f"{log} does not match its replica in {folder}: {reason}"
        super().__init__(message, log=log, replica=replica, folder=folder, reason=reason)


class SpaceInUse(Unavailable):
    code = "space-in-use"
    advice = "End the programs that use the space, then try again; nothing was changed."

    def __init__(self, path: str, who: str) -> None:
        super().__init__(f"{path} is in use: {who}", path=path, who=who)


class BackupUnusable(Unavailable):
    code = "backup-unusable"
    retryable = False
    advice = "Use another backup; nothing was changed."

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path} is damaged or is not a backup of Covey: {reason}", path=path, reason=reason)


class LauncherUnavailable(Unavailable):
    code = "launcher-unavailable"
    advice = "Try again. If it fails again, check how many processes this user may have (ulimit -u)."

    def __init__(self, reason: str) -> None:
        super().__init__(f"programs can't be started or ended now: {reason}", reason=reason)


class NatsUnreachable(Unavailable):
    code = "nats-unreachable"
    advice = "Check that a server runs at one of these addresses and that this machine reaches it."

    def __init__(self, servers: str, reason: str) -> None:
        super().__init__(f"no NATS server answers at {servers}: {reason}", servers=servers, reason=reason)


class NatsUntrusted(Unavailable):
    code = "nats-untrusted"
    retryable = False
    advice = "Give the certificate that signed the server's (tls_ca), or use nats:// if the server has no TLS."

    def __init__(self, servers: str, reason: str) -> None:
        super().__init__(f"no secure connection to {servers}: {reason}", servers=servers, reason=reason)


class NatsRefused(Unavailable):
    code = "nats-refused"
    retryable = False
    advice = "Give credentials that the server accepts; `covey nats permissions` writes the rights that an agent needs."

    def __init__(self, servers: str, reason: str) -> None:
        super().__init__(f"the NATS server at {servers} refuses: {reason}", servers=servers, reason=reason)


class NatsNoJetStream(Unavailable):
    code = "nats-no-jetstream"
    retryable = False
    advice = "Start the server with JetStream: `nats-server -js`, or a jetstream block in its configuration."

    def __init__(self, servers: str, reason: str) -> None:
        super().__init__(f"the NATS server at {servers} has no JetStream: {reason}", servers=servers, reason=reason)


class NatsStorageFull(Unavailable):
    code = "nats-storage-full"
    advice = "Give JetStream more room (max_file_store, or the account's limits), or prune the space; nothing changed."

    def __init__(self, servers: str, reason: str) -> None:
        super().__init__(f"the NATS server at {servers} has too little room: {reason}", servers=servers, reason=reason)


class NatsPayloadSmall(Unavailable):
    code = "nats-payload-small"
    retryable = False
    advice = "Raise max_payload in the server's configuration; 1MB is its default."

    def __init__(self, servers: str, size: int, least: int) -> None:
        super().__init__(
            f"the NATS server at {servers} takes messages up to {size:,} bytes (max_payload); {least:,} are needed",
            servers=servers,
            size=size,
            least=least,
        )


class ClocksApart(Unavailable):
    code = "clocks-apart"
    advice = "Synchronise both clocks (NTP); leases and deadlines depend on them."

    def __init__(self, seconds: float, limit: float) -> None:
        direction = "ahead of" if seconds > 0 else "behind"
        super().__init__(
            f"this machine's clock is {abs(seconds):.1f} s {direction} the server's; at most {limit:g} s are allowed",
            seconds=round(seconds, 3),
            limit=limit,
        )


class ExtraMissing(Unavailable):
    code = "extra-missing"
    retryable = False
    advice = "Install the extra that the message names."

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs the extra {extra}: pip install 'covey[{extra}]'", what=what, extra=extra)
