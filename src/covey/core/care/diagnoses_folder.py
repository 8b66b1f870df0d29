"""Diagnoses of a folder that foreign programs share: unusable files, damaged state and leftovers."""

from typing import Final

from covey.core.care.finding import Area, Diagnosis, Severity

FOLDER_UNUSABLE: Final = Diagnosis(
    "folder-unusable",
    Area.FOLDER,
    Severity.ERROR,
    "The shared folder is gone, or can't be read or written. Programs that read files get no messages, and their own"
    " messages are not seen.",
    "Make it readable and writable for this user, or bring it back; missing files are then written again.",
)
FOLDER_HINDERED: Final = Diagnosis(
    "folder-hindered",
    Area.FOLDER,
    Severity.ERROR,
    "The folder of an agent, or of the archive, is a link or no folder, or can't be written. Links are never followed."
    " The agent's mail is safe; only its files are missing.",
    "Put a folder in its place, or give this user the permission to write; the files are then written again.",
)
FOLDER_FILE_UNPARSED: Final = Diagnosis(
    "folder-file-unparsed",
    Area.FOLDER,
    Severity.WARNING,
    "A file in the shared folder is no message of its layout: it is no JSON, or fields are missing or wrong. The file"
    " is left unchanged, and is shown to no agent.",
    "Correct the file, and it is accepted at once; or remove it. Its writer may have been killed, or have a bug.",
)
FOLDER_FILE_CHANGED: Final = Diagnosis(
    "folder-file-changed",
    Area.FOLDER,
    Severity.WARNING,
    "The file of a message was changed after it was accepted or written. Messages never change: the space keeps the"
    " accepted message, while programs that read the file see another one.",
    "Send the change as a new message. `covey thread ID` shows the accepted message; if you remove the file, it is"
    " written again.",
)
FOLDER_FILE_TWICE: Final = Diagnosis(
    "folder-file-twice",
    Area.FOLDER,
    Severity.WARNING,
    "Several files that other programs wrote have the same id. Each is a separate message here, and an answer to that"
    " id goes to one of them.",
    "Let the programs give each message its own id. Nothing was lost.",
)
MANIFEST_UNUSABLE: Final = Diagnosis(
    "manifest-unusable",
    Area.FOLDER,
    Severity.ERROR,
    "The manifest is no file, or can't be read and written. Messages are exchanged without it, but its lines are"
    " missing.",
    "Move the object in its place away, or give this user the permission to write; the lines are then written again.",
)
FOLDER_FILE_LARGE: Final = Diagnosis(
    "folder-file-large",
    Area.FOLDER,
    Severity.WARNING,
    "A file in the shared folder is too large for a message. The file is left unchanged, and is shown to no agent.",
    "Put the bulk elsewhere, send its path, and remove the file.",
)
FOLDER_FILE_UNREADABLE: Final = Diagnosis(
    "folder-file-unreadable",
    Area.FOLDER,
    Severity.WARNING,
    "A file in the shared folder can't be read by this user. It is shown to no agent.",
    "Give this user the permission to read it: it is then accepted at once.",
)
FOLDER_FILE_LINK: Final = Diagnosis(
    "folder-file-link",
    Area.FOLDER,
    Severity.WARNING,
    "There is a symbolic link among messages, or among the folders of agents. A link could lead anywhere, so it is not"
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
    "The name of a file or folder is no UTF-8, or can't be used: it has control characters or leads elsewhere. The file"
    " is left unchanged, and is shown to no agent.",
    "Rename it: it is then accepted at once.",
)
FOLDER_FILE_STRAY: Final = Diagnosis(
    "folder-file-stray",
    Area.FOLDER,
    Severity.NOTICE,
    "There is a folder among messages, or a file that does not have the name of a message. It is left unchanged.",
    "Nothing depends on it. If it was meant as a message, give it the name of one.",
)
FOLDER_FILE_MISSING: Final = Diagnosis(
    "folder-file-missing",
    Area.FOLDER,
    Severity.NOTICE,
    "Files of messages were removed from the shared folder, or never written because their writer was killed. The"
    " messages themselves are not affected.",
    "Just go on: the next command writes the files again.",
)
FOLDER_LEFTOVERS: Final = Diagnosis(
    "folder-leftovers",
    Area.FOLDER,
    Severity.NOTICE,
    "Writers that were killed left temporary files in the shared folder. No program reads them.",
    "Let --fix remove them, or just go on.",
    "removes the temporary files",
)
MANIFEST_TORN: Final = Diagnosis(
    "manifest-torn",
    Area.FOLDER,
    Severity.NOTICE,
    "Lines of the manifest can't be read: their writers were killed while writing. Covey has written its own lines"
    " again.",
    "Nothing has to be done: the manifest is append-only.",
)
MANIFEST_LOCK_STALE: Final = Diagnosis(
    "manifest-lock-stale",
    Area.FOLDER,
    Severity.NOTICE,
    "The lock file of the manifest is held by no process: its process is gone, or the file is too old.",
    "Let --fix remove it, or just go on: the next writer removes it.",
    "removes the lock file",
)
REGISTRY_BROKEN: Final = Diagnosis(
    "registry-broken",
    Area.FOLDER,
    Severity.WARNING,
    "The registry of the mailboxes could not be read as JSON. Covey writes its own entries again; those of other"
    " programs come back when they register again.",
    "Look at the content of the broken file, and then remove it.",
)
NOTEBOOK_DAMAGED: Final = Diagnosis(
    "notebook-damaged",
    Area.FOLDER,
    Severity.NOTICE,
    "The notebook on the shared folder is damaged. The next command examines all files again; no message is accepted"
    " twice.",
    "Let --fix delete it, or just go on.",
    "deletes the notebook; the next look makes a new one",
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
