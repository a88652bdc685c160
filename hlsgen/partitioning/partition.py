"""`hlsgen.partition`: devices with their times, the best assignment, kernels that keep to it, figures."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from hlsgen.api.design import Design
from hlsgen.base.errors import DesignError
from hlsgen.base.errors import Problem as Mistake
from hlsgen.base.progress import Progress, silent
from hlsgen.designfile.document import Document
from hlsgen.model.ir import Graph
from hlsgen.partitioning.assign import MOST_NODES, SAME, assign, most_rate
from hlsgen.partitioning.chain import MOST_TASKS, Chain, chain_of
from hlsgen.partitioning.device_file import DeviceEntry, DeviceFile, read_devices
from hlsgen.partitioning.fpga import FILLS, Fpga, no_hardware
from hlsgen.partitioning.impossible import why_impossible
from hlsgen.partitioning.problem import Assignment, Device, Problem
from hlsgen.partitioning.result import DeviceFigures, Partitioned
from hlsgen.partitioning.routes import routes_of
from hlsgen.partitioning.times import Times, measure, read_times
from hlsgen.partitioning.verify import broken_limits
from hlsgen.search.board_limits import KINDS
from hlsgen.styles.network_style import NetworkStyle
from hlsgen.targets.board import load_board

FLOAT_BYTES = 4
NODES_EACH = 50
"""Nodes of branch and cut for each interval of streaming kernels."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Variant:
    """A way to use an FPGA. about: in words. at: the device with streaming kernels of an interval, for a part
    of the resources, and `intervals` to try. whole: the network as one kernel, or the FPGA that makes some.
    """

    device: Device
    about: str
    whole: Any = None
    at: Callable[[int, float], Device | None] | None = None
    intervals: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class Answer:
    """An assignment that its kernels keep to. rate: of these."""

    problem: Problem
    found: Assignment
    variants: Mapping[str, Variant]
    kernels: tuple[Any, ...]


def partition(
    design: Design,
    devices: str | Path | DeviceFile | None = None,
    *,
    tasks: int = MOST_TASKS,
    progress: Progress = silent,
) -> Partitioned:
    """The assignment of a network's layers to devices with the most frames a second.

    devices: a file, or what one says; None: this machine's CPUs, and the design's board. tasks: of which the
    network is made at the most. CPU times are measured here, or read; FPGA times are modelled.
    Raises DesignError: a single layer, a wrong file, limits that no assignment keeps, named. ToolError: there
    is neither ONNX Runtime nor PyTorch.
    """
    return _Partition(design, devices, tasks, progress).result()


def measured_times(design: Design, *, tasks: int = MOST_TASKS, progress: Progress = silent) -> Times:
    """What every layer and task takes on this machine's CPU with one thread, in the faster framework.

    Raises as `partition` does.
    """
    entry = DeviceEntry(kind="cpu")
    own = DeviceFile(devices={"cpu": entry})
    return _Partition(design, own, tasks, progress).measured(entry)


