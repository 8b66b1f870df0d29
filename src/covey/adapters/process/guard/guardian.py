"""The guardian of one run: it claims the folder, starts the program and supervises it to its end.

A guardian is forked ahead of time, serves one run and ends with it. It has no other children: all of its descendants
belong to the run.
"""

import errno
import json
import os
import signal
import socket
import time

from covey.adapters.process.guard import child, folder, protocol, tree
from covey.adapters.process.guard.protocol import OwnerConnection, ReceivedOrder, receive
from covey.adapters.process.guard.supervision import SWEEP, Outputs, SupervisedRun
from covey.adapters.process.guard.tree import SignalPipe


def stand_by(server: int, control: socket.socket, taken: int, owner: int) -> bool:
    """Wait for a run, report its arrival on `taken`, and supervise it. Return False if the owner wants no more runs.
    `owner` becomes readable when the owner is dead; a negative value means that there is no such descriptor."""
    tree.die_with(server)
    tree.adopt_orphans()
    with SignalPipe(signal.SIGCHLD, SWEEP) as waking:
        stub = child.PreforkedProcess(control.fileno(), taken)
        word, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        tree.live_on()
        control.close()
        os.write(taken, b"%d " % os.getpid())
        os.close(taken)
        if not descriptors:
            stub.dismiss()
        for descriptor in descriptors:
            with socket.socket(fileno=descriptor) as connection:
                connection.set_inheritable(False)
                _guard(connection, stub, waking, owner)
        return bool(word)


def _guard(connection: socket.socket, stub: child.PreforkedProcess, waking: SignalPipe, owner: int) -> None:
    heard = protocol.Frames()
    received = receive(connection, heard)
    if received is None:  # the owner has disconnected
        stub.dismiss()
        return
    try:
        run = _begin(received, stub, OwnerConnection(connection, heard), waking, owner)
    except child.StartRefused as refusal:
        refuse(connection, refusal)
        return
    try:
        run.watch()
        run.end()
    except BaseException:
        _complain(received.order.folder)
        raise


def refuse(connection: socket.socket, refusal: child.StartRefused) -> None:
    """Report to the owner that nothing has run, and the reason."""
    reason = json.dumps({"what": refusal.what, "errno": refusal.number})
    connection.setblocking(True)
    connection.sendall(protocol.frame(protocol.REFUSED, reason.encode()))


def _begin(
    received: ReceivedOrder, stub: child.PreforkedProcess, live: OwnerConnection, waking: SignalPipe, owner: int
) -> SupervisedRun:
    """Claim the folder and start the program; after a failure, restore the folder."""
    order = received.order
    try:
        claim = folder.RunClaim(order.folder, order.run)
    except OSError as error:
        stub.dismiss()
        raise child.StartRefused(child.FOLDER, error.errno or errno.EEXIST) from None
    try:
        stdin = _input(claim, order.folder, received.stdin)
    except OSError as error:
        stub.dismiss()
        claim.undo()
        raise child.StartRefused(child.FOLDER, error.errno or 0) from None
    started_at = time.time()
    try:
        started = stub.become(received.call, stdin)
    except child.StartRefused:
        claim.undo()
        raise
    claim.name(started.pid)
    outputs = Outputs(started, order.folder, order.output_limit, live)
    return SupervisedRun(order, started, outputs, live, waking, owner, started_at)


def _input(claim: folder.RunClaim, place: str, content: bytes | None) -> str:
    """Return the path of the program's standard input: a file, so that the guardian does not wait for the program to
    read."""
    if content is None:
        return os.devnull
    descriptor = claim.create(folder.STDIN)
    try:
        folder.write(descriptor, content)
    finally:
        os.close(descriptor)
    return os.path.join(place, folder.STDIN)


def _complain(place: str) -> None:
    """Log an error of the guardian itself, for people."""
    import traceback  # imported here because it is slow, and needed only after an error

    descriptor = os.open(os.path.join(place, folder.COMPLAINT), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    folder.keep(descriptor, traceback.format_exc().encode("utf-8", "replace"))
