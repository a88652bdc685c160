"""Assignments: against brute force written apart, against D4.8's own limits, on random problems."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from hlsgen.partitioning.assign import assign, most_rate
from hlsgen.partitioning.impossible import why_impossible
from hlsgen.partitioning.problem import Device, Option, Problem
from hlsgen.partitioning.routes import routes_of
from hlsgen.partitioning.verify import broken_limits


def random_problem(
    seed: int, tasks: int, devices: int, *, hardware: bool = False, border: bool = False
) -> Problem:
    """The first device is the host; the last, if asked for, has hardware of its own for each layer. border:
    the first converts numbers for the others.
    """
    random = np.random.default_rng(seed)
    found = []
    for number in range(devices):
        link = number > 0
        own = hardware and number == devices - 1
        options = tuple(
            tuple(
                tuple(
                    Option(seconds=float(s), cost=random.uniform(1, 10, 2) * 2e-3 / float(s))
                    for s in random.uniform(1e-4, 4e-3, 2)
                )
                for _ in range(random.integers(1, 3))
            )
            for _ in range(tasks)
        )
        found.append(
            Device(
                name=f"d{number}",
                seconds=tuple(random.uniform(1e-4, 1e-2, tasks)),
                bytes_held=tuple(random.uniform(1e5, 1e7, tasks)),
                memory=float(random.uniform(0.4, 1.5) * 5e6 * tasks) if random.random() < 0.7 else math.inf,
                to_bytes=float(random.uniform(3e7, 1e9)) if link else math.inf,
                from_bytes=float(random.uniform(3e7, 1e9)) if link else math.inf,
                options=options if own else None,
                capacity=random.uniform(10, 60, 2) * tasks if own else None,
            )
        )
    values = (0.0, *random.uniform(1e3, 1e5, tasks - 1), 0.0) if border else ()
    if border:
        into, out = random.uniform(1e-9, 4e-8, 2)
        found[0] = replace(found[0], seconds_into=float(into), seconds_out=float(out))
        found[1:] = [replace(one, coded=True) for one in found[1:]]
    return Problem(
        tasks=tuple(f"t{task}" for task in range(tasks)),
        bytes_between=tuple(random.uniform(1e4, 1e6, tasks + 1)),
        devices=tuple(found),
        values_between=values,
    )


def best_by_force(problem: Problem) -> float:
    """Every choice of what lies where, and of hardware, each with a linear program that is written out."""
    tasks, devices = len(problem.tasks), problem.devices
    best = 0.0
    for held in itertools.product([False, True], repeat=tasks * len(devices)):
        where = np.array(held).reshape(tasks, len(devices))
        if not where.any(axis=1).all():
            continue
        sizes = [sum(d.bytes_held[t] for t in range(tasks) if where[t, j]) for j, d in enumerate(devices)]
        if any(size > d.memory for size, d in zip(sizes, devices, strict=True)):
            continue
        for speeds in hardware_choices(problem, where):
            best = max(best, rate_of(problem, where, speeds))
    return best


def hardware_choices(problem: Problem, where: np.ndarray) -> list[dict[tuple[int, int], float]]:
    """By task and device the most frames a second of each affordable choice of hardware."""
    found: list[dict[tuple[int, int], float]] = [{}]
    for j, device in enumerate(problem.devices):
        if device.options is None or device.capacity is None:
            continue
        layers = [(t, o) for t in range(len(problem.tasks)) if where[t, j] for o in device.options[t]]
        ways = []
        for picks in itertools.product(*(range(len(options)) for _, options in layers)):
            cost = sum((o[k].cost for (_, o), k in zip(layers, picks, strict=True)), np.zeros(2))
            if (cost <= device.capacity).all():
                speed: dict[tuple[int, int], float] = {}
                for (t, o), k in zip(layers, picks, strict=True):
                    speed[t, j] = min(speed.get((t, j), math.inf), 1 / o[k].seconds)
                ways.append(speed)
        found = [{**one, **way} for one in found for way in ways]
    return found


def rate_of(problem: Problem, where: np.ndarray, speeds: dict[tuple[int, int], float]) -> float:
    """Variables: the rate, x by task and device, then what each device with a link gets and gives."""
    tasks, devices = len(problem.tasks), problem.devices
    scale = problem.most_rate
    count = 1 + tasks * len(devices)
    flows = count + 2 * (tasks + 1) * len(devices)
    columns = flows + 2 * (tasks + 1)
    at = lambda t, j: 1 + t * len(devices) + j  # noqa: E731
    rows, limits, equal = [], [], []
    upper = [1.0] + [0.0] * (columns - 1)
    for t in range(tasks):
        row = np.zeros(columns)
        row[0] = -1
        for j in range(len(devices)):
            row[at(t, j)] = 1
            own = speeds.get((t, j), 0.0) / scale if devices[j].options is not None else 1.0
            upper[at(t, j)] = own if where[t, j] else 0.0
        equal.append(row)
    for j, device in enumerate(devices):
        if device.options is None:
            row = np.zeros(columns)
            for t in range(tasks):
                row[at(t, j)] = device.seconds[t] * scale
            # the host's time also goes into what passes the border; `flows` are frames a second there
            for cut in range(1, tasks) if device.converts else ():
                for way, each in enumerate((device.seconds_into, device.seconds_out)):
                    passing = flows + 2 * cut + way
                    upper[passing] = 10.0
                    row[passing] = problem.values_between[cut] * each * scale
                    difference = np.zeros(columns)
                    difference[passing] = -1
                    for other, one in enumerate(devices):
                        if one.coded:
                            difference[at(cut, other)] = 1 if way == 0 else -1
                            difference[at(cut - 1, other)] = -1 if way == 0 else 1
                    rows.append(difference)
                    limits.append(0.0)
            rows.append(row)
            limits.append(1.0)
        else:
            for t in range(tasks - 1):
                if where[t, j] and where[t + 1, j]:
                    row = np.zeros(columns)
                    row[at(t, j)], row[at(t + 1, j)] = 1, -1
                    equal.append(row)
        for way, capacity in enumerate((device.to_bytes, device.from_bytes)):
            if math.isinf(capacity):
                continue
            total = np.zeros(columns)
            for cut in range(tasks + 1):
                moved = count + ((way * len(devices) + j) * (tasks + 1)) + cut
                upper[moved] = 10.0
                total[moved] = 1
                row = np.zeros(columns)
                row[moved] = -1
                sign = 1 if way == 0 else -1
                size = problem.bytes_between[cut] * scale / capacity
                if cut < tasks:
                    row[at(cut, j)] += sign * size
                if cut:
                    row[at(cut - 1, j)] -= sign * size
                rows.append(row)
                limits.append(0.0)
            rows.append(total)
            limits.append(1.0)
    objective = np.zeros(columns)
    objective[0] = -1
    done = linprog(
        objective,
        A_ub=np.array(rows),
        b_ub=limits,
        A_eq=np.array(equal),
        b_eq=np.zeros(len(equal)),
        bounds=[(0, one) for one in upper],
    )
    return float(-done.fun) * scale if done.status == 0 else 0.0


@pytest.mark.parametrize("seed", range(8))
def test_equals_brute_force(seed: int) -> None:
    problem = random_problem(seed, tasks=3 + seed % 2, devices=2)
    found = assign(problem)
    assert found.rate == pytest.approx(best_by_force(problem), rel=2e-4, abs=1e-9)
    assert found.proven and found.rate <= found.bound * (1 + 1e-9) <= most_rate(problem) * (1 + 1e-3) + 1e-9


@pytest.mark.parametrize("seed", range(6))
def test_hardware_of_its_own_equals_brute_force(seed: int) -> None:
    problem = random_problem(100 + seed, tasks=3, devices=2, hardware=True)
    found = assign(problem)
    assert found.rate == pytest.approx(best_by_force(problem), rel=2e-4, abs=1e-9)
    assert broken_limits(problem, found) == []


@pytest.mark.parametrize("seed", range(6))
def test_conversions_equal_brute_force(seed: int) -> None:
    """And they cost: without them the rate of some problems is larger."""
    problem = random_problem(200 + seed, tasks=3 + seed % 2, devices=2, hardware=seed % 2 == 1, border=True)
    found = assign(problem)
    assert found.rate == pytest.approx(best_by_force(problem), rel=2e-4, abs=1e-9)
    assert broken_limits(problem, found) == []
    assert assign(replace(problem, values_between=())).rate >= found.rate * (1 - 2e-4)


@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 10_000),
    tasks=st.integers(1, 9),
    devices=st.integers(1, 3),
    hardware=st.booleans(),
    border=st.booleans(),
)
def test_every_limit_is_kept(seed: int, tasks: int, devices: int, hardware: bool, border: bool) -> None:
    problem = random_problem(seed, tasks, devices, hardware=hardware, border=border)
    found = assign(problem, nodes=500)
    assert broken_limits(problem, found) == []
    # never worse than one device alone
    for device in problem.devices:
        alone = assign(replace(problem, devices=(device,)), nodes=500)
        assert alone.rate <= found.bound * (1 + 1e-6) + 1e-9
        if found.proven and alone.proven:
            assert found.rate >= alone.rate * (1 - 2e-4)
    routes = routes_of(found)
    through = np.zeros_like(found.shares)
    for route in routes:
        for task, device_ in enumerate(route.devices):
            through[task, device_] += route.rate
    np.testing.assert_allclose(through, found.shares, rtol=1e-6, atol=max(found.rate, 1e-9) * 1e-6)


def device(name: str, seconds: list[float], **more: object) -> Device:
    held = tuple(more.pop("held", [1.0] * len(seconds)))  # type: ignore[arg-type]
    return Device(name=name, seconds=tuple(seconds), bytes_held=held, **more)  # type: ignore[arg-type]


def test_worked_by_hand() -> None:
    """Two CPUs share two tasks of 1 and 3 ms: 4 ms of work on two of them are 500 frames/s.

    A card does the second in 1 ms, but its link brings 400,000 bytes a second, 1,000 a frame: it takes 400
    frames/s, whose first task costs the CPUs 400 ms; in 1,600 ms more they do 400 whole frames: 800.
    """
    tasks, between = ("a", "b"), (0.0, 1000.0, 0.0)
    cpus = [device(name, [1e-3, 3e-3]) for name in ("x", "y")]
    alone = Problem(tasks=tasks, bytes_between=between, devices=tuple(cpus))
    assert assign(alone).rate == pytest.approx(500)
    card = device("card", [math.inf, 1e-3], to_bytes=400_000.0, from_bytes=1e9)
    found = assign(replace(alone, devices=(*cpus, card)))
    assert found.rate == pytest.approx(800)
    assert found.shares[1, 2] == pytest.approx(400)
    assert "link to card" in found.binds


def test_conversions_worked_by_hand() -> None:
    """A CPU does the first of two tasks in 1 ms, a card the second in no time that matters; 500,000 numbers
    between at 2 ns are another 1 ms: 500 frames/s in place of 1,000. A second CPU only converts, in 4 ns: the
    first does x frames with a share s of their numbers, x (1 + s) = 1000 and the second 2 (1 - s) x =
    1000, so s = 1/3 and x = 750. Results that come back cost as those that go.
    """
    between, numbers = (0.0, 0.0, 0.0), (0.0, 5e5, 0.0)
    cpu = device("cpu", [1e-3, math.inf], seconds_into=2e-9, seconds_out=1e-9)
    card = device("card", [math.inf, 1e-6], coded=True)
    problem = Problem(tasks=("a", "b"), bytes_between=between, devices=(cpu, card), values_between=numbers)
    found = assign(problem)
    assert found.rate == pytest.approx(500)
    assert found.converted["cpu"] == (pytest.approx(2.5e8), pytest.approx(0))
    other = device("other", [math.inf] * 2, seconds_into=4e-9, seconds_out=1e-9)
    more = replace(problem, devices=(cpu, other, card))
    found = assign(more)
    assert found.rate == pytest.approx(750) and not broken_limits(more, found)
    assert any("go into codes" in text for text in broken_limits(more, replace(found, converted={})))
    too_fast = {**found.converted, "other": (3e8, 0.0)}
    assert any("of a second" in text for text in broken_limits(more, replace(found, converted=too_fast)))
    back = (device("card", [1e-6, math.inf], coded=True), replace(cpu, seconds=(math.inf, 1e-3)))
    assert assign(replace(problem, devices=back)).rate == pytest.approx(1 / 1.5e-3)


def test_a_kernel_has_no_door_inside() -> None:
    """Both tasks on hardware of their own see the same frames, though the first could take more."""
    fast, slow = (Option(seconds=s, cost=np.ones(1)) for s in (1e-3, 2e-3))
    card = device("card", [math.inf, math.inf], options=(((fast,),), ((slow,),)), capacity=np.array([2.0]))
    cpu = device("cpu", [1.0, 1e-3])
    problem = Problem(tasks=("a", "b"), bytes_between=(0.0, 0.0, 0.0), devices=(cpu, card))
    # the first on the card and the second on the CPU: 1000; both on the card: 500 and what the CPU does alone
    found = assign(problem)
    assert found.rate == pytest.approx(1000)
    assert not found.held[1, 1]
    broken = replace(
        found, held=np.array([[False, True], [True, True]]), shares=np.array([[0, 1000.0], [500, 500]])
    )
    broken = replace(broken, picks={"card": {0: (0,), 1: (0,)}})
    assert any("enter or leave card before b" in text for text in broken_limits(problem, broken))


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"shares": lambda s: s * 1.01}, "of a second"),
        ({"held": lambda h: h & False}, "does not hold it"),
        ({"rate": lambda r: r * 2}, "frames/s"),
    ],
)
def test_verification_sees_what_is_wrong(change: dict[str, object], text: str) -> None:
    problem = random_problem(3, 4, 2)
    found = assign(problem)
    assert found.rate and not broken_limits(problem, found)
    ((key, function),) = change.items()
    wrong = replace(found, **{key: function(getattr(found, key))})  # type: ignore[operator]
    assert any(text in one for one in broken_limits(problem, wrong))


def test_memory_and_links_are_verified() -> None:
    problem = random_problem(3, 4, 2)
    found = assign(problem)
    used = int(np.argmax(found.held.any(axis=0)))
    devices = list(problem.devices)
    devices[used] = replace(devices[used], memory=1.0)
    assert any("bytes" in one for one in broken_limits(replace(problem, devices=tuple(devices)), found))
    moved = replace(found, shares=np.array([[0.0, found.rate]] * 4), held=np.ones((4, 2), bool))
    narrow = replace(problem.devices[1], to_bytes=1.0)
    told = broken_limits(replace(problem, devices=(problem.devices[0], narrow)), moved)
    assert any("bytes/s to d1" in one for one in told)


def test_what_binds_is_named() -> None:
    seconds = [1e-3, 1e-3]
    small = device("small", seconds, held=[600.0, 600.0], memory=1000.0)
    problem = Problem(tasks=("a", "b"), bytes_between=(1.0, 1.0, 1.0), devices=(small,))
    text = str(why_impossible("net", problem))
    assert "the memory of small: 0.001 MB for tasks that hold 0.0012 MB together" in text
    tight = device(
        "card",
        [math.inf] * 2,
        options=(((Option(seconds=1e-3, cost=np.array([5.0])),),),) * 2,
        capacity=np.array([8.0]),
    )
    text = str(why_impossible("net", replace(problem, devices=(tight,))))
    assert "the resources of card" in text
    none = device("none", [1e-3, math.inf])
    text = str(why_impossible("net", replace(problem, devices=(none,))))
    assert "no device can compute b" in text and "cpu: {kind: cpu}" in text
