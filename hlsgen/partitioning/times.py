"""What every layer and every task takes on a CPU: measured here, or read from a file of another machine."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

from hlsgen.base.errors import DesignError, OutputError, Problem
from hlsgen.base.progress import Progress
from hlsgen.base.real_numbers import is_number
from hlsgen.cpu.conversion import measured_conversions
from hlsgen.cpu.measuring import measured_seconds
from hlsgen.cpu.running import Framework, cpu_part, frameworks_here
from hlsgen.model.ir import Graph
from hlsgen.model.parts import part_of
from hlsgen.partitioning.chain import Chain

FORMAT = "hlsgen times 1"
LARGEST_FILE = 1 << 24
CONVERSIONS = ("seconds_into_code", "seconds_out_of_code")
"""Of a number, in a file."""


@dataclass(frozen=True, kw_only=True)
class Times:
    """Seconds a frame, measured. layers: by name, the faster framework of each by itself. tasks: by the name
    of the first and the last layer, of neighbours together; empty in files that tell layers alone.

    machine: in words. frameworks: of each task, which it was. conversion: seconds of a number into its code
    and of a code into its number, where a neighbour is on an FPGA; None: not measured.
    """

    design: str
    machine: str
    threads: int
    layers: Mapping[str, float]
    tasks: Mapping[str, float]
    frameworks: Mapping[str, str]
    conversion: tuple[float, float] | None = None

    def of(self, layers: Sequence[str]) -> float:
        """Seconds a frame of neighbouring layers: together if that was measured, else their sum.

        Raises DesignError: a layer is missing.
        """
        together = self.tasks.get(_key(layers))
        if together is not None:
            return together
        missing = [name for name in layers if name not in self.layers]
        if missing:
            message = f"the times of {self.machine} have no layer {missing[0]}"
            fix = f"times of this network: {', '.join(list(self.layers)[:4])} ... are there"
            raise DesignError(Problem(message=message, fix=fix))
        return sum(self.layers[name] for name in layers)

    def as_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "unit": "seconds a frame, measured",
            "design": self.design,
            "machine": self.machine,
            "threads": self.threads,
            "layers": dict(self.layers),
            "tasks": dict(self.tasks),
            "frameworks": dict(self.frameworks),
        } | ({} if self.conversion is None else dict(zip(CONVERSIONS, self.conversion, strict=True)))


def _key(layers: Sequence[str]) -> str:
    return layers[0] if len(layers) == 1 else f"{layers[0]}..{layers[-1]}"


def measure(
    graph: Graph,
    chain: Chain,
    *,
    threads: int,
    frameworks: Sequence[Framework] | None,
    progress: Progress,
) -> Times:
    """Every layer by itself and every task as one part, each in every framework that is here.

    graph: in floating point where there is such a one. Raises ToolError: a framework is missing.
    """
    used = frameworks or frameworks_here()
    layers: dict[str, float] = {}
    tasks: dict[str, float] = {}
    names: dict[str, str] = {}
    for number, task in enumerate(chain.tasks, 1):
        progress(f"measuring {task.name} on the CPU, {number} of {len(chain.tasks)}")
        for at in range(task.first, task.end):
            part = part_of(graph, at, at + 1, graph.layers[at].name)
            layers[graph.layers[at].name] = min(_seconds(part, one, threads) for one in used)
        found = {one: _seconds(task.part(graph), one, threads) for one in used}
        names[task.name] = min(found, key=found.__getitem__)
        tasks[_key(task.layers)] = min(found.values())
    return Times(
        design=graph.name,
        machine=machine_text(threads),
        threads=threads,
        layers=layers,
        tasks=tasks,
        frameworks=names,
        conversion=measured_conversions(chain.types),
    )


def _seconds(part: Graph, framework: Framework, threads: int) -> float:
    return measured_seconds(cpu_part(part, framework, threads))


def machine_text(threads: int) -> str:
    """This machine's processor in words."""
    name = platform.processor() or platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith(("model name", "Model")):
                name = line.partition(":")[2].strip()
                break
    except OSError:
        pass
    return f"{name}, {threads} thread{'s' if threads > 1 else ''}"


def write_times(times: Times, path: Path) -> None:
    """Raises OutputError: `path` cannot be written."""
    try:
        path.write_text(json.dumps(times.as_json(), indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        message = f"error: cannot write {path}: {error.strerror or error}\nfix: another --write-times"
        raise OutputError(message) from None


def read_times(path: Path) -> Times:
    """A file of times. Raises DesignError: it cannot be read, or is none."""
    try:
        with path.open("rb") as file:
            data = json.loads(file.read(LARGEST_FILE))
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or error
        message = f"{path} cannot be read as times: {reason}"
        raise DesignError(Problem(message=message, fix="a file that --write-times left")) from None
    layers = data.get("layers") if isinstance(data, dict) else None
    tasks = data.get("tasks", {}) if isinstance(data, dict) else None
    if not _seconds_by_name(layers) or not _seconds_by_name(tasks):
        message = f"{path} has no `layers` with a number of seconds, more than 0, for each name"
        raise DesignError(Problem(message=message, fix='{"layers": {"conv1": 0.0012, ...}}'))
    return Times(
        design=str(data.get("design", ""))[:200],
        machine=str(data.get("machine", path.name))[:200],
        threads=1,
        layers=layers,
        tasks=tasks,
        frameworks={},
        conversion=_conversion(data, path),
    )


def _conversion(data: Mapping[str, Any], path: Path) -> tuple[float, float] | None:
    found = {key: data[key] for key in CONVERSIONS if key in data}
    if not found:
        return None
    if len(found) < len(CONVERSIONS) or not _seconds_by_name(found):
        message = f"{path} has {' or '.join(CONVERSIONS)} without the other, or that are no seconds"
        raise DesignError(Problem(message=message, fix="both, more than 0, or neither"))
    into, out = (float(found[key]) for key in CONVERSIONS)
    return into, out


def _seconds_by_name(value: Any) -> TypeGuard[dict[str, float]]:
    return isinstance(value, dict) and all(is_number(one) and 0 < one < 1e6 for one in value.values())