@dataclass
class _Partition:
    design: Design
    given: str | Path | DeviceFile | None
    most_tasks: int
    progress: Progress
    times: dict[str, Times] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    about: dict[str, str] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    # by the part of the resources that layers of streaming kernels may take
    bounds: dict[float, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        network = self.design.given
        if not isinstance(network, NetworkStyle):
            message = f"{self.design.name} is a single layer, which is not cut"
            raise DesignError(Mistake(message=message, fix="a network"))
        if network.graph.input.is_float:
            message = f"{self.design.name} is in floating point, for which no kernel is chosen layer by layer"
            raise DesignError(Mistake(message=message, fix="precision: auto, or fixed-point types"))
        self.network: NetworkStyle[Any] = network
        self.document: Document | None
        if isinstance(self.given, DeviceFile):
            self.file, self.document = self.given, None
        else:
            self.file, self.document = read_devices(None if self.given is None else Path(self.given))
        self.chain: Chain = chain_of(network.graph, self.most_tasks)

    @property
    def float_graph(self) -> Graph:
        """What a CPU computes: floating point where the network came so, else its own types."""
        return self.network.reference or self.network.graph

    def result(self) -> Partitioned:
        fixed = [device for name, entry in self.file.devices.items() for device in self._fixed(name, entry)]
        fpgas = {
            name: list(self._variants(name, entry))
            for name, entry in self.file.devices.items()
            if entry.kind == "fpga"
        }
        best: Answer | None = None
        for variants in _choices(fpgas):
            best = self._answer(fixed, variants, best) or best
        if best is None:
            every = [*fixed, *(variants[0].device for variants in fpgas.values())]
            raise why_impossible(self.design.name, self._problem(every))
        return self._partitioned(best, fixed, fpgas)

    def _fixed(self, name: str, entry: DeviceEntry) -> Iterator[Device]:
        """CPUs, and devices whose times a file tells."""
        if entry.kind == "fpga":
            return
        times = self._times(name, entry)
        self.times[name] = times
        seconds = tuple(times.of(task.layers) for task in self.chain.tasks)
        held = tuple(self._float_bytes(task.first, task.end) for task in self.chain.tasks)
        link = entry.link
        count = entry.count or (_cores() // entry.threads if entry.kind == "cpu" and not entry.times else 1)
        for number in range(max(1, count)):
            own = name if count <= 1 else f"{name}{number}"
            self.kinds[own] = entry.kind
            self.about[own] = f"{times.machine}, measured"
            into, out = times.conversion or (0.0, 0.0)
            yield Device(
                seconds_into=into if entry.kind == "cpu" else 0.0,
                seconds_out=out if entry.kind == "cpu" else 0.0,
                name=own,
                seconds=seconds,
                bytes_held=held,
                memory=math.inf if entry.memory_gb is None else entry.memory_gb * 1e9,
                to_bytes=math.inf if link is None else link.to_gb_per_s * 1e9,
                from_bytes=math.inf if link is None else link.from_gb_per_s * 1e9,
            )

    def _times(self, name: str, entry: DeviceEntry) -> Times:
        if entry.times is not None:
            path = Path(entry.times) if self.document is None else self.document.beside(entry.times)
            found = read_times(path)
            if entry.kind == "cpu" and found.conversion is None:
                self.notes.append(
                    f"{name}: {path.name} has no time of conversions, which count as free there"
                )
            return found
        return self.measured(entry)

    def measured(self, entry: DeviceEntry) -> Times:
        """What tasks take on a CPU of this machine."""
        return measure(
            self.float_graph,
            self.chain,
            threads=entry.threads,
            frameworks=entry.frameworks,
            progress=self.progress,
        )

    def _float_bytes(self, first: int, end: int) -> float:
        """Weights and every tensor of one frame, in float32."""
        layers = self.float_graph.layers[first:end]
        weights = sum(task.weights for task in self.chain.tasks if task.first == first)
        return float(FLOAT_BYTES * (weights + sum(math.prod(layer.output_shape) for layer in layers)))

    def _variants(self, name: str, entry: DeviceEntry) -> Iterator[Variant]:
        """The ways to use an FPGA that the file leaves open. Raises DesignError: none has hardware."""
        board = self.design.board
        if entry.board is not None:
            folder = None if self.document is None else self.document.path.parent
            board = load_board(entry.board, folder=folder)
        fpga = Fpga.of(name, self.network, board, self.chain, entry.link, entry.memory_gb)
        self.kinds[name] = "fpga"
        if fpga.link is None and entry.kind == "fpga" and board.flow != "alveo":
            self.notes.append(
                f"{name}: the CPU of {board.title} is another than this machine's, which was measured; "
                "measure there with --write-times and name the file as `times`"
            )
        found = False
        refused: list[Mistake] = []
        if entry.style in ("auto", "shared"):
            self.progress(f"shared processors for {name}")
            try:
                device, text = fpga.shared(self.progress)
                found = True
                yield Variant(device=device, about=f"{board.title}, {text}, modelled")
            except DesignError as error:
                refused += error.problems
        if entry.style in ("auto", "dataflow"):
            for variant in self._own_hardware(fpga, refused):
                found = True
                yield variant
        if not found:
            raise no_hardware(name, refused)

    def _own_hardware(self, fpga: Fpga, refused: list[Mistake]) -> Iterator[Variant]:
        self.progress(f"streaming hardware for {fpga.name}")
        title = fpga.network.board.title
        counts = [1]
        whole = fpga.whole()
        try:
            whole.choose(self.progress)
            rate = whole.estimate().frames_per_s
            about = f"{title}, the whole network as a streaming kernel, modelled"
            yield Variant(device=fpga.whole_device(rate), about=about, whole=whole)
            counts.append(whole.hardware.instances)
        except DesignError as error:
            refused += error.problems
        intervals = tuple(fpga.intervals())
        for count in sorted(set(counts)) if intervals else ():
            device = fpga.own_hardware(count, intervals[-1])
            if device is not None:
                each = f"streaming kernels, {count} instance{'s' if count > 1 else ''} of each"
                yield Variant(
                    device=device,
                    about=f"{title}, {each}, modelled",
                    at=lambda interval, fill, count=count: fpga.own_hardware(count, interval, fill),  # type: ignore[misc]
                    intervals=intervals,
                    whole=fpga,
                )

    def _problem(self, devices: list[Device]) -> Problem:
        return Problem(
            tasks=tuple(task.name for task in self.chain.tasks),
            bytes_between=tuple(float(size) for size in self.chain.bytes_between),
            devices=tuple(devices),
            values_between=tuple(float(count) for count in self.chain.values_between),
        )

    def _answer(
        self, fixed: list[Device], variants: Mapping[str, Variant], before: Answer | None
    ) -> Answer | None:
        """The best assignment with FPGAs used so; None: there is none that is better than the one before, or
        its kernels do not fit.
        """
        floor = before.found.rate if before else 0.0
        answer, bounds = None, dict.fromkeys(FILLS, floor)
        for fill in FILLS if any(one.at for one in variants.values()) else FILLS[:1]:
            self.progress(f"assigning {len(self.chain.tasks)} tasks to {len(fixed) + len(variants)} devices")
            best, bound = self._best(fixed, variants, fill, floor)
            # nor does one of those that have less room for their layers
            bounds |= {one: bound for one in FILLS if one <= fill}
            if best is None:
                break
            problem, found = best
            broken = broken_limits(problem, found)
            assert not broken, f"the assignment breaks a limit: {'; '.join(broken)}"
            kernels = self._kernels(problem, found, variants, len(fixed))
            if kernels is not None:
                answer = Answer(problem=problem, found=found, variants=variants, kernels=tuple(kernels))
                break
        self.bounds = {one: max(bound, self.bounds.get(one, 0.0)) for one, bound in bounds.items()}
        return answer

    def _best(
        self, fixed: list[Device], variants: Mapping[str, Variant], fill: float, floor: float
    ) -> tuple[tuple[Problem, Assignment] | None, float]:
        """The best above `floor` of all intervals of streaming kernels, the same on all boards, and what none
        of them exceeds: those are solved that may be better than the best so far, the most promising first.
        """
        problems = []
        for interval in sorted({cycles for one in variants.values() for cycles in one.intervals}) or [0]:
            devices = [one.at(interval, fill) if one.at else one.device for one in variants.values()]
            problem = self._problem([*fixed, *(device for device in devices if device is not None)])
            if len(problem.devices) == len(fixed) + len(variants):
                problems.append((most_rate(problem), problem))
        chosen: tuple[Problem, Assignment] | None = None
        bound = floor
        for rate, problem in sorted(problems, key=lambda one: -one[0]):
            if rate <= floor * (1 + SAME):
                break
            found = assign(problem, MOST_NODES if len(problems) == 1 else NODES_EACH)
            bound = max(bound, found.bound)
            if found.rate > floor * (1 + SAME):
                floor, chosen = found.rate, (problem, found)
        return chosen, max(bound, floor)

    def _kernels(
        self, problem: Problem, found: Assignment, variants: Mapping[str, Variant], first: int
    ) -> list[Any] | None:
        """The streaming kernels of the assignment; None: some are not what it takes them for."""
        kernels: list[Any] = []
        for number, variant in enumerate(variants.values(), first):
            used = found.shares[:, number] > 0
            if variant.at is not None:
                made = variant.whole.realised(found, problem.devices[number], number)
                if made is None or any(
                    kernel.estimate().frames_per_s < float(found.shares[used, number].min()) * (1 - 1e-6)
                    for kernel in made
                ):
                    return None
                kernels += made
            elif variant.whole is not None and used.any():
                if not used.all():
                    return None
                kernels.append(variant.whole)
        return kernels

    def _partitioned(
        self, answer: Answer, fixed: list[Device], fpgas: Mapping[str, list[Variant]]
    ) -> Partitioned:
        problem, found = answer.problem, answer.found
        figures = []
        for number, device in enumerate(problem.devices):
            # of streaming kernels of a part alone the whole one, which was made and fits
            made = [one.device for one in fpgas.get(device.name, ()) if one.at is None]
            ways = [device] if number < len(fixed) else made
            alone = max((self._rate(one) for one in ways), default=0.0)
            variant = answer.variants.get(device.name)
            figures.append(
                DeviceFigures(
                    name=device.name,
                    kind=self.kinds[device.name],
                    about=variant.about if variant is not None else self.about[device.name],
                    load=_load(device, found, number),
                    alone=alone or None,
                    **_moved(problem, found, number),
                )
            )
        return Partitioned(
            design=self.design.name,
            chain=self.chain,
            problem=problem,
            found=found,
            routes=routes_of(found),
            devices=tuple(figures),
            bounds=self.bounds,
            kernels={kernel.name: _kernel_figures(kernel) for kernel in answer.kernels},
            times=self.times,
            notes=tuple(self.notes),
        )

    def _rate(self, device: Device) -> float:
        """Frames a second of the whole network on one device."""
        return assign(self._problem([device])).rate


def _choices(fpgas: Mapping[str, list[Variant]]) -> Iterator[dict[str, Variant]]:
    """Every way to use all FPGAs."""
    if not fpgas:
        yield {}
        return
    (name, variants), *others = fpgas.items()
    for rest in _choices(dict(others)):
        for variant in variants:
            yield {name: variant, **rest}


def _load(device: Device, found: Assignment, number: int) -> float:
    shares = found.shares[:, number]
    if device.options is None:
        into, out = found.converted.get(device.name, (0.0, 0.0))
        busy = into * device.seconds_into + out * device.seconds_out
        return busy + float(sum(share * s for share, s in zip(shares, device.seconds, strict=True) if share))
    picks = found.picks.get(device.name, {})
    return max(
        (
            float(shares[task]) * device.options[task][layer][pick].seconds / device.instances
            for task, chosen in picks.items()
            for layer, pick in enumerate(chosen)
        ),
        default=0.0,
    )


def _moved(problem: Problem, found: Assignment, number: int) -> dict[str, float]:
    """Bytes a second that a device with a link gets and gives."""
    device = problem.devices[number]
    if math.isinf(device.to_bytes) and math.isinf(device.from_bytes):
        return {"to_bytes": 0.0, "from_bytes": 0.0}
    steps = np.diff(found.shares[:, number], prepend=0.0, append=0.0)
    sizes = np.array(problem.bytes_between)
    return {
        "to_bytes": float((sizes * np.maximum(steps, 0)).sum()),
        "from_bytes": float((sizes * np.maximum(-steps, 0)).sum()),
    }


def _kernel_figures(kernel: Any) -> dict[str, int]:
    hardware = kernel.hardware
    used = {kind: getattr(hardware.each, kind) * hardware.instances for kind in KINDS}
    return {"interval_cycles": hardware.pipeline.interval, "instances": hardware.instances, **used}


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
