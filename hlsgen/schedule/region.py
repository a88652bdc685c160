"""What one iteration of a pipelined loop does: operations, and which of them wait for which."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Collection, Sequence

from hlsgen.schedule.bits import PossibleOnes
from hlsgen.schedule.bursts import AS_IP, PortRules
from hlsgen.schedule.control_flow import Loop, reverse_postorder
from hlsgen.schedule.growing_region import GrowingRegion
from hlsgen.schedule.ir import Function, Local
from hlsgen.schedule.iteration import Region
from hlsgen.schedule.linear import Addresses
from hlsgen.schedule.memories import Memories
from hlsgen.schedule.nests import FlatNests
from hlsgen.schedule.ranges import Ranges
from hlsgen.schedule.scheduled_regions import address_only
from hlsgen.schedule.widths import Widths


class RegionBuilder:
    """Makes the regions of one function."""

    def __init__(
        self,
        function: Function,
        memories: Memories,
        ranges: Ranges,
        loops: Sequence[Loop],
        nests: FlatNests,
        *,
        writes_registers: bool = True,
        compares_before: bool = False,
        ports: PortRules = AS_IP,
        flattens_imperfect: bool = False,
        flattens_writes: bool = False,
        tells_chosen: bool = False,
        tells_equal: bool = False,
        lost: Collection[str] = (),
    ) -> None:
        """`writes_registers`: whether what an iteration leaves to the next is written into a register, which
        may be read in the same cycle (releases from 2021.2 on), or a choice at the start of the next.
        `compares_before`: of nest_counters.py; `ports`: of bursts.py; `flattens_*`: begun_anew.py;
        `tells_chosen`: dependences.py; `tells_equal`: equal_counters.py. `lost`: the names of variables that
        the source writes, and the function as it is simplified does not."""
        self.lost = lost
        self.tells_chosen, self.tells_equal = tells_chosen, tells_equal
        self.compares_before, self.ports = compares_before, ports
        self.flattens_imperfect, self.flattens_writes = flattens_imperfect, flattens_writes
        self.writes_registers = writes_registers
        self.function = function
        self.memories = memories
        self.ranges = ranges
        self.widths = Widths(function, ranges)
        entry = next(iter(function.blocks))
        order = reverse_postorder(entry, {name: block.successors for name, block in function.blocks.items()})
        self.ones = PossibleOnes(function, order)
        self.definitions = {one.name: one for _, one in function.instructions() if one.name}
        self.addresses = Addresses(self.definitions, ranges)
        self.address_parts = address_only(function)
        self.readers = Tally(
            operand.name
            for _, one in function.instructions()
            for operand in one.operands
            if isinstance(operand, Local)
        )
        self.loops, self.nests = loops, nests

    def of_loop(self, loop: Loop) -> Region:
        """An iteration of a loop; inner loops that are left stand out of it."""
        skipped = set().union(*(inner.blocks for inner in loop.inner)) if loop.inner else set()
        return GrowingRegion(self, loop, loop.header, loop.blocks - skipped, list(loop.inner)).region

    def of_function(self) -> Region:
        """A function that is pipelined as a whole."""
        inner = [loop for loop in self.loops if loop.parent is None]
        skipped = set().union(*(loop.blocks for loop in inner)) if inner else set()
        entry = next(iter(self.function.blocks))
        return GrowingRegion(self, None, entry, set(self.function.blocks) - skipped, inner).region
