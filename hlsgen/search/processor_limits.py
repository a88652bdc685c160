"""What keeps shared processors from being faster, or from being at all, in words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hlsgen.cost.processor import AXI_PORTS
from hlsgen.cost.resources import Resources
from hlsgen.designfile.constraints import NetworkConstraints, NoFit
from hlsgen.hardware.processor import Processor
from hlsgen.model.ir import Graph
from hlsgen.search.board_limits import KINDS, allowed, left_of, margin_text
from hlsgen.search.placement import LIMIT_NAMES
from hlsgen.search.task_placement import share_of_slr
from hlsgen.targets.board import Board

MULTIPLIERS = "multipliers"
"""What sets the cycles of a task whose multipliers work all the time."""
DDR = "DDR bandwidth"


@dataclass
class Misses:
    """Why processors of the list are no choice: what was nearest to being one.

    slowest: no interval of what fits is shorter. fewer: the most instances that fit where more are asked for.
    """

    tiling: str = ""
    excess: float = math.inf
    largest: str = ""
    least_interval: int = 0
    fewer: tuple[int, str] = (0, "")

    def not_tiled(self, text: str) -> None:
        """A task that no processor of a folding holds."""
        self.tiling = text

    def too_large(self, processor: Processor, each: Resources, why: str, board: Board) -> None:
        """A processor that no SLR has room for; the one that is the least too large is kept.

        Of those with products in logic cells, which trade one excess for another, or with extra channels only
        the first.
        """
        if (processor.fabric_lanes or processor.extra_lanes) and self.largest:
            return
        limits = [allowed(slr, board) for slr in board.slrs]
        limit = min(limits, key=lambda one: share_of_slr(each, one))
        share = share_of_slr(each, limit)
        if share >= self.excess:
            return
        over = [
            f"{getattr(each, kind):,} {LIMIT_NAMES[kind]} of {getattr(limit, kind):,}"
            for kind in KINDS
            if getattr(each, kind) > getattr(limit, kind)
        ]
        self.excess = share
        self.largest = f"one of {processor}{why} takes {' and '.join(over)}{margin_text(board)}"

    def too_few(self, processor: Processor, most: int) -> None:
        """A processor that fits, but not as often as is asked for."""
        if most > self.fewer[0] or not processor.extra_lanes:
            self.fewer = max(self.fewer, (most, str(processor)))

    def too_slow(self, interval: int) -> None:
        """Processors that fit, but miss the interval that is asked for."""
        self.least_interval = min(self.least_interval or interval, interval)

    def no_fit(self, graph: Graph, board: Board, constraints: NetworkConstraints) -> NoFit:
        """That there is no processor, with what lacks."""
        wished, asked = constraints.target_interval, constraints.instances
        if self.least_interval:
            message = f"no processors of {graph.name} keep to {wished:,} cycles a frame on {board.title}"
            message += f": the fastest take {self.least_interval:,}"
            return NoFit(message, f"interval: {self.least_interval} or more", key="interval")
        if asked and self.fewer[0]:
            most, processor = self.fewer
            message = (
                f"{asked} processors for {graph.name} do not fit {board.title}: {most} do, of {processor}"
            )
            return NoFit(message, f"instances: {most} or fewer, or mapping: auto", key="instances")
        fixed = constraints.processor.given
        fix = f"another {' or '.join(fixed)}, or none" if fixed else "narrower types, or a larger board"
        why = self.largest or self.tiling or "there is none of these keys"
        message = f"no processor for {graph.name} fits {board.title}: {why}"
        return NoFit(message, fix, key="processor" if fixed else None)


def bottleneck(
    each: Resources,
    slrs: Sequence[str],
    cycles: Mapping[str, int],
    board: Board,
    constraints: NetworkConstraints,
) -> str:
    """What most of the time goes to where that is not products, else what allows no more processors.

    slrs: of each instance. cycles: of a round by what sets them.
    """
    total = sum(cycles.values())
    name, most = Counter(cycles).most_common(1)[0]
    if name != MULTIPLIERS and most > total / 2:
        return f"{name}, for {most / total:.0%} of the cycles"
    if constraints.instances:
        return "the instances that the design asks for"
    lacking = _lacking(each, slrs, board)
    if not lacking:
        return f"the {board.most_units(AXI_PORTS)} kernels that the board takes"
    used, whole = each.times(len(slrs)), Resources.sum(allowed(slr, board) for slr in board.slrs)
    shares = [
        f"{LIMIT_NAMES[kind]} at {getattr(used, kind) / max(1, getattr(whole, kind)):.0%}" for kind in lacking
    ]
    return f"{' and '.join(shares)} of what may be used, for more multipliers"


def _lacking(each: Resources, slrs: Sequence[str], board: Board) -> list[str]:
    """The kinds of which no SLR, or not every one, has enough left for one more."""
    found: set[str] = set()
    for slr in board.slrs:
        left = left_of(allowed(slr, board), each.times(slrs.count(slr.name)))
        here = {kind for kind in KINDS if getattr(each, kind) > getattr(left, kind)}
        if not here:
            return []
        found |= here
    return [kind for kind in KINDS if kind in found]
