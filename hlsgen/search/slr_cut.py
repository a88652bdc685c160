"""The layers of a streaming kernel that is larger than an SLR, each in one SLR.

Runs of layers in their order of computation, so that data crosses each border once, as evenly filled as they
can be; where no such cut fits, each layer in the SLR that is then the least full.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hlsgen.cost.resources import Resources
from hlsgen.cost.stages import layer_resources
from hlsgen.hardware.pipeline import Pipeline
from hlsgen.search.board_limits import allowed
from hlsgen.search.task_placement import packed, share_of_slr
from hlsgen.targets.board import Board

PARTS = 64
"""How finely the fill of the SLRs is looked for."""


def cut(pipeline: Pipeline, board: Board) -> dict[str, int] | None:
    """The number of the SLR of each layer of `pipeline`, which crosses no border yet; None: they do not fit.

    What relays take is not counted: `fits_cut` says of the kernel across its SLRs whether it has room.
    """
    taken = layer_resources(pipeline, board)
    limits = [allowed(slr, board) for slr in board.slrs]
    found = _even_runs(list(taken.values()), limits)
    if found is not None:
        return dict(zip(taken, found, strict=True))
    placed = packed(list(taken.values()), 1, board)
    if placed is None:
        return None
    numbers = {slr.name: number for number, slr in enumerate(board.slrs)}
    return {name: numbers[slr] for name, (slr,) in zip(taken, placed, strict=True)}


def fits_cut(pipeline: Pipeline, board: Board) -> bool:
    """Whether what lies in each SLR fits it, relays included."""
    pairs = zip(taken_by_slr(pipeline, board), board.slrs, strict=True)
    return all(share_of_slr(taken, allowed(slr, board)) <= 1 for taken, slr in pairs)


def taken_by_slr(pipeline: Pipeline, board: Board) -> list[Resources]:
    """What a kernel that lies across SLRs takes of each."""
    found = [Resources() for _ in board.slrs]
    for name, taken in layer_resources(pipeline, board).items():
        found[pipeline.slrs[name]] += taken
    return found


def border_bits(pipeline: Pipeline, board: Board) -> list[int]:
    """Bits of the streams that cross each border of neighbouring SLRs."""
    found = [0] * (len(board.slrs) - 1)
    for process in pipeline.processes:
        for stream in process.reads:
            begin, end = pipeline.slrs[pipeline.owners[stream]], pipeline.slrs[pipeline.owners[process.name]]
            words = pipeline.streams[stream].words
            for border in range(min(begin, end), max(begin, end)):
                found[border] += words.lanes * words.type.width
    return found


def _even_runs(taken: Sequence[Resources], limits: Sequence[Resources]) -> list[int] | None:
    """The SLR of each layer, of runs from either end of the chip; the largest share of an SLR is small."""
    numbers = list(range(len(limits)))
    best: tuple[int, list[int]] | None = None
    for order in (numbers, numbers[::-1]):
        low, high = 1, PARTS
        if _runs(taken, limits, order, high) is None:
            continue
        while low < high:
            middle = (low + high) // 2
            if _runs(taken, limits, order, middle) is None:
                low = middle + 1
            else:
                high = middle
        if best is None or low < best[0]:
            best = low, _runs(taken, limits, order, low) or []
    return None if best is None else best[1]


def _runs(
    taken: Sequence[Resources], limits: Sequence[Resources], order: Sequence[int], parts: int
) -> list[int] | None:
    """Runs that fill so many of PARTS of their SLRs: the longest that fits, then the next; None: none do."""
    found: list[int] = []
    for slr in order:
        here = Resources()
        while len(found) < len(taken):
            here += taken[len(found)]
            if share_of_slr(here, limits[slr]) > parts / PARTS:
                break
            found.append(slr)
    return found if len(found) == len(taken) else None


def numbers_of(slrs: Mapping[str, str], board: Board) -> dict[str, int]:
    """The numbers of SLRs that are given by name, by layer."""
    number = {slr.name: index for index, slr in enumerate(board.slrs)}
    return {layer: number[slr] for layer, slr in slrs.items()}
