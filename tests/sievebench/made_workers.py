"""What a worker may be instead of itself: it imports little, and so starts at once."""

import os
import threading
import time

from made_cells import done, planted

from featuresieve.files import draft_prefix
from sievebench.store import Store


def pretend(pipe, folder, _):
    """Write records of cells that never ran; be busy for ever with that of a forest."""
    pipe.send("ready")
    while (spec := pipe.recv()) is not None:
        if spec.selector == "forest":
            time.sleep(10**6)
        Store(folder).write(done(spec))
        pipe.send("done")


def fail(pipe, folder, _):
    """Write records of failures."""
    pipe.send("ready")
    while (spec := pipe.recv()) is not None:
        Store(folder).write(planted(spec))
        pipe.send("failed")


def leave_thread(pipe, *_):
    """Work as a worker does, for no cell, and leave a thread that never ends."""
    threading.Thread(target=threading.Event().wait, daemon=False).start()
    pipe.send("ready")
    pipe.recv()
    pipe.send("done")
    pipe.recv()


def half_write(pipe, folder, _):
    """Be killed while a record is written."""
    pipe.send("ready")
    path = Store(folder).path_of(pipe.recv())
    draft = f"{draft_prefix(path)}abcdefgh.part-{os.getpid()}"
    path.with_name(draft).write_text("{")
    os.kill(os.getpid(), 9)
