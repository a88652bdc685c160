"""What a partition found: which device computes each task, how fast that is, and what binds it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hlsgen.base.rates import rate_text
from hlsgen.base.short_repr import Brief, lines
from hlsgen.partitioning.chain import Chain
from hlsgen.partitioning.problem import Assignment, Problem
from hlsgen.partitioning.routes import Route
from hlsgen.partitioning.times import Times

DEVICE_HEADS = ("device", "load", "to it", "from it", "alone", "figures")
PROVEN = 1e-3
"""A share by which a bound may be above what it proves: the solver's own gap."""
MOST_PARTS = 26
"""Of a pipeline."""


@dataclass(frozen=True, kw_only=True)
class DeviceFigures:
    """A device of the answer. kind: cpu, fpga or table. about: in words, whose figures are measured or
    modelled. load: the share of its time, or of its slowest layer's, that it works. to_bytes, from_bytes:
    a second. alone: frames a second of the whole network on this device alone; None: it cannot.
    """

    name: str
    kind: str
    about: str
    load: float
    to_bytes: float
    from_bytes: float
    alone: float | None


@dataclass(frozen=True, kw_only=True, eq=False)
class Partitioned(Brief):
    """found: the assignment, for whose streaming kernels hardware was searched and fits: `kernels` has
    interval, instances and resources of each by name. bounds: frames a second that no assignment has whose
    streaming kernels take no more than a part of the resources for their layers. times: of each CPU, by its
    name in the devices file.
    """

    design: str
    chain: Chain
    problem: Problem
    found: Assignment
    routes: tuple[Route, ...]
    devices: tuple[DeviceFigures, ...]
    bounds: Mapping[float, float]
    kernels: Mapping[str, Mapping[str, int]]
    times: Mapping[str, Times]
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return lines(f"{type(self).__name__} {self.design}: {self.headline}", *self.route_texts)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from hlsgen.partitioning.notebook import partitioned_card

        return partitioned_card(self).html()

    @property
    def frames_per_s(self) -> float:
        """Of the assignment: from measured times of CPUs and modelled ones of FPGAs."""
        return self.found.rate

    @property
    def bound(self) -> float:
        """Frames a second that no assignment has, were the converters, FIFOs and margins of kernels free."""
        return self.bounds[max(self.bounds)]

    @property
    def proven_fill(self) -> float | None:
        """The largest part of the resources for layers with which no assignment has more; None: there is a
        better one with each, of which it is not known whether kernels can be made.
        """
        reached = [part for part, bound in self.bounds.items() if bound <= self.frames_per_s * (1 + PROVEN)]
        return max(reached, default=None)

    @property
    def bound_text(self) -> str:
        """What is known of better assignments, in words."""
        if self.gap < PROVEN:
            return "the most by these figures"
        free = f"were they free, no assignment has more than {rate_text(self.bound)}"
        if self.proven_fill is not None:
            room = f"{1 - self.proven_fill:.0%} of the board"
            return f"the most that leaves {room} for converters, FIFOs and margins of kernels; {free}"
        part = min(self.bounds)
        least = rate_text(self.bounds[part])
        room = f"{1 - part:.0%} of the board is left for converters, FIFOs and margins of kernels"
        return f"no assignment has more than {least} where {room}; {free}"

    @property
    def gap(self) -> float:
        """By how much an assignment could be faster at the most, as a share."""
        return max(0.0, self.bound / self.frames_per_s - 1)

    @property
    def best_alone(self) -> DeviceFigures | None:
        able = [one for one in self.devices if one.alone]
        return max(able, key=lambda one: one.alone or 0.0) if able else None

    @property
    def headline(self) -> str:
        """The rate in words, and how it compares."""
        best = self.best_alone
        alone = "" if best is None else f"; {best.name} alone {rate_text(best.alone or 0.0)}"
        return f"{rate_text(self.frames_per_s)} frames/s, {self.bound_text}{alone}"

    @property
    def route_texts(self) -> tuple[str, ...]:
        """Each route in words: neighbouring tasks on one device together."""
        return tuple(f"{rate_text(route.rate)} frames/s: {self._way(route)}" for route in self.routes)

    def _way(self, route: Route) -> str:
        parts: list[tuple[int, list[str]]] = []
        for task, device in enumerate(route.devices):
            if not parts or parts[-1][0] != device:
                parts.append((device, []))
            parts[-1][1].append(self.problem.tasks[task])
        names = [one.name for one in self.problem.devices]
        return ", then ".join(
            f"{tasks[0] if len(tasks) == 1 else f'{tasks[0]} to {tasks[-1]}'} on {names[device]}"
            for device, tasks in parts
        )

    @property
    def task_heads(self) -> tuple[str, ...]:
        """Over `task_cells`."""
        return ("task", "layers", "MACs", *(one.name for one in self.devices))

    @property
    def task_cells(self) -> tuple[tuple[str, ...], ...]:
        """The tasks with the frames a second that each device computes of them."""
        shown = [[rate_text(one) if one else "" for one in shares] for shares in self.found.shares]
        return tuple(
            (task.name, str(len(task.layers)), f"{task.macs:,}", *shares)
            for task, shares in zip(self.chain.tasks, shown, strict=True)
        )

    @property
    def device_cells(self) -> tuple[tuple[str, ...], ...]:
        """The devices under `DEVICE_HEADS`."""
        return tuple(
            (
                one.name,
                f"{one.load:.1%}",
                *(f"{rate / 1e9:.3f} GB/s" if rate else "" for rate in (one.to_bytes, one.from_bytes)),
                "cannot" if one.alone is None else rate_text(one.alone),
                one.about,
            )
            for one in self.devices
        )

    @property
    def as_pipeline(self) -> str | None:
        """The words of `hlsgen pipeline` that run the fullest route; None: a device of a table is in it, or
        shared processors in several places, which would be a build each.
        """
        kinds = [one.kind for one in self.devices]
        route = self.routes[0].devices
        ends = [at for at in range(len(route)) if at + 1 == len(route) or route[at + 1] != route[at]]
        targets = [kinds[route[at]] for at in ends]
        shared = any(one.kind == "fpga" and "shared" in one.about for one in self.devices)
        if "table" in targets or (shared and targets.count("fpga") > 1) or len(ends) > MOST_PARTS:
            return None
        cuts = ",".join(self.chain.tasks[at].layers[-1] for at in ends[:-1])
        where = f"--cut {cuts}" if cuts else "--parts 1"
        style = " --style shared" if shared and "fpga" in targets else ""
        return f"{where} --target {','.join(targets)}{style}"

    def as_json(self) -> dict[str, Any]:
        names = [one.name for one in self.problem.devices]
        return {
            "design": self.design,
            "frames_per_s": round(self.frames_per_s, 3),
            "bound_frames_per_s": round(self.bound, 3),
            "gap": round(self.gap, 6),
            "bounds": [
                {"resources_for_layers": part, "frames_per_s": round(bound, 3)}
                for part, bound in sorted(self.bounds.items(), reverse=True)
            ],
            "binds": list(self.found.binds),
            "tasks": [
                {
                    "name": task.name,
                    "layers": list(task.layers),
                    "macs": task.macs,
                    "bytes_out": task.bytes_out,
                    "frames_per_s": {
                        name: round(float(share), 3)
                        for name, share in zip(names, self.found.shares[number], strict=True)
                        if share
                    },
                }
                for number, task in enumerate(self.chain.tasks)
            ],
            "devices": [
                {
                    "name": one.name,
                    "kind": one.kind,
                    "about": one.about,
                    "load": round(one.load, 6),
                    "to_bytes_per_s": round(one.to_bytes),
                    "from_bytes_per_s": round(one.from_bytes),
                    "alone_frames_per_s": None if one.alone is None else round(one.alone, 3),
                }
                for one in self.devices
            ],
            "routes": [
                {"frames_per_s": round(route.rate, 3), "devices": [names[at] for at in route.devices]}
                for route in self.routes
            ],
            "kernels": {name: dict(figures) for name, figures in self.kernels.items()},
            "times": {name: one.as_json() for name, one in self.times.items()},
            "as_pipeline": self.as_pipeline,
            "notes": list(self.notes),
        }
