"""Pipelines: connections, order, back-pressure, errors and throughput, with parts whose work is known."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlsgen.base.errors import DesignError, ToolError
from hlsgen.base.fixed import FixedType
from hlsgen.base.floating import FLOAT32
from hlsgen.layers.base import Tensor
from hlsgen.model.ir import Port
from hlsgen.pipelining.part import ANY, Input, Output, Part, Values
from hlsgen.pipelining.pipeline import Pipeline
from hlsgen.pipelining.running import Running, check_cpus, run_in_sequence, usable_cpus

SHAPE = (2, 1, 1)


def part(
    name: str, function: Callable[..., Values], reads: int = 1, type_: str = ANY, **more: object
) -> Part:
    """Reads in0, in1 ... and gives out."""
    names = [f"in{number}" for number in range(reads)]

    def compute(values: Mapping[str, Values]) -> dict[str, Values]:
        return {"out": function(*(values[one] for one in names))}

    return Part(
        name=name,
        inputs=tuple(Input(name, one, SHAPE, type_) for one in names),
        outputs=(Output(name, "out", SHAPE, type_),),
        make=lambda: compute,
        **more,  # type: ignore[arg-type]
    )


def empty(inputs: int = 1) -> Pipeline:
    tensor = Tensor(shape=SHAPE, type=FLOAT32)
    return Pipeline("p", [Port.of(f"x{number}", tensor) for number in range(inputs)], [Port.of("y", tensor)])


def chain(*parts: Part) -> Pipeline:
    found = empty()
    source = found.input()
    for one in parts:
        found.add(one).input(0).connect(source)
        source = one.output("out")
    found.output().connect(source)
    return found


def frames(count: int, seed: int = 0) -> Values:
    return np.random.default_rng(seed).normal(size=(count, *SHAPE))


@settings(deadline=None, max_examples=30)
@given(
    workers=st.lists(st.integers(1, 4), min_size=1, max_size=4),
    depth=st.integers(1, 3),
    count=st.integers(1, 23),
    batch=st.integers(1, 5),
)
def test_order_is_kept(workers: list[int], depth: int, count: int, batch: int) -> None:
    """Whatever the workers of each part, some of which are slow at times; twice, from one open pipeline."""

    def step(number: int) -> Callable[[Values], Values]:
        def function(x: Values) -> Values:
            time.sleep(0.002 * (abs(int(x[0, 0, 0, 0] * 1000)) % 3 == 0))
            return x * 3 + number

        return function

    found = chain(*(part(f"p{at}", step(at), workers=count_) for at, count_ in enumerate(workers)))
    with found.open(depth) as running:
        for seed in (1, 2):
            x = frames(count, seed)
            y = running.run(x, batch)
            wanted = x
            for at in range(len(workers)):
                wanted = wanted * 3 + at
            np.testing.assert_array_equal(y, wanted)
            np.testing.assert_array_equal(y, run_in_sequence(found, x, batch))
            np.testing.assert_array_equal(y, running.in_sequence(x, batch))
        assert all(one.items == 2 * -(-count // batch) for one in running.figures().values())


def test_forks_and_joins() -> None:
    """A diamond of unlike workers, and an input that skips all of it."""
    found = empty(2)
    a = found.add(part("a", lambda x: x + 1, workers=2))
    b = found.add(part("b", lambda x: x * 2, workers=3))
    c = found.add(part("c", lambda x: -x))
    d = found.add(part("d", lambda left, right, skip: left + 10 * right + 100 * skip, reads=3, workers=2))
    a.input("in0").connect(found.input("x0"))
    for one in (b, c):
        one.input(0).connect(a.output(0))
    d.input(0).connect(b.output(0))
    d.input(1).connect(c.output(0))
    d.input(2).connect(found.input(1))
    found.output("y").connect(d.output("out"))
    x, z = frames(9), frames(9, 5)
    with found.open(1) as running:
        y = running.run([x, z])
    np.testing.assert_array_equal(y, (x + 1) * 2 - 10 * (x + 1) + 100 * z)
    assert [one.name for one in found.in_order()] == ["a", "b", "c", "d"]


def test_a_cycle_is_refused() -> None:
    found = empty()
    a, b = found.add(part("a", lambda x, y: x + y, reads=2)), found.add(part("b", lambda x: x))
    a.input(0).connect(found.input())
    a.input(1).connect(b.output(0))
    b.input(0).connect(a.output(0))
    found.output().connect(b.output(0))
    with pytest.raises(DesignError, match="a, b of p wait for each other: their connections are a cycle"):
        found.open()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda p: None, "the pipeline.y .* is connected to nothing"),
        (lambda p: p["a"].input(0).connect(p.input()), "is connected to .* already"),
        (lambda p: p["a"].input("z"), "a has no input 'z'"),
        (lambda p: p["a"].output(3), "a has no output 3"),
        (lambda p: p["z"], "p has no part 'z'"),
        (lambda p: p.input("z"), "p has no input 'z'"),
        (lambda p: p.add(part("a", lambda x: x)), "cannot be the name"),
        (lambda p: p.add(part("../a", lambda x: x)), "cannot be the name"),
        (lambda p: p.output().connect(part("q", lambda x: x).output(0)), "which is of another pipeline"),
        (lambda p: p.output().connect(Output("a", "out", (1, 2, 3), ANY)), "the shapes differ"),
    ],
)
def test_connections_that_are_wrong(wrong: Callable[[Pipeline], object], message: str) -> None:
    found = empty()
    found.add(part("a", lambda x: x)).input(0).connect(found.input())
    with pytest.raises(DesignError, match=message):
        wrong(found)
        found.open()


def test_types_that_differ_are_refused() -> None:
    """Between two parts in fixed point; a part on the CPU takes any values."""
    left = part("a", lambda x: x, type_=str(FixedType(8, 4, True)))
    right = part("b", lambda x: x, type_=str(FixedType(8, 5, True)))
    with pytest.raises(DesignError, match="the number types differ, and no layer converts them"):
        right.input(0).connect(left.output(0))
    part("c", lambda x: x).input(0).connect(left.output(0))


def test_an_error_ends_all() -> None:
    """It is raised where frames are waited for; no thread stays; the pipeline says that it is closed."""
    before = threading.active_count()

    def third(x: Values) -> Values:
        if x[0, 0, 0, 0] > 1.5:
            raise ToolError("error: the card is gone\nfix: none")
        return x

    found = chain(part("a", lambda x: x, workers=2), part("b", third, workers=2), part("c", lambda x: x))
    running = found.open()
    x = np.arange(40.0).reshape(20, *SHAPE) / 10
    with pytest.raises(ToolError, match="the card is gone"):
        running.run(x)
    running.close()
    assert threading.active_count() == before
    with pytest.raises(ToolError, match="the card is gone"):
        running.run(x)


def test_who_cannot_open_says_so() -> None:
    def broken() -> None:
        raise ToolError("error: no compiler")

    wrong = part("b", lambda x: x)
    wrong.make = broken  # type: ignore[assignment]
    before = threading.active_count()
    with pytest.raises(ToolError, match="no compiler"):
        chain(part("a", lambda x: x), wrong, part("c", lambda x: x)).open()
    assert threading.active_count() == before


def test_frames_that_fail_to_come_end_it() -> None:
    def given_frames() -> Iterator[Values]:
        yield frames(1)
        raise ValueError("the camera is gone")

    with chain(part("a", lambda x: x)).open() as running, pytest.raises(ValueError, match="camera"):
        list(running.stream(given_frames()))


def test_back_pressure() -> None:
    """No more frames are taken than queues and parts hold, while nobody takes results."""
    taken: list[int] = []

    def given_frames() -> Iterator[Values]:
        for number in range(100):
            taken.append(number)
            yield frames(1)

    found = chain(part("a", lambda x: x), part("b", lambda x: x))
    with found.open(2) as running:
        results = running.stream(given_frames())
        next(results)
        time.sleep(0.2)
        # 1 was given out; each of 3 queues holds 2, each of 2 parts and the feeder 1
        assert len(taken) <= 1 + 3 * 2 + 2 + 1
        assert len(list(results)) == 99
    assert len(taken) == 100


def test_leaving_early_ends_it() -> None:
    before = threading.active_count()
    running = chain(part("a", lambda x: x)).open()
    for _ in running.stream(frames(1) for _ in range(1000)):
        break
    running.close()
    for _ in range(100):
        if threading.active_count() == before:
            break
        time.sleep(0.01)
    assert threading.active_count() == before


@pytest.mark.parametrize("workers", [(1, 1, 1), (1, 2, 1)])
def test_throughput_is_that_of_the_slowest(workers: tuple[int, ...]) -> None:
    """0.9 of it or more, with stages that wait a known time: so no machine's speed is in it."""
    waits = (0.01, 0.02, 0.005)

    def waiting(seconds: float) -> Callable[[Values], Values]:
        def function(x: Values) -> Values:
            time.sleep(seconds)
            return x

        return function

    parts = [
        part(f"p{at}", waiting(one), workers=count)
        for at, (one, count) in enumerate(zip(waits, workers, strict=True))
    ]
    count = 60
    slowest = max(one / number for one, number in zip(waits, workers, strict=True))
    best = 0.0
    with chain(*parts).open() as running:
        for _ in range(3):
            begin = time.perf_counter()
            running.run(frames(count))
            best = max(best, count / (time.perf_counter() - begin) * slowest)
    assert best >= 0.9


