"""Jobs on dask.distributed: processes of this machine, a scheduler that runs already, or a cluster's queue.

A worker that is lost (killed, out of memory, its machine gone) loses its job, and dask runs the job again on
another; a job that loses its worker time after time is given up.
"""

from __future__ import annotations

import logging
import os
import re
import signal
import tempfile
import time
import uuid
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from multiprocessing import resource_tracker
from types import ModuleType
from typing import Any, Generic, Protocol, TypeVar

from hlsgen.base.errors import ToolError
from hlsgen.sweep.jobs import Job, failed, run_job
from hlsgen.sweep.runner import Ended, Listener, Watch

LOST_WORKERS = 3
"""A job is given up when so many workers of this machine died of it; other schedulers have a setting."""
CONNECT_SECONDS = 10
WORKER_SECONDS = 30
"""A scheduler that runs already must have a worker within so long."""
POLL_SECONDS = 0.5
ANY_PORT = "127.0.0.1:0"
"""The port for the dashboard of a scheduler that is started here: the usual one may be another sweep's."""
QUEUES = {
    "htcondor": "HTCondorCluster",
    "lsf": "LSFCluster",
    "oar": "OARCluster",
    "pbs": "PBSCluster",
    "sge": "SGECluster",
    "slurm": "SLURMCluster",
}
"""The queues of dask-jobqueue that `--scheduler` may name, and their classes there."""
ADDRESS = re.compile(r"(tcp|tls|ucx|ws|wss)://\S+:\d+(/\S*)?")


class Keyed(Protocol):
    """A job of any kind; its text is for people. It goes to other processes, so it can be pickled."""

    @property
    def key(self) -> str:
        """Tells it from the other jobs."""


J = TypeVar("J", bound=Keyed)


@dataclass(frozen=True, kw_only=True)
class Work(Generic[J]):
    """What is done with jobs of a kind. run: a function of a module, which workers import.

    given_up: the result of a job of which too many workers died.
    """

    run: Callable[[J], str]
    given_up: Callable[[J, ToolError], str]


def run_on_cluster(jobs: Sequence[Job], scheduler: str, workers: int | None, watch: Watch) -> Iterator[Ended]:
    """The jobs of a sweep of designs as they end, in no order. Raises as `run_work` does."""
    work = Work(run=run_job, given_up=lambda job, error: failed(job, error).as_text())
    yield from run_work(work, jobs, scheduler, workers, watch)


def run_work(
    work: Work[J], jobs: Sequence[J], scheduler: str, workers: int | None, watch: Listener
) -> Iterator[tuple[J, str | BaseException]]:
    """The jobs as they end, in no order, with their results or what a bug of hlsgen raised.

    Raises ToolError: no dask, no such scheduler, no workers there, or the scheduler is lost meanwhile.
    """
    with _connected(scheduler, workers) as client:
        if ADDRESS.fullmatch(scheduler):
            _wait_for_worker(client, scheduler)
        yield from _Sweep(client, work, jobs, watch).run()


def check_scheduler(scheduler: str) -> None:
    """Checks a scheduler's name. Raises ToolError: a package that it needs is not installed."""
    _distributed()
    if scheduler in QUEUES:
        _jobqueue()


