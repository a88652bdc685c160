"""The best assignment as a mixed integer program, solved to its optimum or to a gap that is said.

With x[i, j] the frames a second of which device j computes task i, p the seconds, o the bytes behind task i:

    maximise rho
    sum over j of x[i, j] = rho                                   every task of every frame
    sum over i of p[i, j] x[i, j] <= 1                            a device that computes one task at a time
    x[i, j] <= sum over k of z[l, k] instances / p[l, k]          hardware of its own, each layer l of task i
    x[i, j] <= most[i, j] s[i, j]                                 only where the weights lie
    sum over i of s[i, j] m[i, j] <= M[j]                         its memory
    sum over k of z[l, k] = s[i, j];  sum of z cost <= capacity   its resources
    x[i, j] = x[i + 1, j] if s[i, j] = s[i + 1, j] = 1            hardware of its own has no door inside
    sum over i of out[i, j] <= beta[j],  out[i, j] >= o[i] (x[i, j] - x[i + 1, j])       what leaves it
    sum over i of in[i, j] <= beta'[j],  in[i, j] >= o[i] (x[i + 1, j] - x[i, j])        what comes to it

Where tasks of CPUs and FPGAs meet, CPUs change n[i] numbers of a frame into codes and back, c and d numbers a
second each, of e and f seconds: F are the FPGAs, and CPU j has less time for tasks,

    sum over i of p[i, j] x[i, j] + e[j] c[j] + f[j] d[j] <= 1
    sum over j of c[j] >= sum over i of n[i] u[i],  u[i] >= sum over j in F of x[i + 1, j] - x[i, j]
    sum over j of d[j] >= sum over i of n[i] v[i],  v[i] >= sum over j in F of x[i, j] - x[i + 1, j]

Frames come from and go to the host's memory, so x before the first task and behind the last is 0 of a device
with a link: the first brings o[0] x[1, j], the last takes o[n] x[n, j] away. s and z are 0 or 1.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import LinearConstraint, OptimizeResult, linprog

from hlsgen.explore.solver import solve
from hlsgen.partitioning.problem import Assignment, Device, Problem

MOST_NODES = 20_000
"""Nodes of branch and cut; what is not proven by then is said to be unproven."""
GAP = 1e-4
SIMPLE_NODES, SIMPLE_GAP = 100, 0.02
"""Of the search for the simplest assignment of that rate, which need not be the very simplest."""
SAME = 1e-6
"""The part of the rate that the choice of the simplest assignment may give away."""


def assign(problem: Problem, nodes: int = MOST_NODES) -> Assignment:
    """The assignment of the largest rate; of those one that uses few devices and moves few bytes.

    A rate of 0: there is none.
    """
    program = _Program(problem)
    if not program.unit:
        return program.nothing(0.0, proven=True)
    objective = np.zeros(program.count)
    objective[program.rho] = -1
    found = program.solved(objective, nodes)
    if found.x is None:
        return program.nothing(np.inf, proven=False)
    bound = float(-found.mip_dual_bound) * program.unit
    best = float(found.x[program.rho])
    if best <= SAME:
        return program.nothing(bound, proven=found.status == 0)
    simplest = program.solved(
        program.simplicity(), SIMPLE_NODES, least_rate=best * (1 - SAME), gap=SIMPLE_GAP
    )
    whole = simplest.x if simplest.x is not None else found.x
    return program.assignment(whole, bound, proven=found.status == 0)


def most_rate(problem: Problem) -> float:
    """Frames a second that no assignment exceeds: those of one whose parts may be cut at will."""
    program = _Program(problem)
    if not program.unit:
        return 0.0
    objective = np.zeros(program.count)
    objective[program.rho] = -1
    found = program.solved(objective, 1, whole=False)
    return program.unit if found.x is None else float(-found.fun) * program.unit


@dataclass
class _Rows:
    """Rows of a sparse matrix: sums of variables, each at most its limit (or equal to it)."""

    entries: list[tuple[int, int, float]] = field(default_factory=list)
    limits: list[float] = field(default_factory=list)
    names: list[str] = field(default_factory=list)

    def add(self, name: str, terms: list[tuple[int, float]], limit: float) -> None:
        row = len(self.limits)
        self.entries += [(row, at, value) for at, value in terms if value]
        self.limits.append(limit)
        self.names.append(name)

    def matrix(self, columns: int) -> sparse.csr_array:
        rows, at, values = zip(*self.entries, strict=True) if self.entries else ((), (), ())
        return sparse.csr_array((values, (rows, at)), (len(self.limits), columns))


class _Program:
    """The variables: rho, x, s, then of each device its bytes out and in and its options.

    Rates are in units of the most that any assignment has, so that numbers stay near 1.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.tasks, self.devices = len(problem.tasks), len(problem.devices)
        self.unit = problem.most_rate
        self.count, self.rho = 1, 0
        self.rates = self._new(self.tasks * self.devices).reshape(self.tasks, self.devices)
        self.held = self._new(self.tasks * self.devices).reshape(self.tasks, self.devices)
        self.options: dict[int, list[list[NDArray[np.int64]]]] = {}
        self.moved: list[int] = []
        self.under, self.equal = _Rows(), _Rows()
        # what a task is missing for on a device that it is not on
        self.absent: dict[str, str] = {}
        # of each device that converts its shares of a second into codes and out of them
        self.converting: dict[int, tuple[int, int]] = {}
        if self.unit:
            self._tasks_rows()
            self._border_rows()
            for number, device in enumerate(problem.devices):
                self._device_rows(number, device)

    def _new(self, count: int) -> NDArray[np.int64]:
        self.count += count
        return np.arange(self.count - count, self.count)

    def _tasks_rows(self) -> None:
        for task, name in enumerate(self.problem.tasks):
            terms = [(int(at), 1.0) for at in self.rates[task]]
            self.equal.add(f"frames through {name}", [*terms, (self.rho, -1.0)], 0)

    def _border_rows(self) -> None:
        """What CPUs convert for FPGAs, in seconds of the fastest CPU a second."""
        problem = self.problem
        cpus = [at for at, device in enumerate(problem.devices) if device.converts]
        coded = [at for at, device in enumerate(problem.devices) if device.coded]
        if not (cpus and coded and any(problem.values_between)):
            return
        for at in cpus:
            first, second = (int(one) for one in self._new(2))
            self.converting[at] = (first, second)
        for way, key in enumerate(("seconds_into", "seconds_out")):
            seconds = {at: getattr(problem.devices[at], key) for at in cpus}
            least = min(seconds.values())
            done = [(self.converting[at][way], -least / seconds[at]) for at in cpus]
            needed = []
            for cut in range(1, self.tasks):
                more, less = (cut, cut - 1) if way == 0 else (cut - 1, cut)
                (flow,) = (int(one) for one in self._new(1))
                terms = [(int(self.rates[more, at]), 1.0) for at in coded]
                terms += [(int(self.rates[less, at]), -1.0) for at in coded]
                self.under.add("moved as numbers", [*terms, (flow, -1.0)], 0)
                needed.append((flow, problem.values_between[cut] * self.unit * least))
            self.under.add("moved as numbers", [*done, *needed], 0)

    def _device_rows(self, number: int, device: Device) -> None:
        rates, held = self.rates[:, number], self.held[:, number]
        for task, name in enumerate(self.problem.tasks):
            most = min(device.most_rate(task) / self.unit, 1.0)
            row = f"{name} on {device.name}"
            self.absent[row] = self._room_of(device)
            self.under.add(row, [(int(rates[task]), 1.0), (int(held[task]), -most)], 0)
        if device.options is None:
            times = [
                (int(at), seconds * self.unit)
                for at, seconds in zip(rates, device.seconds, strict=True)
                if np.isfinite(seconds)
            ]
            times += [(at, 1.0) for at in self.converting.get(number, ())]
            self.under.add(f"time of {device.name}", times, 1)
        else:
            self._hardware_rows(number, device)
        if np.isfinite(device.memory):
            terms = [
                (int(at), size / device.memory) for at, size in zip(held, device.bytes_held, strict=True)
            ]
            self.under.add(f"memory of {device.name}", terms, 1)
        for way, capacity in (("from", device.from_bytes), ("to", device.to_bytes)):
            if np.isfinite(capacity):
                self._link_rows(number, way, device.name, capacity)

    @staticmethod
    def _room_of(device: Device) -> str:
        if device.options is not None:
            return f"resources of {device.name}"
        return f"memory of {device.name}" if np.isfinite(device.memory) else f"time of {device.name}"

    def _hardware_rows(self, number: int, device: Device) -> None:
        assert device.options is not None and device.capacity is not None
        self.options[number] = []
        costs: list[tuple[NDArray[np.int64], tuple[int, int]]] = []
        for task, layers in enumerate(device.options):
            own = []
            for layer, options in enumerate(layers):
                picks = self._new(len(options))
                own.append(picks)
                costs.append((picks, (task, layer)))
                ones = [(int(at), 1.0) for at in picks]
                self.equal.add(f"{device.name}: one option", [*ones, (self.held[task, number], -1.0)], 0)
                speeds = [
                    (int(at), -min(device.instances / one.seconds / self.unit, 1.0))
                    for at, one in zip(picks, options, strict=True)
                ]
                name = f"hardware for {self.problem.tasks[task]} on {device.name}"
                self.under.add(name, [(int(self.rates[task, number]), 1.0), *speeds], 0)
            self.options[number].append(own)
            if task:
                self._joined_rows(number, task, device.name)
        for kind, limit in enumerate(device.capacity):
            terms = [
                (int(at), one.cost[kind] / max(limit, 1e-9))
                for picks, (task, layer) in costs
                for at, one in zip(picks, device.options[task][layer], strict=True)
            ]
            self.under.add(f"resources of {device.name}", terms, 1)

    def _joined_rows(self, number: int, task: int, name: str) -> None:
        """A streaming kernel has doors at its ends alone: neighbours on it see the same frames."""
        rates, held = self.rates[task - 1 : task + 1, number], self.held[task - 1 : task + 1, number]
        for one, other in (rates, rates[::-1]):
            terms = [(int(one), 1.0), (int(other), -1.0), *((int(at), 1.0) for at in held)]
            self.under.add(f"one kernel on {name}", terms, 2)
        if self.problem.devices[number].whole:
            self.equal.add(f"one kernel on {name}", [(int(held[0]), 1.0), (int(held[1]), -1.0)], 0)

    def _link_rows(self, number: int, way: str, name: str, capacity: float) -> None:
        """In units of what the link moves in a second."""
        moved = self._new(self.tasks + 1)
        self.moved += [int(at) for at in moved]
        for cut, size in enumerate(self.problem.bytes_between):
            weight = size * self.unit / capacity
            before = [(int(self.rates[cut - 1, number]), weight)] if cut else []
            after = [(int(self.rates[cut, number]), weight)] if cut < self.tasks else []
            more, less = (before, after) if way == "from" else (after, before)
            terms = [*more, *((at, -value) for at, value in less), (int(moved[cut]), -1.0)]
            self.under.add(f"moved {way} {name}", terms, 0)
        self.under.add(f"link {way} {name}", [(int(at), 1.0) for at in moved], 1)

    @property
    def upper(self) -> NDArray[np.float64]:
        """Of bytes moved more than a link moves, so that its row and not a variable's end binds."""
        found = np.ones(self.count)
        found[self.moved] = 2
        return found

    @property
    def whole(self) -> NDArray[np.float64]:
        found = np.zeros(self.count)
        found[self.held.reshape(-1)] = 1
        for tasks in self.options.values():
            for layers in tasks:
                for picks in layers:
                    found[picks] = 1
        return found

    def simplicity(self) -> NDArray[np.float64]:
        """What few devices and few bytes have little of."""
        objective = np.zeros(self.count)
        objective[self.held.reshape(-1)] = 1
        objective[self.moved] = 0.1
        return objective

    def solved(
        self,
        objective: NDArray[np.float64],
        nodes: int,
        least_rate: float = 0.0,
        gap: float = GAP,
        *,
        whole: bool = True,
    ) -> OptimizeResult:
        under, equal = self.under.matrix(self.count), self.equal.matrix(self.count)
        floor = np.zeros(self.count)
        floor[self.rho] = 1
        limits = np.array(self.under.limits)
        # what HiGHS lets a row exceed its limit by must not become a resource that is not there
        shares = np.array([name.startswith(("resources", "memory")) for name in self.under.names])
        return solve(
            objective,
            whole=self.whole if whole else np.zeros(self.count),
            upper=self.upper,
            constraints=[
                LinearConstraint(under, -np.inf, np.where(shares, limits * (1 - 2e-6), limits)),
                LinearConstraint(equal, self.equal.limits, self.equal.limits),
                LinearConstraint(sparse.csr_array(floor[None]), least_rate, np.inf),
            ],
            nodes=nodes,
            gap=gap,
        )

    def assignment(self, x: NDArray[np.float64], bound: float, *, proven: bool) -> Assignment:
        """With what is whole as it is, the rates anew: a linear program, exact to its last digits."""
        whole = self.whole > 0
        fixed = np.where(whole, np.round(x), 0.0)
        bounds = np.column_stack([np.where(whole, fixed, 0.0), np.where(whole, fixed, self.upper)])
        objective = np.zeros(self.count)
        objective[self.rho] = -1
        # of equal rates the one that moves least
        objective[self.moved] = 1e-9
        # what need not be converted is not
        for pair in self.converting.values():
            objective[list(pair)] = 1e-9
        found = linprog(
            objective,
            A_ub=self.under.matrix(self.count),
            b_ub=self.under.limits,
            A_eq=self.equal.matrix(self.count),
            b_eq=self.equal.limits,
            bounds=bounds,
            method="highs",
        )
        rates = found.x if found.x is not None else x
        shares = np.maximum(rates[self.rates], 0) * self.unit
        shares[shares < shares.max() * 1e-9] = 0
        held = fixed[self.held] > 0.5
        return Assignment(
            rate=float(rates[self.rho]) * self.unit,
            shares=shares,
            held=held & (shares > 0),
            picks=self._picks(fixed, shares),
            bound=max(bound, float(rates[self.rho]) * self.unit),
            proven=proven,
            binds=self._binding(found),
            converted=self._converted(rates),
        )

    def _converted(self, x: NDArray[np.float64]) -> dict[str, tuple[float, float]]:
        found = {}
        for number, (into, out) in self.converting.items():
            device = self.problem.devices[number]
            rates = float(x[into]) / device.seconds_into, float(x[out]) / device.seconds_out
            found[device.name] = rates
        return found

    def _binding(self, found: OptimizeResult) -> tuple[str, ...]:
        """The rows but for which the rate would be larger, the strongest first."""
        if found.x is None:
            return ()
        prices = -np.asarray(found.ineqlin.marginals)
        known: dict[str, float] = {}
        for price, row in zip(prices, self.under.names, strict=True):
            name = self.absent.get(row, row)
            if price > 1e-6 and not name.startswith(("moved", "one kernel")):
                known[name] = known.get(name, 0.0) + float(price)
        return tuple(sorted(known, key=lambda name: -known[name]))

    def _picks(
        self, fixed: NDArray[np.float64], shares: NDArray[np.float64]
    ) -> dict[str, dict[int, tuple[int, ...]]]:
        return {
            self.problem.devices[number].name: {
                task: tuple(int(np.argmax(fixed[picks])) for picks in layers)
                for task, layers in enumerate(tasks)
                if shares[task, number] > 0
            }
            for number, tasks in self.options.items()
        }

    def nothing(self, bound: float, *, proven: bool) -> Assignment:
        empty = np.zeros((self.tasks, self.devices))
        return Assignment(
            rate=0.0, shares=empty, held=empty > 0, picks={}, bound=bound, proven=proven, binds=()
        )
