"""The dynamic program against all schedules of small chains, and against published facts."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlsgen.base.errors import DesignError
from hlsgen.rematerialising.chain import Chain, Kind, Operation, Stage
from hlsgen.rematerialising.least import least_bytes, least_operations
from hlsgen.rematerialising.optimal import Search
from hlsgen.rematerialising.plan import plan_for
from hlsgen.rematerialising.simulate import InvalidSequence, peak_bytes
from tests.rematerialising.brute_force import least_time


@st.composite
def stages(draw: st.DrawFn, *, again: bool = True) -> Stage:
    output = draw(st.integers(1, 5))
    saved = output + draw(st.integers(0, 5))
    gradient = draw(st.integers(0, output))
    return Stage(
        name="stage",
        forward_s=draw(st.integers(1, 4)),
        backward_s=draw(st.integers(1, 4)),
        output_bytes=output,
        saved_bytes=saved,
        gradient_bytes=gradient,
        forward_peak=output + draw(st.integers(0, 3)),
        keep_peak=saved + draw(st.integers(0, 3)),
        backward_peak=gradient + draw(st.integers(0, 4)),
        parameter_gradient_bytes=draw(st.integers(0, 3)),
        again=again or draw(st.booleans()),
    )


@st.composite
def chains(draw: st.DrawFn, *, again: bool = True) -> Chain:
    return Chain(
        stages=tuple(draw(st.lists(stages(again=again), min_size=1, max_size=5))),
        fixed_bytes=draw(st.integers(0, 3)),
        gradients_kept=draw(st.booleans()),
    )


def best(chain: Chain, budget: int) -> tuple[Operation, ...] | None:
    """With a unit a byte, so that nothing is rounded."""
    return Search(chain=chain, budget=budget, slots=budget - chain.fixed_bytes).operations()


@settings(max_examples=80, deadline=None)
@given(chains(), st.integers(0, 30))
def test_as_fast_as_the_best_of_all_persistent_schedules(chain: Chain, more: int) -> None:
    budget = least_bytes(chain) - 2 + more
    if budget <= chain.fixed_bytes:
        return
    expected = least_time(chain, budget, persistent=True)
    found = best(chain, budget)
    assert (found is None) == (expected is None)
    if found is not None:
        assert chain.seconds(found) == expected
        assert peak_bytes(chain, found) <= budget
        free = least_time(chain, budget, persistent=False)
        assert free is not None and free <= chain.seconds(found)


@settings(max_examples=50, deadline=None)
@given(chains())
def test_the_least_memory_is_the_least_with_which_any_persistent_schedule_exists(chain: Chain) -> None:
    least = least_bytes(chain)
    assert least_time(chain, least, persistent=True) is not None
    assert least_time(chain, least - 1, persistent=True) is None
    assert peak_bytes(chain, least_operations(chain)) == least


@settings(max_examples=30, deadline=None)
@given(chains(again=False), st.integers(0, 20))
def test_a_stage_that_must_not_be_computed_again_is_not(chain: Chain, more: int) -> None:
    found = best(chain, least_bytes(chain) + more + 1)
    assert found is not None
    peak_bytes(chain, found)
    for index, stage in enumerate(chain.stages):
        ran = sum(one.stage == index and one.kind is not Kind.BACKWARD for one in found)
        assert ran == 1 or stage.again


@settings(max_examples=30, deadline=None)
@given(chains(), st.integers(2, 40), st.integers(0, 15))
def test_what_rounding_misses_is_within_its_bound(chain: Chain, slots: int, more: int) -> None:
    budget = least_bytes(chain) + more + 1
    rounded = Search(chain=chain, budget=budget, slots=slots).operations()
    missed = (len(chain.stages) + 1) * (budget - chain.fixed_bytes) / slots
    smaller = int(budget - missed)
    exact = best(chain, smaller) if smaller > chain.fixed_bytes else None
    if exact is not None:
        assert rounded is not None
        assert chain.seconds(rounded) <= chain.seconds(exact)
    if rounded is not None:
        assert peak_bytes(chain, rounded) <= budget


def revolve(steps: int, checkpoints: int) -> int:
    """Forward steps without those that precede a backward step at once.

    Griewank and Walther, "Algorithm 799: revolve" (ACM TOMS 26, 2000): r * steps - C(checkpoints + r, r - 1)
    with the least r that has C(checkpoints + r, r) >= steps, their checkpoints counting the input.
    """
    r = next(r for r in range(steps + 1) if comb(checkpoints + r, r) >= steps)
    return r * steps - comb(checkpoints + r, checkpoints + 1)


@pytest.mark.parametrize("steps", [1, 2, 3, 5, 10, 20])
@pytest.mark.parametrize("checkpoints", [1, 2, 3, 4])
def test_a_homogeneous_chain_takes_the_steps_of_revolve(steps: int, checkpoints: int) -> None:
    """A stage saves so much (50) that only the one to go backward at once can keep it.

    Of the checkpoints one is the input, which is not counted; beside them stands the state that is worked on.
    """
    stage = Stage(
        name="step",
        forward_s=1.0,
        backward_s=0.0,
        output_bytes=1,
        saved_bytes=50,
        gradient_bytes=0,
        forward_peak=1,
        keep_peak=50,
        backward_peak=0,
    )
    chain = Chain(stages=(stage,) * steps)
    found = best(chain, 50 + checkpoints)
    assert found is not None
    taped = sum(one.kind is Kind.KEEP for one in found)
    assert taped == steps
    assert len(found) - 2 * steps == revolve(steps, checkpoints)


def test_revolve_has_its_known_ends() -> None:
    """One checkpoint: all steps before each again; as many as steps: each once."""
    assert [revolve(steps, 1) for steps in (2, 5, 10)] == [steps * (steps - 1) // 2 for steps in (2, 5, 10)]
    assert [revolve(steps, steps) for steps in (2, 5, 10)] == [1, 4, 9]


def test_a_sequence_that_does_not_train_is_told() -> None:
    stage = Stage(
        name="one",
        forward_s=1,
        backward_s=1,
        output_bytes=1,
        saved_bytes=1,
        gradient_bytes=0,
        forward_peak=1,
        keep_peak=1,
        backward_peak=0,
        again=False,
    )
    chain = Chain(stages=(stage, stage))
    forward = [Operation(Kind.CHECKPOINT, 0), Operation(Kind.KEEP, 1)]
    for wrong in (
        [Operation(Kind.KEEP, 1)],
        forward,
        [*forward, Operation(Kind.BACKWARD, 0)],
        [*forward, Operation(Kind.BACKWARD, 1), Operation(Kind.KEEP, 0), Operation(Kind.BACKWARD, 0)],
    ):
        with pytest.raises(InvalidSequence):
            peak_bytes(chain, wrong)


def thin(count: int) -> Chain:
    """Stages of a megabyte that save four."""
    stage = Stage(
        name="s",
        forward_s=1.0,
        backward_s=2.0,
        output_bytes=10**6,
        saved_bytes=4 * 10**6,
        gradient_bytes=10**6,
        forward_peak=10**6,
        keep_peak=4 * 10**6,
        backward_peak=2 * 10**6,
    )
    return Chain(stages=(stage,) * count, fixed_bytes=10**6)


def test_more_memory_never_takes_more_time() -> None:
    chain = thin(20)
    least = least_bytes(chain)
    plans = [plan_for(chain, budget) for budget in range(least, least + 80_000_000, 5_000_000)]
    seconds = [plan.seconds for plan in plans]
    assert seconds == sorted(seconds, reverse=True)
    assert all(plan.peak <= plan.budget for plan in plans)
    assert plans[-1].operations == chain.keeps_everything()
    assert plans[-1].seconds == plans[-1].plain_seconds < seconds[0]


def test_an_impossible_budget_is_refused_with_the_least_possible_one() -> None:
    chain = thin(20)
    with pytest.raises(DesignError, match=r"the least possible is (\d+\.\d)MB") as refused:
        plan_for(chain, 5_000_000)
    named = float(refused.value.problems[0].fix.split("MB")[0].split()[-1])
    assert plan_for(chain, int(named * 1e6)).peak <= named * 1e6


def test_the_least_budget_to_the_byte_has_a_plan_though_units_round_up() -> None:
    generator = np.random.default_rng(1)
    chain = Chain(
        stages=tuple(
            Stage(
                name=f"s{i}",
                forward_s=1.0,
                backward_s=1.0,
                output_bytes=int(size),
                saved_bytes=int(3 * size),
                gradient_bytes=int(size),
                forward_peak=int(size),
                keep_peak=int(3 * size),
                backward_peak=int(2 * size),
            )
            for i, size in enumerate(generator.integers(10**5, 10**7, 30))
        )
    )
    least = least_bytes(chain)
    found = plan_for(chain, least)
    assert found.peak <= least
    assert found.seconds < 0.9 * chain.seconds(least_operations(chain)), "which computes too much again"
    with pytest.raises(DesignError):
        plan_for(chain, least - 1)