class _Sweep(Generic[J]):
    """The jobs that wait and those that are handed out: one for each worker, no more.

    A job behind another on the same worker would be blamed for its death too.
    """

    def __init__(self, client: Any, work: Work[J], jobs: Sequence[J], watch: Listener) -> None:
        self.client = client
        self.work = work
        self.watch = watch
        self.waiting = list(reversed(jobs))
        self.handed: dict[Any, J] = {}
        self.group = f"hlsgen-sweep-{uuid.uuid4().hex}"
        self.names = {self.name(job): job for job in jobs}
        self.lost: list[J] = []
        self.alone = False
        self.workers: set[str] = set()

    def name(self, job: J) -> str:
        """The name of the job at the scheduler, where other sweeps may run."""
        return f"{self.group}-{job.key}"

    def run(self) -> Iterator[tuple[J, str | BaseException]]:
        distributed = _distributed()
        self.client.subscribe_topic("all", self.see)
        try:
            while self.waiting or self.handed:
                self.hand_out()
                if not self.handed:
                    time.sleep(POLL_SECONDS)
                    continue
                # out of time: none has ended; cancelled: `result` says so of each
                with suppress(TimeoutError, distributed.CancelledError):
                    distributed.wait(list(self.handed), timeout=POLL_SECONDS, return_when="FIRST_COMPLETED")
                self.tell_losses()
                for future in [one for one in self.handed if one.status != "pending"]:
                    job = self.handed.pop(future)
                    yield job, self.result(future, job)
                    future.release()
        finally:
            with suppress(OSError, TimeoutError):
                self.client.cancel(list(self.handed), force=True)
                self.client.unsubscribe_topic("all")

    def hand_out(self) -> None:
        """A job to each idle worker. Raises ToolError: a worker lacks hlsgen, or the scheduler is lost."""
        try:
            there = set(self.client.nthreads())
            self.workers = (self.workers & there) | self.able(there - self.workers)
        except (OSError, TimeoutError) as error:
            raise _scheduler_lost(error) from None
        if not there and not self.alone:
            self.watch.say("no worker is there now; the jobs wait for one")
        self.alone = not there
        while self.waiting and len(self.handed) < len(self.workers):
            job = self.waiting.pop()
            future = self.client.submit(self.work.run, job, key=self.name(job), pure=False)
            self.handed[future] = job
        self.watch.running(min(len(self.handed), len(self.workers)))

    def able(self, new: set[str]) -> set[str]:
        """The workers that can run jobs; without hlsgen, a worker would end at reading one."""
        if not new:
            return new
        module = self.work.run.__module__
        answers = self.client.run(import_module, module, workers=list(new), on_error="return")
        for worker, answer in answers.items():
            if isinstance(answer, ImportError):
                message = f"error: the worker {worker} has no hlsgen, or another one: {answer}"
                raise ToolError(f"{message}\nfix: start the workers where this same hlsgen is installed")
        return {worker for worker, answer in answers.items() if isinstance(answer, ModuleType)}

    def see(self, event: tuple[float, Any]) -> None:
        """Called in a thread of dask's with what happens at the scheduler."""
        _, what = event
        if isinstance(what, dict) and what.get("action") == "remove-worker" and not what.get("expected"):
            self.lost += [self.names[key] for key in what.get("processing-tasks", ()) if key in self.names]

    def tell_losses(self) -> None:
        while self.lost:
            self.watch.say(f"a worker was lost; its job goes to another one: {self.lost.pop()}")

    def result(self, future: Any, job: J) -> str | BaseException:
        """What became of a job that ended. Raises ToolError: nothing can end on this cluster."""
        from distributed import KilledWorker

        if future.status == "finished":
            text: str = future.result()
            return text
        if future.status != "error":
            raise _scheduler_lost(future.status)
        error: BaseException = future.exception()
        if isinstance(error, KilledWorker):
            message = f"error: {job}: given up, because {error.allowed_failures + 1} workers died of it"
            fix = "look at what the workers' machine says, often that memory was short; "
            fix += "fewer --workers help then"
            return self.work.given_up(job, ToolError(f"{message}\nfix: {fix}"))
        return error


@contextmanager
def _connected(scheduler: str, workers: int | None) -> Iterator[Any]:
    """A client of the scheduler; what was started for it ends with the block."""
    distributed = _distributed()
    with _silenced(), ExitStack() as stack:
        target: Any = scheduler
        if scheduler in QUEUES:
            target = stack.enter_context(_queue(scheduler))
            target.scale(jobs=workers or 1)
        elif not ADDRESS.fullmatch(scheduler):
            target = stack.enter_context(_local(distributed, workers))
        yield stack.enter_context(_client(distributed, target, scheduler))


