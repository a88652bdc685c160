"""Tasks in processes of their own, since LLVM ends its process where an assertion of its fails."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from typing import TypeVar

from hlsgen.base.errors import ToolError

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_own_processes(
    task: Callable[[Item, bool], Result],
    items: Sequence[Item],
    names: Sequence[str],
    *,
    jobs: int | None = None,
    done: Callable[[int], None] = lambda at: None,
) -> list[Result]:
    """The results of `task(item, careful)` in the items' order, as many at a time as there are processors.

    An item whose process ends is tried again alone, then alone with `careful`: the result of one must not
    depend on another's. `done` is told the index of each that is there. Raises what the task raises, for the
    first that fails; ToolError, by name, if the process of an item always ends.
    """
    found: dict[int, Result] = {}

    def run(chosen: Sequence[int], careful: bool) -> None:
        workers = max(1, min(len(chosen), jobs or os.cpu_count() or 1))
        # spawn: a fork would copy the threads' locks of the libraries that are loaded here
        with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
            waiting = {pool.submit(task, items[at], careful): at for at in chosen}
            try:
                for one in as_completed(waiting):
                    with suppress(BrokenProcessPool):
                        found[waiting[one]] = one.result()
                        done(waiting[one])
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    for careful, alone in ((False, False), (False, True), (True, True)):
        left = [at for at in range(len(items)) if at not in found]
        for chosen in [[at] for at in left] if alone else [left]:
            run(chosen, careful)
    lost = dict.fromkeys(name for at, name in enumerate(names) if at not in found)
    if lost:
        raise ToolError(
            f"error: LLVM failed on {', '.join(lost)}\nfix: another release of llvmlite, or --no-schedule"
        )
    return [found[at] for at in range(len(items))]
