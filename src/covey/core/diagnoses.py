"""Diagnoses: every fault of a space that doctor can find, area by area."""

from typing import Final

from covey.core.diagnoses_folder import FOLDER_DIAGNOSES
from covey.core.finding import Area, Diagnosis, Severity

SERVER_MAY_LOSE: Final = Diagnosis(
    "server-may-lose-newest",
    Area.SERVER,
    Severity.WARNING,
    "What is accepted outlives every process, but not always a power cut: one server keeps the space, and acknowledges"
    " before its disk has it. When its machine stops, the newest messages may be lost although their senders were told"
    " that they were accepted.",
    "Let three servers keep it (?replicas=3), or set `sync_interval: always` in the server's jetstream block and name"
    " its monitor (?monitor=http://HOST:8222), so that this can be seen.",
)
SERVER_FEW_COPIES: Final = Diagnosis(
    "server-few-copies",
    Area.SERVER,
    Severity.WARNING,
    "The cluster has more servers than keep the space. When those that do are lost, so is the space, or it stands"
    " still.",
    "Open it once with ?replicas=3 in the URL, with the operator's credentials.",
)
SERVER_COPY_BEHIND: Final = Diagnosis(
    "server-copy-behind",
    Area.SERVER,
    Severity.WARNING,
    "A server that keeps a copy of the space is away or lags. When another is lost too, nothing can be sent until one"
    " of them is back.",
    "Start the server again, or see why it can't keep up: mostly its disk or its network.",
)
SERVER_CLOCK_APART: Final = Diagnosis(
    "server-clock-apart",
    Area.SERVER,
    Severity.WARNING,
    "The clocks of this machine and of the server do not agree. Leases and deadlines are judged too early or too late"
    " by that much; beyond 20 seconds the space can't be opened.",
    "Let both take their time from the network (NTP).",
)
SERVER_ROOM_SHORT: Final = Diagnosis(
    "server-room-short",
    Area.SERVER,
    Severity.WARNING,
    "The room that the server has for streams is nearly used up. When it is, nothing can be sent.",
    "Give JetStream more (max_file_store, or the account's limits), or `covey prune` what is closed.",
)
STORE_MISSING: Final = Diagnosis(
    "store-missing",
    Area.STORE,
    Severity.ERROR,
    "There is no space at this place. Where there should be one, the file was moved or deleted.",
    "Make one with `covey init`, name another with --store, or `covey restore` a backup.",
    blocks=True,
)
STORE_FOREIGN: Final = Diagnosis(
    "store-foreign",
    Area.STORE,
    Severity.ERROR,
    "The file is not a Covey store: it is no database, or one of another program. Covey leaves it as it is.",
    "Name another store with --store. If this was one, `covey restore` a backup.",
    blocks=True,
)
STORE_EMPTY: Final = Diagnosis(
    "store-empty",
    Area.STORE,
    Severity.ERROR,
    "The file has 0 bytes. Covey never makes such a file: the store was cut off, or another program made it.",
    "`covey restore` a backup to this path; or, for a new space, remove the file and run `covey init`.",
    blocks=True,
)
RECORDS_DAMAGED: Final = Diagnosis(
    "records-damaged",
    Area.STORE,
    Severity.ERROR,
    "Messages or deliveries are not what was written: their checksum is wrong, or their columns contradict the"
    " message. They are not shown as mail; everything else is.",
    "Ask the senders for these messages again, or `covey restore FILE --replace` from a backup. `covey doctor --salvage"
    " NEW.db` makes a store without the damaged ones.",
)
STORE_DAMAGED: Final = Diagnosis(
    "store-damaged",
    Area.STORE,
    Severity.ERROR,
    "The file fails its integrity check: parts of it were overwritten, cut off or never reached the disk.",
    "Stop the agents, then `covey restore FILE --replace` from a backup. Without one, `covey doctor --salvage NEW.db`"
    " copies what can still be read into a new store, for use or for `covey export`.",
    blocks=True,
)
STORE_UNREADABLE: Final = Diagnosis(
    "store-unreadable",
    Area.STORE,
    Severity.ERROR,
    "The file is there and can't be opened.",
    "See to the reason that is given: mostly the rights on the file or its folder, or a disk that fails.",
    blocks=True,
)
STORE_NEWER: Final = Diagnosis(
    "store-newer",
    Area.STORE,
    Severity.ERROR,
    "A newer Covey has changed the store's tables. This one does not touch it.",
    "Upgrade Covey. Going back is possible only with a backup from before.",
    blocks=True,
)
STORE_OUTDATED: Final = Diagnosis(
    "store-outdated",
    Area.STORE,
    Severity.NOTICE,
    "The store was made by an older Covey. The next command that opens it brings it up to date; older programs can't"
    " open it then.",
    "Let --fix do it now, or just go on.",
    "brings the store up to date, in one transaction",
    blocks=True,
)
STORE_READ_ONLY: Final = Diagnosis(
    "store-read-only",
    Area.STORE,
    Severity.ERROR,
    "The file or its folder can't be written, so that nothing can be sent, and mail can't be looked at either.",
    "Make them writable for this user, or choose another store.",
    blocks=True,
)
STORE_INDEX_DAMAGED: Final = Diagnosis(
    "store-index-damaged",
    Area.STORE,
    Severity.ERROR,
    "Indexes of the database do not fit its tables: looks may miss what is there. The tables themselves are whole.",
    "Let --fix make the indexes anew. If it comes back, the disk may be failing: take a backup.",
    "makes all indexes anew from the tables",
)
STORE_MISCOUNTED: Final = Diagnosis(
    "store-miscounted",
    Area.STORE,
    Severity.WARNING,
    "The number of queued messages that is kept for an inbox is wrong: it would count as full too early or too late.",
    "Let --fix count again.",
    "counts what is queued in each inbox again",
)
UNFINISHED_RESTORE: Final = Diagnosis(
    "unfinished-restore",
    Area.STORE,
    Severity.NOTICE,
    "A restore was killed. The store is as it was before; what was to come into it still takes up room beside it.",
    "Restore again, or let --fix remove what is left of it.",
    "removes what the restore left",
)
RECORD_UNREADABLE: Final = Diagnosis(
    "record-unreadable",
    Area.STORE,
    Severity.ERROR,
    "A record can't be understood: another program has changed the store, or it is damaged in a way that SQLite"
    " can't see. Whoever comes across it fails.",
    "`covey restore FILE --replace` from a backup of before. Without one, keep a copy of the file and report it.",
)
NOT_EXAMINED: Final = Diagnosis(
    "not-examined",
    Area.STORE,
    Severity.ERROR,
    "An area could not be looked at. What may be wrong there is not known.",
    "See to the reason that is given, then run doctor again.",
)
WRONG_PERMISSIONS: Final = Diagnosis(
    "wrong-permissions",
    Area.FILES,
    Severity.WARNING,
    "Files of a space are for their owner alone: 0600, folders 0700. With other rights, other users may read or change"
    " mail, or Covey itself is kept out.",
    "Let --fix set them; a file of another user has to be given back by that user or by root (chown).",
    "sets 0600 on the files and 0700 on the folders",
)
STALE_DOORBELL: Final = Diagnosis(
    "stale-doorbell",
    Area.WAKEUPS,
    Severity.NOTICE,
    "A process that listened was killed and left its socket, or links to it. Nobody answers there. Whoever rings or"
    " listens next removes it.",
    "Let --fix remove them, or just go on.",
    "removes the sockets and links that nobody answers",
)
RUNTIME_FOLDER_UNUSABLE: Final = Diagnosis(
    "runtime-folder-unusable",
    Area.WAKEUPS,
    Severity.ERROR,
    "The folder for wake-ups is not private or can't be used. Mail still arrives, but waiting programs notice it up to"
    " two seconds later, or can't listen at all.",
    "Set COVEY_RUNTIME_DIR to a short absolute path of a folder that is yours alone (mode 0700).",
    "sets 0700 on the folder",
)
SEARCH_LAGGING: Final = Diagnosis(
    "search-lagging",
    Area.SEARCH,
    Severity.NOTICE,
    "The search index is far behind the messages. The next search takes them in first, and so takes long.",
    "Let --fix take them in now, or just search.",
    "takes the missing messages in",
)
SEARCH_DAMAGED: Final = Diagnosis(
    "search-damaged",
    Area.SEARCH,
    Severity.WARNING,
    "The search index is damaged, incomplete or of another store: searches miss messages. The messages are not"
    " touched by it.",
    "Let --fix make it anew.",
    "deletes the index and makes it anew from the messages",
)
BLOB_MISSING: Final = Diagnosis(
    "blob-missing",
    Area.BLOBS,
    Severity.ERROR,
    "Messages refer to files whose content is gone from the blobs folder.",
    "Restore the blobs folder from a backup, or ask the senders for the files again.",
)
LEFTOVER_FILES: Final = Diagnosis(
    "leftover-files",
    Area.BLOBS,
    Severity.NOTICE,
    "Processes that were killed while they stored a file left unfinished pieces. Nothing refers to them.",
    "Let --fix remove them, or just go on.",
    "removes the unfinished pieces",
)
EXPIRED_LEASE: Final = Diagnosis(
    "expired-lease",
    Area.SESSIONS,
    Severity.NOTICE,
    "The process of a session is gone, or its heartbeat stopped, and nobody has written that down yet. Its mail is"
    " still in its inbox.",
    "Let --fix do it now, or just go on: whoever is active in the space next does it.",
    "ends the sessions; what they left unhandled is parked for the next one, or given to a sibling",
)
STUCK_OFFER: Final = Diagnosis(
    "stuck-offer",
    Area.OFFERS,
    Severity.WARNING,
    "Messages were shown to a model, there is no evidence that they arrived, and the lease of the showing is over or"
    " was lost.",
    "Let --fix return them. Those whose lease is over return by themselves when somebody is active in the space.",
    "ends the offers; what they hold is queued again",
)
ORPHAN_INBOX: Final = Diagnosis(
    "messaging-orphan-inbox",
    Area.INBOXES,
    Severity.ERROR,
    "Mail waits in an inbox that belongs to nobody: its agent is not known any more, or its session has ended or never"
    " was. Nobody will ever be shown it.",
    "Let --fix give it back to its agent, or look at it with `covey thread ID` and archive it.",
    "registers unknown agents again, with blank cards, and parks the mail with its agents",
)
RESERVED_NAME: Final = Diagnosis(
    "agent-name-reserved",
    Area.INBOXES,
    Severity.WARNING,
    "An agent of this space has a name that readers would take for the space, the operator or a role of a model's"
    " request. Such names were possible once. What the agent sent and got can be read, and nobody can join or act as it"
    " any more.",
    "Join under another name, and let others write to that. What waits for the old name can be handled by the operator"
    " (`covey inbox AGENT`, `covey handle`).",
)
UNANSWERABLE_TICKET: Final = Diagnosis(
    "unanswerable-ticket",
    Area.TICKETS,
    Severity.WARNING,
    "An answer is owed that nobody can give: the request expired, was evicted or never arrived, or the agent that owes"
    " it is unknown. It keeps the gate of its scope closed.",
    "Ask again, `covey archive ID --agent` who owes it, or let --fix close the debts.",
    "closes these debts as forced, with your name in the journal; a gate that waited only for them opens",
)
TASK_WITHOUT_MESSAGE: Final = Diagnosis(
    "task-without-message",
    Area.TASKS,
    Severity.ERROR,
    "The message that handed a task over is gone, and the task is not finished. Nobody can work on it, and whoever"
    " comes across it fails.",
    "Restore a backup that has the message, or let --fix give the task up, and hand it over again.",
    "fails these tasks; who handed them over has to be told by you",
)
TASK_UNRECORDED: Final = Diagnosis(
    "task-unrecorded",
    Area.TASKS,
    Severity.ERROR,
    "A task waits in an inbox, and there is no record of it: nobody can take it.",
    "Let --fix make the record.",
    "makes the record from the message and the journal",
)
TASK_CLAIM_LOST: Final = Diagnosis(
    "task-claim-lost",
    Area.TASKS,
    Severity.WARNING,
    "A task is with a session that has ended or never was. No other session can take it up.",
    "Let --fix let go of it, or `covey cancel ID`.",
    "lets go of these tasks, and tells who handed them over; the next session of their agents takes them up",
)
TASK_OVERDUE: Final = Diagnosis(
    "task-overdue",
    Area.TASKS,
    Severity.NOTICE,
    "The deadline of a task has passed, and nobody has written that down yet.",
    "Let --fix do it now, or just go on: whoever is active in the space next does it.",
    "fails these tasks, and tells those who handed them over and those who have them",
)
TASK_UNTOLD: Final = Diagnosis(
    "task-untold",
    Area.TASKS,
    Severity.NOTICE,
    "The session that worked on a task has ended, and whoever handed the task over has not been told yet.",
    "Let --fix do it now, or just go on: whoever is active in the space next does it.",
    "tells those who handed the tasks over",
)
QUOTA_EXCEEDED: Final = Diagnosis(
    "quota-exceeded",
    Area.TASKS,
    Severity.WARNING,
    "An agent has more tasks than its quota allows. Mostly the quota was lowered while they went on. It gets no others"
    " until it has finished some.",
    "Raise the quota on its card, or `covey cancel` some of them; `covey tasks` lists them.",
)
RUN_SESSIONLESS: Final = Diagnosis(
    "run-sessionless",
    Area.RUNS,
    Severity.WARNING,
    "The session of a child has ended or never was, and its run counts as not over. It takes one of its parent's"
    " places, and whoever waits for its result waits for ever.",
    "Let --fix write down that it is lost.",
    "ends these runs as lost, and tells their parents",
)
RUN_UNTOLD: Final = Diagnosis(
    "run-untold",
    Area.RUNS,
    Severity.NOTICE,
    "A child is lost, because what watched over it is gone, and its parent has not been told yet.",
    "Let --fix do it now, or just go on: whoever is active in the space next does it.",
    "answers in the names of these children",
)
RUN_UNCLEARED: Final = Diagnosis(
    "run-uncleared",
    Area.RUNS,
    Severity.NOTICE,
    "A child has ended, and its folder with its attachments is still there. Its thread can't be pruned until it is"
    " gone.",
    "Just go on: whoever starts children on that machine next removes it.",
)
WAIT_LEFT: Final = Diagnosis(
    "wait-left",
    Area.STORMS,
    Severity.NOTICE,
    "A process that waited was killed, and it is still written down that it waits. Nobody is held up by it.",
    "Let --fix remove it, or just go on.",
    "forgets these waits",
)
TREE_ROOTLESS: Final = Diagnosis(
    "tree-rootless",
    Area.STORMS,
    Severity.WARNING,
    "What a causal tree has come to is known, and the message that it began with was never here: it may be listed as a"
    " storm that nobody can look at.",
    "Let --fix forget it.",
    "forgets these trees",
)
POST_STUCK: Final = Diagnosis(
    "post-stuck",
    Area.CHANNELS,
    Severity.ERROR,
    "A post is the next of its conversation, and has no time at which it is tried. It and all behind it would wait for"
    " ever.",
    "Let --fix have it tried now.",
    "has these posts tried now",
)
POST_MISSING: Final = Diagnosis(
    "post-missing",
    Area.CHANNELS,
    Severity.WARNING,
    "A message waits in the inbox of a channel and is not to be posted: it was sent before there was a channel, or the"
    " post is lost.",
    "Let --fix have it posted, or put it away with `covey archive ID --agent CHANNEL`.",
    "makes the posts; they are carried like any other",
)
CHANNEL_INCOMPLETE: Final = Diagnosis(
    "channel-incomplete",
    Area.CHANNELS,
    Severity.WARNING,
    "A channel is known without its URL and secret, which do not travel with an export. Its posts wait.",
    "`covey channels add NAME --webhook URL` again, or `covey channels remove NAME`.",
)
BINDING_DEAD: Final = Diagnosis(
    "binding-dead",
    Area.CHANNELS,
    Severity.WARNING,
    "A conversation is bound to an agent that is not known, to a session that has ended, or belongs to no channel."
    " Nobody hears what people say there.",
    "`covey channels bind NAME CONVERSATION --to AGENT`, or `covey channels unbind NAME CONVERSATION`.",
)
JOURNAL_DISAGREES: Final = Diagnosis(
    "journal-disagrees",
    Area.JOURNAL,
    Severity.ERROR,
    "What the records say does not follow from the journal, or breaks a rule of the ledger: something changed the store"
    " past Covey, or Covey has a bug.",
    "Mend what else was found first. If it stays: `covey log --message ID` shows what happened, and a backup from"
    " before brings the old state back. Nothing is changed here: either side could be the wrong one.",
)

