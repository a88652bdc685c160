"""A process that does one task after another for hlsgen.schedule.own_processes, as long as it is asked to."""

from __future__ import annotations

import os
import pickle
import sys
import threading
import time
import traceback
from typing import IO

from hlsgen.base.errors import HlsgenError

LENGTH_BYTES = 8
LOOKS_SECONDS = 1.0
"""How often a worker looks whether anyone is left that waits for it."""


def read_frame(file: IO[bytes]) -> bytes | None:
    """The next frame: its length, then as many bytes. None: whoever writes has ended."""
    head = file.read(LENGTH_BYTES)
    if len(head) < LENGTH_BYTES:
        return None
    length = int.from_bytes(head, "big")
    frame = file.read(length)
    return frame if len(frame) == length else None


def write_frame(file: IO[bytes], frame: bytes) -> None:
    """Writes a frame. Raises OSError: whoever reads has ended."""
    file.write(len(frame).to_bytes(LENGTH_BYTES, "big") + frame)
    file.flush()


def _end_with(parent: int) -> None:
    """Ends this process, in the middle of a task too, once its parent was killed: LLVM may take hours."""
    while os.getppid() == parent:
        time.sleep(LOOKS_SECONDS)
    os._exit(1)


def serve() -> None:
    """Takes (task, item, careful) from standard input; gives (result, None) or (None, what it raised)."""
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no reply
    while (frame := read_frame(sys.stdin.buffer)) is not None:
        task, item, careful = pickle.loads(frame)
        reply: tuple[object, Exception | None]
        try:
            reply = task(item, careful), None
        except Exception as error:
            if not isinstance(error, HlsgenError):
                error.add_note(traceback.format_exc())
            reply = None, error
        write_frame(replies, pickle.dumps(reply))
