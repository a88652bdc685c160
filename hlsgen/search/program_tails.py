"""The last tasks of a network's program, from each tensor at which its graph can be cut.

The graph is lowered once for each kind of processor, not once for each cut.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hlsgen.cost.program_time import TaskTime
from hlsgen.cost.resources import Resources
from hlsgen.designfile.constraints import NetworkConstraints
from hlsgen.hardware.processor import Processor
from hlsgen.model.ir import Graph
from hlsgen.program.lowering import Lowered, lowered_apart
from hlsgen.search.graph_cuts import after, cuts
from hlsgen.search.shared import SharedSearch
from hlsgen.search.task_times import Key
from hlsgen.targets.board import Board


class Tails:
    """Those of a network. cuts: the tensors that alone lead on, and that tasks leave in DDR."""

    def __init__(
        self, graph: Graph, board: Board, constraints: NetworkConstraints, clock_mhz: float, batch: int
    ) -> None:
        self.graph, self.board, self.constraints = graph, board, constraints
        self.clock_mhz, self.batch = clock_mhz, batch
        self.costs: dict[Processor, Resources] = {}
        self.times: dict[Key, TaskTime] = {}
        self.lowered: dict[tuple[int, int], Lowered] = {}
        whole = SharedSearch(graph, board, constraints, clock_mhz, batch)
        self.widths = whole.widths
        stored = whole.stored_without_pools()
        self.cuts = [name for name in cuts(graph) if name in stored]

    def search(self, cut: str) -> SharedSearch:
        """For processors of the layers after `cut`. Raises NoFit: none is wide enough."""
        return _TailSearch(
            after(self.graph, cut),
            self.board,
            self.constraints,
            self.clock_mhz,
            self.batch,
            tails=self,
            cut=cut,
        )

    def tail(self, cut: str, processor: Processor) -> Lowered | None:
        """The tasks after that which leaves `cut`, without windows over results; None: with this processor no
        task ends there.
        """
        key = processor.lanes, processor.pool_columns
        if key not in self.lowered:
            self.lowered[key] = lowered_apart(self.graph, processor)
        whole = self.lowered[key]
        ends = [at for at, task in enumerate(whole.tasks) if task.output.name == cut]
        if not ends:
            return None
        tasks = whole.tasks[ends[-1] + 1 :]
        names = {cut, *(task.output.name for task in tasks)}
        return Lowered(
            tasks=tasks, tensors={name: one for name, one in whole.tensors.items() if name in names}
        )


@dataclass
class _TailSearch(SharedSearch):
    """What it has in common with the searches of other cuts is computed once."""

    tails: Tails = field(kw_only=True)
    cut: str = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.costs = self.tails.costs
        self.times.times = self.tails.times

    def _widths(self) -> tuple[int, int, bool]:
        return self.tails.widths

    def _apart(self, processor: Processor) -> Lowered:
        key = processor.lanes, processor.pool_columns
        if key not in self.lowered:
            found = self.tails.tail(self.cut, processor)
            self.lowered[key] = lowered_apart(self.graph, processor) if found is None else found
        return self.lowered[key]
