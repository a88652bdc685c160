"""Tasks in processes of their own, since LLVM ends its process where an assertion of its fails.

Not those of `multiprocessing`: these run the user's script once more, which must be made for that, and a
worker of a sweep may not have any.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from queue import LifoQueue
from types import TracebackType
from typing import Self, TypeVar, cast

from hlsgen.base.errors import ToolError
from hlsgen.schedule.worker import read_frame, write_frame

Item = TypeVar("Item")
Result = TypeVar("Result")


class _Lost(Exception):
    """The process of a task has ended."""


class _Worker:
    """A process that does a task at a time; it is started when it is first needed, and again if it ends."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, question: bytes) -> object:
        """The result of a task. Raises what it raises; _Lost."""
        process = self._process or self._started()
        assert process.stdin is not None and process.stdout is not None
        answer = None
        with suppress(OSError):
            write_frame(process.stdin, question)
            answer = read_frame(process.stdout)
        if answer is None:
            self.end()
            raise _Lost
        result, error = pickle.loads(answer)
        if error is not None:
            raise error
        return result

    def kill(self) -> None:
        """Ends the process, and what it has started; whoever waits for an answer learns that it is lost."""
        if self._process is not None:
            self._process.kill()

    def end(self) -> None:
        """Leaves nothing of the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _started(self) -> subprocess.Popen[bytes]:
        start = f"import sys; sys.path[:] = {sys.path!r}; from hlsgen.schedule.worker import serve; serve()"
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-c", start],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                process_group=0,  # Ctrl-C is for this process, which ends that one
            )
        except OSError as error:
            raise ToolError(f"error: {sys.executable} cannot be started: {error.strerror}") from None
        return self._process


class OwnProcesses:
    """Processes for tasks, as many as there are processors, until the end of a `with`."""

    def __init__(self, jobs: int | None = None) -> None:
        # a worker among workers, as a sweep has them, works alone
        alone = multiprocessing.current_process().daemon
        self._jobs = max(1, jobs or (1 if alone else os.cpu_count() or 1))
        self._workers = [_Worker() for _ in range(self._jobs)]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in self._workers:
            worker.end()

    def run(
        self,
        task: Callable[[Item, bool], Result],
        items: Sequence[Item],
        names: Sequence[str],
        *,
        done: Callable[[int], None] = lambda at: None,
    ) -> list[Result]:
        """The results of `task(item, careful)` in the items' order.

        An item whose process ends is tried again alone, then alone with `careful`: the result must not depend
        on what else goes on. `done` is told the index of each that is there. Raises what the task raises, for
        the first that fails; ToolError, by name, if the process of an item always ends.
        """
        found: dict[int, Result] = {}
        for careful, alone in ((False, False), (False, True), (True, True)):
            left = [at for at in range(len(items)) if at not in found]
            self._run(task, {at: items[at] for at in left}, careful, 1 if alone else self._jobs, found, done)
        lost = dict.fromkeys(name for at, name in enumerate(names) if at not in found)
        if lost:
            raise ToolError(
                f"error: LLVM failed on {', '.join(lost)}\nfix: another release of llvmlite, or --no-schedule"
            )
        return [found[at] for at in range(len(items))]

    def _run(
        self,
        task: Callable[[Item, bool], Result],
        items: dict[int, Item],
        careful: bool,
        workers: int,
        found: dict[int, Result],
        done: Callable[[int], None],
    ) -> None:
        """The results of those whose process does not end, into `found`."""
        idle: LifoQueue[_Worker] = LifoQueue()  # the last first: it is there already
        for worker in self._workers[:workers]:
            idle.put(worker)

        def asked(item: Item) -> Result:
            worker = idle.get()
            try:
                return cast(Result, worker.ask(pickle.dumps((task, item, careful))))
            finally:
                idle.put(worker)

        with ThreadPoolExecutor(workers) as threads:
            waiting = {threads.submit(asked, item): at for at, item in items.items()}
            try:
                for one in as_completed(waiting):
                    with suppress(_Lost):
                        found[waiting[one]] = one.result()
                        done(waiting[one])
            except BaseException:
                threads.shutdown(wait=False, cancel_futures=True)
                for worker in self._workers:
                    worker.kill()
                raise
