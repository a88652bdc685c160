"""What pointers lead to that loops move, or that are one of several."""

from __future__ import annotations

from hlsgen.schedule.control_flow import loops_of, reverse_postorder
from hlsgen.schedule.ir import Local
from hlsgen.schedule.ir_reader import read_module
from hlsgen.schedule.linear import Address, Addresses, Linear
from hlsgen.schedule.ranges import Ranges

MOVED = """define void @f(ptr %a, ptr %b, i1 %c, i32 %n) {
entry:
  %start = getelementptr i8, ptr %a, i64 12
  br label %loop

loop:                                             ; preds = %loop, %entry
  %p = phi ptr [ %start, %entry ], [ %next, %loop ]
  %q = phi ptr [ %b, %entry ], [ %other, %loop ]
  %i = phi i32 [ 0, %entry ], [ %j, %loop ]
  %next = getelementptr i8, ptr %p, i64 4
  %ahead = getelementptr i8, ptr %next, i64 8
  %further = getelementptr i8, ptr %q, i64 4
  %other = select i1 %c, ptr %q, ptr %further
  %either = select i1 %c, ptr %a, ptr %b
  %j = add i32 %i, 1
  %more = icmp slt i32 %j, %n
  br i1 %more, label %loop, label %done

done:                                             ; preds = %loop
  ret void
}
"""


def addresses_of(text: str) -> Addresses:
    function = read_module(text).functions["f"]
    entry = next(iter(function.blocks))
    order = reverse_postorder(entry, {name: block.successors for name, block in function.blocks.items()})
    definitions = {one.name: one for _, one in function.instructions() if one.name}
    return Addresses(definitions, Ranges(function, order, loops_of(function)))


def test_a_moved_pointer_counts_the_iterations() -> None:
    addresses = addresses_of(MOVED)
    assert addresses.of(Local("ahead")) == Address(Local("a"), Linear(24, (("p", 4),)))
    assert addresses.of(Local("p")) == Address(Local("a"), Linear(12, (("p", 4),)))
    counter = addresses.ranges.counters["p"]
    assert (counter.start, counter.step) == (0, 1)


def test_a_pointer_that_moves_now_and_then_stays_in_its_variable() -> None:
    found = addresses_of(MOVED).of(Local("other"))
    assert found is not None
    assert found.base == Local("b")
    assert found.offset.terms
    assert "q" not in addresses_of(MOVED).ranges.counters


def test_one_of_two_variables_is_neither() -> None:
    assert addresses_of(MOVED).of(Local("either")) == Address(Local("either"), Linear(0))


def chain(length: int) -> str:
    steps = "".join(f"  %p{at} = select i1 %c, ptr %p{at - 1}, ptr %a\n" for at in range(1, length + 1))
    head = "define void @f(ptr %a, i1 %c) {\nentry:\n  %p0 = getelementptr i8, ptr %a, i64 4\n"
    return f"{head}{steps}  ret void\n}}\n"


def test_a_long_chain_of_choices_is_looked_through_in_part() -> None:
    """Taise228/topk_sort: each swap of a network that is unrolled chooses between pointers."""
    short = addresses_of(chain(20)).of(Local("p20"))
    assert short is not None
    assert short.base == Local("a")
    assert addresses_of(chain(3000)).of(Local("p3000")) is not None