def test_cores() -> None:
    """Each worker's thread may use its part's cores alone."""
    import os

    if not hasattr(os, "sched_getaffinity"):
        pytest.skip("this system has no affinities")
    core = usable_cpus()[-1]
    seen: list[set[int]] = []

    def function(x: Values) -> Values:
        seen.append(os.sched_getaffinity(threading.get_native_id()))
        return x

    with chain(part("a", function, cpus=(core,), workers=2)).open() as running:
        running.run(frames(4))
    assert seen == [{core}] * 4 and core in os.sched_getaffinity(0)
    check_cpus("a", (core,))
    with pytest.raises(ToolError, match="wants core 64000"):
        check_cpus("a", (64000,))


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (np.zeros((2, 3, 1, 1)), "input x0 has shape"),
        ([np.zeros((2, *SHAPE)), np.zeros((2, *SHAPE))], "input x0 has shape"),
        (np.zeros(SHAPE), "has shape"),
    ],
)
def test_frames_of_another_shape(x: object, message: str) -> None:
    with chain(part("a", lambda x: x)).open() as running, pytest.raises(DesignError, match=message):
        running.run(x)  # type: ignore[arg-type]


def test_queues_hold_something() -> None:
    with pytest.raises(DesignError, match="queues of 0 items"):
        Running(chain(part("a", lambda x: x)), 0)