@contextmanager
def _silenced() -> Iterator[None]:
    """dask's own log says nothing on standard error: what the user should know, the watch is told."""
    loggers = [logging.getLogger(name) for name in ("distributed", "distributed.client")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


@contextmanager
def _local(distributed: ModuleType, workers: int | None) -> Iterator[Any]:
    """Processes of this machine, each with one thread."""
    import dask

    with (
        tempfile.TemporaryDirectory(prefix="hlsgen-sweep-", ignore_cleanup_errors=True) as scratch,
        dask.config.set({"distributed.scheduler.allowed-failures": LOST_WORKERS - 1}),
    ):
        with _interrupts_later():
            cluster = distributed.LocalCluster(
                n_workers=workers or len(os.sched_getaffinity(0)),
                threads_per_worker=1,
                processes=True,
                memory_limit=0,  # dask would kill or pause a worker that takes its share; the machine decides
                dashboard_address=ANY_PORT,
                local_directory=scratch,
                silence_logs="CRITICAL",
            )
        with cluster:
            yield cluster


@contextmanager
def _interrupts_later() -> Iterator[None]:
    """SIGINT waits for the end of the block, and never reaches the threads and processes started in it.

    Ctrl-C in a terminal goes to every process; the workers shall end when they are told to, without a word.
    """
    # started from a thread of the block, it would let that thread's SIGINT through again
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _client(distributed: ModuleType, target: Any, scheduler: str) -> Iterator[Any]:
    try:
        with warnings.catch_warnings():
            # workers whose dask differs a little serve; what matters is hlsgen, which every job checks
            warnings.simplefilter("ignore", distributed.versions.VersionMismatchWarning)
            client = distributed.Client(target, timeout=CONNECT_SECONDS)
    except (OSError, ValueError, TypeError, ImportError) as error:
        message = f"error: no dask scheduler answers at {scheduler}: {_first_line(error)}"
        fix = "start one (dask scheduler) and name the address that it prints, such as tcp://host:8786"
        raise ToolError(f"{message}\nfix: {fix}") from None
    with client:
        yield client


def _wait_for_worker(client: Any, scheduler: str) -> None:
    try:
        client.wait_for_workers(1, timeout=WORKER_SECONDS)
    except TimeoutError:
        message = f"error: the scheduler at {scheduler} has no workers"
        raise ToolError(f"{message}\nfix: start some: dask worker {scheduler} --nthreads 1") from None


def _queue(name: str) -> Any:
    """A cluster that gets its workers from a queue, as its configuration file says."""
    jobqueue = _jobqueue()
    fix = f"in ~/.config/dask/jobqueue.yaml, jobqueue: {name}: says what a job takes (cores, memory, ...)"
    import dask

    open_ = [key for key in ("cores", "memory") if dask.config.get(f"jobqueue.{name}.{key}", None) is None]
    if open_:
        message = f"error: for the queue {name}, nothing says {' and '.join(open_)} of a job"
        raise ToolError(f"{message}\nfix: {fix}")
    options = dask.config.get(f"jobqueue.{name}.scheduler-options", None) or {}
    try:
        return getattr(jobqueue, QUEUES[name])(scheduler_options={"dashboard_address": ANY_PORT, **options})
    except (ValueError, TypeError, OSError) as error:
        message = f"error: the queue {name} cannot be used: {_first_line(error)}"
        raise ToolError(f"{message}\nfix: {fix}") from None


def _distributed() -> ModuleType:
    try:
        import distributed
        import distributed.versions
    except ImportError as error:
        message = f"error: more than one process needs dask, which cannot be imported ({error})"
        fix = "pip install 'hlsgen[cluster]', or --scheduler serial"
        raise ToolError(f"{message}\nfix: {fix}") from None
    return distributed


def _jobqueue() -> ModuleType:
    try:
        import dask_jobqueue
    except ImportError as error:
        message = f"error: a cluster's queue needs dask-jobqueue, which cannot be imported ({error})"
        raise ToolError(f"{message}\nfix: pip install 'hlsgen[queue]'") from None
    return dask_jobqueue


def _scheduler_lost(what: object) -> ToolError:
    message = f"error: the connection to the scheduler was lost ({what}); what is done is kept"
    return ToolError(f"{message}\nfix: see that it runs, then the same command goes on with the rest")


def _first_line(error: BaseException) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
