"""Places of tensors in DDR: nothing lies on what is still needed, and no place is wasted without need."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from hlsgen.program.memory_plan import Life, planned


@st.composite
def many_lives(draw: st.DrawFn) -> dict[str, Life]:
    found = {}
    for number in range(draw(st.integers(0, 12))):
        first = draw(st.integers(0, 9))
        last = first + draw(st.integers(0, 4))
        found[f"t{number}"] = Life(words=draw(st.integers(1, 40)), first=first, last=last)
    return found


def most_at_once(lives: dict[str, Life]) -> int:
    """Words that are needed during the task that needs the most."""
    tasks = {life.first for life in lives.values()}
    return max(
        (sum(one.words for one in lives.values() if one.first <= task <= one.last) for task in tasks),
        default=0,
    )


@settings(max_examples=300, deadline=None)
@given(many_lives(), st.booleans())
def test_tensors_that_live_at_once_lie_apart(lives: dict[str, Life], keep: bool) -> None:
    plan = planned(lives, keep=keep)
    assert plan.places.keys() == lives.keys()
    for one, other in combinations(lives, 2):
        a, b = lives[one], lives[other]
        tasks = set(range(a.first, a.last + 1)) & set(range(b.first, b.last + 1))
        if tasks or keep:
            first, second = plan.places[one], plan.places[other]
            assert first + a.words <= second or second + b.words <= first, (one, other)
    ends = [plan.places[name] + life.words for name, life in lives.items()]
    assert min(plan.places.values(), default=0) >= 0
    assert plan.words == max(ends, default=0)
    total = sum(life.words for life in lives.values())
    assert most_at_once(lives) <= plan.words <= total
    assert plan.words == total or not keep


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(1, 100), min_size=1, max_size=20))
def test_a_chain_needs_what_its_largest_task_needs(sizes: list[int]) -> None:
    """Each tensor is written by one task and read by the next one."""
    lives = {f"t{n}": Life(words=words, first=n, last=n + 1) for n, words in enumerate(sizes)}
    assert planned(lives).words == most_at_once(lives)


def test_a_place_is_taken_again_after_the_last_reader_only() -> None:
    """A tensor that a task reads lives through it: the task's results lie elsewhere."""
    lives = {
        "read": Life(words=8, first=0, last=1),
        "written": Life(words=8, first=1, last=2),
        "later": Life(words=8, first=2, last=3),
    }
    plan = planned(lives)
    assert plan.words == 16 and plan.places["read"] == plan.places["later"] != plan.places["written"]
