"""The last tasks of a network's program, from each tensor at which its graph can be cut.

The graph is lowered once for each kind of processor, not once for each cut.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hlsgen.base.errors import DesignError
from hlsgen.cost.program_time import TaskTime
from hlsgen.cost.resources import Resources
from hlsgen.designfile.constraints import NetworkConstraints, NoFit
from hlsgen.hardware.processor import Processor
from hlsgen.model.ir import Graph
from hlsgen.program.lowering import Lowered
from hlsgen.search.graph_cuts import after, cuts
from hlsgen.search.shared import SharedSearch
from hlsgen.search.task_times import Key
from hlsgen.targets.board import Board


class Tails:
    """Those of a network. cuts: the tensors that alone lead on, and that tasks leave in DDR.

    Where shared processors have no hardware for one of the first layers, which may stream all the same, each
    tail is lowered by itself.
    """

    def __init__(
        self, graph: Graph, board: Board, constraints: NetworkConstraints, clock_mhz: float, batch: int
    ) -> None:
        self.graph, self.board, self.constraints = graph, board, constraints
        self.clock_mhz, self.batch = clock_mhz, batch
        self.costs: dict[Processor, Resources] = {}
        self.times: dict[Key, TaskTime] = {}
        self.cuts = cuts(graph)
        self.whole: SharedSearch | None = None
        try:
            self.whole = SharedSearch(graph, board, constraints, clock_mhz, batch)
        except DesignError:
            return
        _without_host(self.whole)
        stored = self.whole.stored_without_pools()
        self.cuts = [name for name in self.cuts if name in stored]

    def search(self, cut: str) -> SharedSearch:
        """For processors of the layers after `cut`. Raises NoFit: none is wide enough; DesignError: there is
        no hardware for one of these layers.
        """
        graph, constraints = after(self.graph, cut), self.constraints
        if self.whole is None:
            return _without_host(SharedSearch(graph, self.board, constraints, self.clock_mhz, self.batch))
        return _TailSearch(
            graph, self.board, constraints, self.clock_mhz, self.batch, tails=self, cut=cut, whole=self.whole
        )


@dataclass
class _TailSearch(SharedSearch):
    """What it has in common with the searches of other cuts is computed once."""

    tails: Tails = field(kw_only=True)
    cut: str = field(kw_only=True)
    whole: SharedSearch = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.costs = self.tails.costs
        self.times.times = self.tails.times

    def _widths(self) -> tuple[int, int, bool]:
        return self.whole.widths

    def _apart(self, processor: Processor) -> Lowered:
        """The tasks after that which leaves the tensor at the cut; with a processor with which no task ends
        there those of the layers alone.
        """
        key = processor.lanes, processor.pool_columns
        if key not in self.lowered:
            whole = self.whole.apart(*key)
            ends = [at for at, task in enumerate(whole.tasks) if task.output.name == self.cut]
            self.lowered[key] = _after(whole, ends[-1], self.cut) if ends else super()._apart(processor)
        return self.lowered[key]


def _without_host(search: SharedSearch) -> SharedSearch:
    """The same. Raises NoFit: layers at the end are left to the host, which no mixture's host computes."""
    tail = search.division.tail
    if tail:
        raise NoFit(
            f"{tail[0].name} of {search.graph.name} is left to the host", "style: dataflow, or shared"
        )
    return search


def _after(whole: Lowered, end: int, cut: str) -> Lowered:
    """The tasks behind that with number `end`, and the tensors that they read and write."""
    tasks = whole.tasks[end + 1 :]
    names = {cut, *(task.output.name for task in tasks)}
    return Lowered(tasks=tasks, tensors={name: one for name, one in whole.tensors.items() if name in names})
