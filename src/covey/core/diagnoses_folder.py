"""Diagnoses of a folder that foreign programs share: unusable files, damaged state and leftovers."""

from typing import Final

from covey.core.finding import Area, Diagnosis, Severity

FOLDER_UNUSABLE: Final = Diagnosis(
    "folder-unusable",
    Area.FOLDER,
    Severity.ERROR,
    "The shared folder is gone, or can't be read or written. Nothing reaches those who read files, and what they put"
    " there is not seen.",
    "Make it readable and writable for this user, or bring it back; everything that is missing from it comes again.",
)
FOLDER_HINDERED: Final = Diagnosis(
    "folder-hindered",
    Area.FOLDER,
    Severity.ERROR,
    "What should be the folder of an agent, or of the archive, is a link or no folder, or can't be written. Links are"
    " never followed. The agent's mail is kept, and only its files are not there.",
    "Put a folder in its place, or give this user the right to write; the files come by themselves then.",
)
FOLDER_FILE_UNPARSED: Final = Diagnosis(
    "folder-file-unparsed",
    Area.FOLDER,
    Severity.WARNING,
    "A file in the shared folder is no message of its layout: it is no JSON, or fields are missing or wrong. It is left"
    " as it is, and nobody is shown it.",
    "Mend it, and it is taken in at once; or remove it. Its writer may have been killed, or have a bug.",
)
FOLDER_FILE_CHANGED: Final = Diagnosis(
    "folder-file-changed",
    Area.FOLDER,
    Severity.WARNING,
    "The file of a message was changed after it was taken in or written. Messages never change: the space keeps what it"
    " accepted, while those who read the file see something else.",
    "Send what has changed as a new message. `covey thread ID` shows what was accepted; removing the file brings it"
    " back.",
)
FOLDER_FILE_TWICE: Final = Diagnosis(
    "folder-file-twice",
    Area.FOLDER,
    Severity.WARNING,
    "Several files that other programs wrote have the same id. Each is a message of its own here, and an answer to that"
    " id goes to one of them.",
    "Have each message given an id of its own. Nothing was lost.",
)
MANIFEST_UNUSABLE: Final = Diagnosis(
    "manifest-unusable",
    Area.FOLDER,
    Severity.ERROR,
    "The manifest is no file, or can't be read and written. Messages come and go without it; its lines are missing.",
    "Move what stands in its place away, or give this user the right to write; the lines come by themselves then.",
)
FOLDER_FILE_LARGE: Final = Diagnosis(
    "folder-file-large",
    Area.FOLDER,
    Severity.WARNING,
    "A file in the shared folder is too large for a message. It is left as it is, and nobody is shown it.",
    "Have the bulk put elsewhere and its path sent, and remove the file.",
)
FOLDER_FILE_UNREADABLE: Final = Diagnosis(
    "folder-file-unreadable",
    Area.FOLDER,
    Severity.WARNING,
    "A file in the shared folder can't be read by this user. Nobody is shown it.",
    "Give this user the right to read it: it is taken in at once.",
)
FOLDER_FILE_LINK: Final = Diagnosis(
    "folder-file-link",
    Area.FOLDER,
    Severity.WARNING,
    "There is a symbolic link among messages, or among the folders of agents. It could lead anywhere, and is not"
    " followed.",
    "Put the file or folder itself there, or remove the link.",
)
FOLDER_FILE_SPECIAL: Final = Diagnosis(
    "folder-file-special",
    Area.FOLDER,
    Severity.WARNING,
    "There is a pipe, a socket or a device among messages. It is not opened.",
    "Remove it.",
)
FOLDER_FILE_MISNAMED: Final = Diagnosis(
    "folder-file-misnamed",
    Area.FOLDER,
    Severity.WARNING,
    "The name of a file or folder is no UTF-8, or can't be a name here: it has control characters or leads elsewhere."
    " It is left as it is, and nobody is shown it.",
    "Rename it: it is taken in at once.",
)
FOLDER_FILE_STRAY: Final = Diagnosis(
    "folder-file-stray",
    Area.FOLDER,
    Severity.NOTICE,
    "Something lies among messages that is none by its name, or is a folder. It is left as it is.",
    "Nothing depends on it. If it was meant as a message, give it the name of one.",
)
FOLDER_FILE_MISSING: Final = Diagnosis(
    "folder-file-missing",
    Area.FOLDER,
    Severity.NOTICE,
    "Files of messages were removed from the shared folder, or never got there because their writer was killed. The"
    " messages themselves are not touched by it.",
    "Just go on: the files come back with the next command.",
)
FOLDER_LEFTOVERS: Final = Diagnosis(
    "folder-leftovers",
    Area.FOLDER,
    Severity.NOTICE,
    "Writers that were killed left temporary files in the shared folder. Nobody reads them.",
    "Let --fix remove them, or just go on.",
    "removes the temporary files",
)
MANIFEST_TORN: Final = Diagnosis(
    "manifest-torn",
    Area.FOLDER,
    Severity.NOTICE,
    "Lines of the manifest can't be read: their writers were killed in the middle of them. Lines of ours were written"
    " again, whole.",
    "Nothing has to be done: the manifest is only ever added to.",
)
MANIFEST_LOCK_STALE: Final = Diagnosis(
    "manifest-lock-stale",
    Area.FOLDER,
    Severity.NOTICE,
    "The lock file of the manifest is held by nobody: its process is gone, or it is too old.",
    "Let --fix remove it, or just go on: whoever writes next does.",
    "removes the lock file",
)
REGISTRY_BROKEN: Final = Diagnosis(
    "registry-broken",
    Area.FOLDER,
    Severity.WARNING,
    "The registry of the mailboxes could not be read as JSON. Entries of ours come back by themselves; those of other"
    " programs when they register again.",
    "Look at what is in the broken file, and then remove it.",
)
NOTEBOOK_DAMAGED: Final = Diagnosis(
    "notebook-damaged",
    Area.FOLDER,
    Severity.NOTICE,
    "What was remembered of the shared folder is damaged. The next command looks at everything again; nothing is taken"
    " in twice.",
    "Let --fix throw it away, or just go on.",
    "throws the notebook away; the next look makes it anew",
)

FOLDER_DIAGNOSES: Final = (
    FOLDER_UNUSABLE,
    FOLDER_HINDERED,
    FOLDER_FILE_UNPARSED,
    FOLDER_FILE_CHANGED,
    FOLDER_FILE_TWICE,
    FOLDER_FILE_LARGE,
    FOLDER_FILE_UNREADABLE,
    FOLDER_FILE_LINK,
    FOLDER_FILE_SPECIAL,
    FOLDER_FILE_MISNAMED,
    FOLDER_FILE_STRAY,
    FOLDER_FILE_MISSING,
    FOLDER_LEFTOVERS,
    MANIFEST_UNUSABLE,
    MANIFEST_TORN,
    MANIFEST_LOCK_STALE,
    REGISTRY_BROKEN,
    NOTEBOOK_DAMAGED,
)
