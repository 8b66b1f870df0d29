"""Diagnoses: every fault of a space that doctor can find, area by area."""

from typing import Final

from covey.core.care.diagnoses_folder import FOLDER_DIAGNOSES
from covey.core.care.finding import Area, Diagnosis, Severity

SERVER_MAY_LOSE: Final = Diagnosis(
    "server-may-lose-newest",
    Area.SERVER,
    Severity.WARNING,
    "An accepted message survives the death of any process, but not always a power cut: one server keeps the space, and"
    " acknowledges a message before it is on its disk. When the server's machine stops, the newest messages may be lost"
    " although their senders were told that they were accepted.",
    "Let three servers keep the space (?replicas=3), or set `sync_interval: always` in the server's jetstream block and"
    " name its monitor (?monitor=http://HOST:8222), so that doctor can see the setting.",
)
SERVER_FEW_COPIES: Final = Diagnosis(
    "server-few-copies",
    Area.SERVER,
    Severity.WARNING,
    "Only some servers of the cluster keep the space. When these are lost, the space is lost or stands still.",
    "Open the space once with ?replicas=3 in the URL, with the operator's credentials.",
)
SERVER_COPY_BEHIND: Final = Diagnosis(
    "server-copy-behind",
    Area.SERVER,
    Severity.WARNING,
    "A server that keeps a copy of the space is offline or lags. When another one is lost too, nothing can be sent"
    " until one of them is back.",
    "Start the server again, or find out why it lags: mostly its disk or its network.",
)
SERVER_CLOCK_APART: Final = Diagnosis(
    "server-clock-apart",
    Area.SERVER,
    Severity.WARNING,
    "The clocks of this machine and of the server differ. Leases and deadlines end too early or too late by that"
    " difference; beyond 20 seconds the space can't be opened.",
    "Synchronise both clocks (NTP).",
)
SERVER_ROOM_SHORT: Final = Diagnosis(
    "server-room-short",
    Area.SERVER,
    Severity.WARNING,
    "The server's storage for streams is nearly full. When it is full, nothing can be sent.",
    "Give JetStream more storage (max_file_store, or the account's limits), or `covey prune` closed threads.",
)
STORE_MISSING: Final = Diagnosis(
    "store-missing",
    Area.STORE,
    Severity.ERROR,
    "There is no space at this place. If there was one, its file was moved or deleted.",
    "Make one with `covey init`, name another with --store, or `covey restore` a backup.",
    blocks=True,
)
STORE_FOREIGN: Final = Diagnosis(
    "store-foreign",
    Area.STORE,
    Severity.ERROR,
    "The file is not a Covey store: it is no database, or a database of another program. Covey does not change it.",
    "Name another store with --store. If the file was a Covey store, `covey restore` a backup.",
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
    "Messages or deliveries are damaged: their checksum is wrong, or their columns contradict the message. They are not"
    " shown as mail; all other mail is.",
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
    "The file exists and can't be opened.",
    "Remove the cause that is given: mostly the permissions of the file or its folder, or a failing disk.",
    blocks=True,
)
STORE_NEWER: Final = Diagnosis(
    "store-newer",
    Area.STORE,
    Severity.ERROR,
    "A newer Covey has changed the store's tables. This version does not touch the store.",
    "Upgrade Covey. To go back to this version, restore a backup from before the change.",
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
    "The file or its folder can't be written, so that nothing can be sent, and mail can't be read either.",
    "Make them writable for this user, or choose another store.",
    blocks=True,
)
STORE_INDEX_DAMAGED: Final = Diagnosis(
    "store-index-damaged",
    Area.STORE,
    Severity.ERROR,
    "Indexes of the database do not match its tables: reads may miss records. The tables themselves are intact.",
    "Let --fix rebuild the indexes. If the damage comes back, the disk may be failing: take a backup.",
    "rebuilds all indexes from the tables",
)
STORE_MISCOUNTED: Final = Diagnosis(
    "store-miscounted",
    Area.STORE,
    Severity.WARNING,
    "The stored number of queued messages of an inbox is wrong: the inbox would be full too early or too late.",
    "Let --fix count again.",
    "counts the queued messages of each inbox again",
)
UNFINISHED_RESTORE: Final = Diagnosis(
    "unfinished-restore",
    Area.STORE,
    Severity.NOTICE,
    "A restore was killed. The store is unchanged, but files of the restore still take up room beside it.",
    "Restore again, or let --fix remove these files.",
    "removes the files of the restore",
)
RECORD_UNREADABLE: Final = Diagnosis(
    "record-unreadable",
    Area.STORE,
    Severity.ERROR,
    "A record can't be parsed: another program has changed the store, or it is damaged in a way that SQLite can't"
    " detect. Commands that read the record fail.",
    "`covey restore FILE --replace` from an older backup. Without one, keep a copy of the file and report it.",
)
NOT_EXAMINED: Final = Diagnosis(
    "not-examined",
    Area.STORE,
    Severity.ERROR,
    "An area could not be examined. It may have faults that are not listed.",
    "Remove the cause that is given, then run doctor again.",
)
WRONG_PERMISSIONS: Final = Diagnosis(
    "wrong-permissions",
    Area.FILES,
    Severity.WARNING,
    "Files of a space must be private to their owner: 0600, folders 0700. With other permissions, other users may read"
    " or change mail, or Covey itself has no access.",
    "Let --fix set them; the owner of a file of another user can be changed only by that user or by root (chown).",
    "sets 0600 on the files and 0700 on the folders",
)
STALE_DOORBELL: Final = Diagnosis(
    "stale-doorbell",
    Area.WAKEUPS,
    Severity.NOTICE,
    "A process that listened was killed and left its socket, or links to it. No process answers there. The next process"
    " that rings or listens removes them.",
    "Let --fix remove them, or just go on.",
    "removes the sockets and links that no process answers",
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
    "The search index is far behind the messages. The next search indexes them first, and so takes long.",
    "Let --fix index them now, or just search.",
    "indexes the missing messages",
)
SEARCH_DAMAGED: Final = Diagnosis(
    "search-damaged",
    Area.SEARCH,
    Severity.WARNING,
    "The search index is damaged, incomplete or of another store: searches miss messages. The messages themselves are"
    " not affected.",
    "Let --fix rebuild the index.",
    "deletes the index and rebuilds it from the messages",
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
    "Processes that were killed while they stored a file left unfinished files. Nothing refers to them.",
    "Let --fix remove them, or just go on.",
    "removes the unfinished files",
)
EXPIRED_LEASE: Final = Diagnosis(
    "expired-lease",
    Area.SESSIONS,
    Severity.NOTICE,
    "The process of a session is gone, or its heartbeat stopped, and the end of the session is not recorded yet. Its"
    " mail is still in its inbox.",
    "Let --fix record it now, or just go on: the next program that is active in the space does so.",
    "ends the sessions; their unhandled mail is parked for the next session, or given to a sibling",
)
STUCK_OFFER: Final = Diagnosis(
    "stuck-offer",
    Area.OFFERS,
    Severity.WARNING,
    "Messages were offered to a model, there is no evidence that they reached its context, and the lease of the offer"
    " has ended or was lost.",
    "Let --fix return them. Those whose lease has ended return when a program is active in the space.",
    "ends the offers; their messages are queued again",
)
ORPHAN_INBOX: Final = Diagnosis(
    "messaging-orphan-inbox",
    Area.INBOXES,
    Severity.ERROR,
    "Mail waits in an inbox without an owner: its agent is not registered, or its session has ended or never existed."
    " The mail will never be shown.",
    "Let --fix give the mail back to its agent, or read it with `covey thread ID` and archive it.",
    "registers unknown agents again, with blank cards, and parks the mail with its agents",
)
RESERVED_NAME: Final = Diagnosis(
    "agent-name-reserved",
    Area.INBOXES,
    Severity.WARNING,
    "An agent of this space has a name that readers would take for the space, the operator or a role of a model's"
    " request. Older versions allowed such names. The agent's mail can still be read, but no program can join or act as"
    " this agent any more.",
    "Join under another name, and let others write to that one. The operator can handle the mail that waits for the old"
    " name (`covey inbox AGENT`, `covey handle`).",
)
UNANSWERABLE_TICKET: Final = Diagnosis(
    "unanswerable-ticket",
    Area.TICKETS,
    Severity.WARNING,
    "An answer is owed that no agent can give: the request expired, was evicted or never arrived, or the agent that"
    " owes the answer is unknown. The ticket keeps the gate of its scope closed.",
    "Ask again, `covey archive ID --as AGENT` for the agent that owes the answer, or let --fix close the debts.",
    "closes these debts as forced, with your name in the journal; a gate that waited only for them opens",
)
OFFLINE_DEBTOR: Final = Diagnosis(
    "offline-agent-owes",
    Area.TICKETS,
    Severity.REMARK,
    "An agent without a live session owes an answer. The question waits until the agent joins again, and an asker that"
    " waits for the answer may wait in vain.",
    "Start the agent again; `covey owed AGENT` lists its questions. Or answer in its name with"
    " `covey reply AGENT:N TEXT --as AGENT`, or ask another agent.",
)
TASK_WITHOUT_MESSAGE: Final = Diagnosis(
    "task-without-message",
    Area.TASKS,
    Severity.ERROR,
    "The message that handed a task over is gone, and the task is not finished. No session can work on it, and commands"
    " that read it fail.",
    "Restore a backup that has the message, or let --fix fail the task, and hand it over again.",
    "fails these tasks; their delegators are not told, so tell them yourself",
)
TASK_UNRECORDED: Final = Diagnosis(
    "task-unrecorded",
    Area.TASKS,
    Severity.ERROR,
    "A task waits in an inbox, and there is no record of it: no session can take it.",
    "Let --fix make the record.",
    "makes the record from the message and the journal",
)
TASK_CLAIM_LOST: Final = Diagnosis(
    "task-claim-lost",
    Area.TASKS,
    Severity.WARNING,
    "A task is claimed by a session that has ended or never existed. No other session can take it.",
    "Let --fix release the task, or `covey cancel ID`.",
    "releases these tasks, and tells their delegators; the next session of their agents takes them up",
)
TASK_OVERDUE: Final = Diagnosis(
    "task-overdue",
    Area.TASKS,
    Severity.NOTICE,
    "The deadline of a task has passed, and its failure is not recorded yet.",
    "Let --fix record it now, or just go on: the next program that is active in the space does so.",
    "fails these tasks, and tells their delegators and the sessions that have them",
)
TASK_UNTOLD: Final = Diagnosis(
    "task-untold",
    Area.TASKS,
    Severity.NOTICE,
    "The session that worked on a task has ended, and the task's delegator has not been told yet.",
    "Let --fix tell it now, or just go on: the next program that is active in the space does so.",
    "tells the delegators of the tasks",
)
QUOTA_EXCEEDED: Final = Diagnosis(
    "quota-exceeded",
    Area.TASKS,
    Severity.WARNING,
    "An agent has more tasks than its quota allows, mostly because the quota was lowered meanwhile. The agent gets no"
    " other tasks until it has finished some.",
    "Raise the quota on its card, or `covey cancel` some of them; `covey tasks` lists them.",
)
RUN_SESSIONLESS: Final = Diagnosis(
    "run-sessionless",
    Area.RUNS,
    Severity.WARNING,
    "The session of a child has ended or never existed, and its run counts as running. It takes one of its parent's"
    " places, and a program that waits for its result waits for ever.",
    "Let --fix record that the run is lost.",
    "ends these runs as lost, and tells their parents",
)
RUN_UNTOLD: Final = Diagnosis(
    "run-untold",
    Area.RUNS,
    Severity.NOTICE,
    "A child is lost, because its supervisor is gone, and its parent has not been told yet.",
    "Let --fix tell it now, or just go on: the next program that is active in the space does so.",
    "answers in the names of these children",
)
RUN_UNCLEARED: Final = Diagnosis(
    "run-uncleared",
    Area.RUNS,
    Severity.NOTICE,
    "A child has ended, and its folder with its attachments still exists. Its thread can't be pruned until the folder"
    " is gone.",
    "Just go on: the next program that starts children on that machine removes it.",
)
WAIT_LEFT: Final = Diagnosis(
    "wait-left",
    Area.STORMS,
    Severity.NOTICE,
    "A process that waited was killed, and its wait is still recorded. The wait blocks no other agent.",
    "Let --fix remove it, or just go on.",
    "removes these waits",
)
TREE_ROOTLESS: Final = Diagnosis(
    "tree-rootless",
    Area.STORMS,
    Severity.WARNING,
    "A causal tree is recorded whose first message was never in this space: it may be listed as a storm that can't be"
    " examined.",
    "Let --fix remove it.",
    "removes these trees",
)
POST_STUCK: Final = Diagnosis(
    "post-stuck",
    Area.CHANNELS,
    Severity.ERROR,
    "A post is the next one of its conversation, and has no time for its next attempt. The post and all posts behind it"
    " would wait for ever.",
    "Let --fix schedule it now.",
    "schedules these posts for now",
)
POST_MISSING: Final = Diagnosis(
    "post-missing",
    Area.CHANNELS,
    Severity.WARNING,
    "A message waits in the inbox of a channel and has no post: it was sent before the channel existed, or the post is"
    " lost.",
    "Let --fix make the post, or archive the message with `covey archive ID --as CHANNEL`.",
    "makes the posts; they are carried like any other",
)
CHANNEL_INCOMPLETE: Final = Diagnosis(
    "channel-incomplete",
    Area.CHANNELS,
    Severity.WARNING,
    "A channel has no URL and secret, because exports leave these out. Its posts wait.",
    "`covey channels add NAME --webhook URL` again, or `covey channels remove NAME`.",
)
BINDING_DEAD: Final = Diagnosis(
    "binding-dead",
    Area.CHANNELS,
    Severity.WARNING,
    "A conversation is bound to an unknown agent or to a session that has ended, or belongs to no channel. No agent"
    " gets what people say there.",
    "`covey channels bind NAME CONVERSATION --to AGENT`, or `covey channels unbind NAME CONVERSATION`.",
)
JOURNAL_DISAGREES: Final = Diagnosis(
    "journal-disagrees",
    Area.JOURNAL,
    Severity.ERROR,
    "Records contradict the journal, or break a rule of the ledger: another program changed the store, or Covey has a"
    " bug.",
    "Fix the other findings first. If this one stays: `covey log --message ID` shows the events, and an older backup"
    " brings the old state back. --fix changes nothing here: either side could be wrong.",
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
    OFFLINE_DEBTOR,
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
