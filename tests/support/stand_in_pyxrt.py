"""A stand-in for pyxrt, for tests: what hlsgen.runtime uses of XRT's Python module.

Kernels are C-simulation sources in a shared library (host_builds.py), a copy for each compute unit; those of
several builds in one xclbin stand behind the line of their own library.
Each unit works in a thread of its own, on one call at a time; host and card have separate copies of a buffer.
"""

from __future__ import annotations

import ctypes
import enum
import queue
import shutil
import tempfile
import threading
import time
from pathlib import Path

log: list[str] = []
"""A word for each transfer and each begin and end of a call."""
stuck: set[str] = set()
"""Compute units that never finish."""
call_seconds = 0.0
"""What a call takes at least."""


class xclBOSyncDirection(enum.Enum):  # noqa: N801
    XCL_BO_SYNC_BO_TO_DEVICE = 0
    XCL_BO_SYNC_BO_FROM_DEVICE = 1


class ert_cmd_state(enum.Enum):  # noqa: N801
    ERT_CMD_STATE_NEW = 1
    ERT_CMD_STATE_QUEUED = 2
    ERT_CMD_STATE_RUNNING = 3
    ERT_CMD_STATE_COMPLETED = 4
    ERT_CMD_STATE_ERROR = 5
    ERT_CMD_STATE_ABORT = 6
    ERT_CMD_STATE_SUBMITTED = 7
    ERT_CMD_STATE_TIMEOUT = 8
    ERT_CMD_STATE_NORESPONSE = 9


class _Argument(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_void_p), ("size", ctypes.c_size_t), ("scalar", ctypes.c_int)]


class _Ip:
    def __init__(self, name: str) -> None:
        self._name = name

    def get_name(self) -> str:
        return self._name


class xclbin:  # noqa: N801
    def __init__(self, path: str) -> None:
        lines = [line.split() for line in Path(path).read_text().splitlines()]
        if not lines or lines[0][0] != "library":
            raise RuntimeError("bad xclbin")
        self.shared_objects: dict[str, str] = {}
        self.arguments: dict[str, list[str]] = {}
        library = ""
        for words in lines:
            if words[0] == "library":
                library = words[1]
            elif words[0] == "kernel":
                self.shared_objects[words[1]], self.arguments[words[1]] = library, words[2:]
        self.units = {
            f"{words[1]}:{words[2]}": [int(word) for word in words[3:]]
            for words in lines
            if words[0] == "unit"
        }

    def get_ips(self) -> list[_Ip]:
        return [_Ip(name) for name in self.units]


class _Unit:
    def __init__(self, kernel: str, name: str, library: str) -> None:
        self.kernel, self.name = kernel, name
        with tempfile.TemporaryDirectory() as folder:
            copy = shutil.copy(library, Path(folder) / f"{name}.so")
            self.call = ctypes.CDLL(str(copy)).stand_in_call
        self.call.restype = ctypes.c_bool
        self.jobs: queue.SimpleQueue[run] = queue.SimpleQueue()
        threading.Thread(target=self._work, daemon=True).start()

    def _work(self) -> None:
        while True:
            job = self.jobs.get()
            if self.name in stuck:
                continue
            log.append(f"begin {self.name} {job.arguments[-1].scalar}")
            given = (_Argument * len(job.arguments))(*job.arguments)
            done = self.call(self.kernel.encode(), len(given), given)
            time.sleep(call_seconds)
            log.append(f"end {self.name}")
            job.finish(ert_cmd_state.ERT_CMD_STATE_COMPLETED if done else ert_cmd_state.ERT_CMD_STATE_ERROR)


class device:  # noqa: N801
    def __init__(self, which: int | str) -> None:
        if which != 0:
            raise RuntimeError(f"Could not open device with index '{which}'")

    def load_xclbin(self, container: xclbin) -> str:
        self.container = container
        libraries = container.shared_objects
        self.units = {
            name: _Unit(*name.split(":"), libraries[name.split(":")[0]]) for name in container.units
        }
        return "uuid"


class bo:  # noqa: N801
    normal = 0

    def __init__(self, card: device, size: int, flags: int, group: int) -> None:
        assert isinstance(card, device) and flags == bo.normal
        self.host, self.on_card = bytearray(b"\x55" * size), bytearray(b"\x55" * size)
        self.group = group

    def map(self) -> memoryview:
        return memoryview(self.host)

    def sync(self, way: xclBOSyncDirection, size: int, offset: int) -> None:
        if offset + size > len(self.host):
            raise RuntimeError("sync beyond the end of a buffer")
        there = way is xclBOSyncDirection.XCL_BO_SYNC_BO_TO_DEVICE
        log.append("to_device" if there else "from_device")
        source, target = (self.host, self.on_card) if there else (self.on_card, self.host)
        target[offset : offset + size] = source[offset : offset + size]


class kernel:  # noqa: N801
    shared = 1

    def __init__(self, card: device, uuid: str, name: str, mode: int) -> None:
        assert uuid == "uuid" and mode == kernel.shared
        self.unit_name = name.replace("{", "").replace("}", "")
        if self.unit_name not in card.container.units:
            raise RuntimeError(f"No compute units matching '{name}'")
        self.unit = card.units[self.unit_name]
        self.banks = card.container.units[self.unit_name]
        self.arguments = card.container.arguments[self.unit.kernel]

    def group_id(self, index: int) -> int:
        if not self.arguments[index].endswith("*"):
            raise RuntimeError("the argument is not connected to memory")
        return self.banks[index]


class run:  # noqa: N801
    def __init__(self, of: kernel) -> None:
        self.kernel = of
        self.given: dict[int, bo | int] = {}
        self.arguments: list[_Argument] = []
        self.ended = threading.Event()
        self.how = ert_cmd_state.ERT_CMD_STATE_NEW

    def set_arg(self, index: int, value: bo | int) -> None:
        assert type(index) is int and type(value) in (int, bo), "pybind11 converts nothing else"
        pointer = self.kernel.arguments[index].endswith("*")
        if pointer != isinstance(value, bo):
            raise RuntimeError("a buffer for a scalar, or a scalar for a buffer")
        anywhere = self.kernel.arguments[index].endswith("**")
        if isinstance(value, bo) and value.group != self.kernel.banks[index] and not anywhere:
            raise RuntimeError("the buffer lies in another bank")
        self.given[index] = value

    def start(self) -> None:
        values = [self.given[index] for index in range(len(self.kernel.arguments))]
        self.arguments = [_argument(value) for value in values]
        self.ended.clear()
        self.how = ert_cmd_state.ERT_CMD_STATE_RUNNING
        self.kernel.unit.jobs.put(self)

    def finish(self, how: ert_cmd_state) -> None:
        self.how = how
        self.ended.set()

    def state(self) -> ert_cmd_state:
        return self.how

    def wait(self, milliseconds: int) -> ert_cmd_state:
        if self.ended.wait(milliseconds / 1000):
            return self.how
        return ert_cmd_state.ERT_CMD_STATE_TIMEOUT


def _argument(value: bo | int) -> _Argument:
    if isinstance(value, int):
        return _Argument(None, 0, value)
    address = ctypes.addressof(ctypes.c_char.from_buffer(value.on_card))
    return _Argument(address, len(value.on_card), 0)