DIAGNOSES: Final = (
    SERVER_MAY_LOSE,
    SERVER_FEW_COPIES,
    SERVER_COPY_BEHIND,
    SERVER_CLOCK_APART,
    SERVER_ROOM_SHORT,
    STORE_MISSING,
    STORE_EMPTY,
    RECORDS_DAMAGED,
    STORE_FOREIGN,
    STORE_UNREADABLE,
    STORE_DAMAGED,
    STORE_INDEX_DAMAGED,
    STORE_MISCOUNTED,
    STORE_NEWER,
    STORE_OUTDATED,
    STORE_READ_ONLY,
    UNFINISHED_RESTORE,
    RECORD_UNREADABLE,
    NOT_EXAMINED,
    WRONG_PERMISSIONS,
    *FOLDER_DIAGNOSES,
    STALE_DOORBELL,
    RUNTIME_FOLDER_UNUSABLE,
    SEARCH_LAGGING,
    SEARCH_DAMAGED,
    BLOB_MISSING,
    LEFTOVER_FILES,
    EXPIRED_LEASE,
    STUCK_OFFER,
    ORPHAN_INBOX,
    RESERVED_NAME,
    UNANSWERABLE_TICKET,
    TASK_WITHOUT_MESSAGE,
    TASK_UNRECORDED,
    TASK_CLAIM_LOST,
    TASK_OVERDUE,
    TASK_UNTOLD,
    QUOTA_EXCEEDED,
    RUN_SESSIONLESS,
    RUN_UNTOLD,
    RUN_UNCLEARED,
    WAIT_LEFT,
    TREE_ROOTLESS,
    POST_STUCK,
    POST_MISSING,
    CHANNEL_INCOMPLETE,
    BINDING_DEAD,
    JOURNAL_DISAGREES,
)
