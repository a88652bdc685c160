"""The choice of rows, PE, SIMD, adders and instances: every folding is tried, the fastest that fits wins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product

from hlsgen.base.short_repr import Brief
from hlsgen.cost.conv_instance import AXI_PORTS
from hlsgen.cost.resources import arithmetic_resources
from hlsgen.designfile.constraints import NoFit
from hlsgen.hardware.conv2d import bare_mapping, mappings
from hlsgen.hardware.conv_folding import Algorithm, Folding, Order, folding_faults
from hlsgen.hardware.wave_folds import MOST_ROWS
from hlsgen.layers import winograd
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.stage import divisors
from hlsgen.search.board_limits import KINDS, margin_text, room
from hlsgen.search.cheapest_pair import cheapest_pair
from hlsgen.search.folding_candidates import Candidates, Words, candidates, least_interval
from hlsgen.search.placement import Deployment, deploy
from hlsgen.search.two_foldings import Task, best_pair
from hlsgen.targets.board import Board, Margins

WORTH = 1.02
"""How much faster two foldings must be than one. A second kernel is synthesised as long as the first, and one
that is routed at 294 MHz for 300 has lost 2 % again.
"""
WEIGHTS_ON_CHIP_BITS = 1 << 20
"""The size up to which weights always stay on chip; keeping only a part of them is not considered there.
"""


@dataclass(frozen=True, kw_only=True)
class ConvConstraints:
    """What a design fixes; None is left to the search."""

    rows: int | None = None
    pe: int | None = None
    simd: int | None = None
    fabric_pe: int | None = None
    order: Order | None = None
    algorithm: Algorithm | None = None
    instances: int | None = None
    foldings: int | None = None
    """The most foldings that instances may have, 1 or 2; None: 2 where nothing else is fixed."""
    second: ConvConstraints | None = None
    """What is fixed of a second folding, which there must be then."""

    @property
    def open(self) -> bool:
        """Whether a second folding may be looked for: nothing is fixed."""
        return self.foldings != 1 and replace(self, foldings=None) == ConvConstraints()


@dataclass(frozen=True, kw_only=True)
class ConvHardware(Brief):
    """The chosen deployment, and how many foldings were compared with it."""

    deployment: Deployment
    tried: int

    def __str__(self) -> str:
        return str(self.deployment)


def choose(
    layer: Conv2d, board: Board, constraints: ConvConstraints, *, clock_mhz: float, batch: int
) -> ConvHardware:
    """The deployment that takes `batch` frames through `layer` fastest; of equal ones the smallest.

    Instances of two foldings if the design fixes a second one, or where they are WORTH it.
    Raises NoFit: a fixed value does not fit the layer, or nothing fits the board.
    """
    if constraints.second is not None:
        return _of_two(layer, board, constraints, constraints.second, clock_mhz=clock_mhz, batch=batch)
    found = _of_one(layer, board, constraints, clock_mhz=clock_mhz, batch=batch)
    if not constraints.open:
        return found
    least = WORTH * found.deployment.batch_frames_per_s
    task = Task(board=board, clock_mhz=clock_mhz, batch=batch, least=least)
    all_ = _candidates(layer, board.with_margins(Margins()), ConvConstraints())
    pair = best_pair(all_, all_, task)
    return found if pair is None else replace(found, deployment=pair)


def cheapest_of_two(
    layer: Conv2d, board: Board, *, clock_mhz: float, batch: int, frames_per_s: float, cost: float
) -> Deployment | None:
    """Instances of two foldings with `frames_per_s` in steady state, where they are WORTH it beside `cost`.

    cost: of equal instances with as many frames a second (`share_of`). None: they are not.
    """
    task = Task(board=board, clock_mhz=clock_mhz, batch=batch)
    all_ = _candidates(layer, board.with_margins(Margins()), ConvConstraints())
    return cheapest_pair(all_, task, frames_per_s, cost / WORTH)


@lru_cache(maxsize=4)
def _candidates(
    layer: Conv2d, board: Board, constraints: ConvConstraints, *, any_words: bool = False
) -> Candidates:
    """Of a board without margins, so that searches with several margins have the same."""
    return candidates(layer, board, foldings(layer, constraints), any_words=any_words)


def _of_two(
    layer: Conv2d,
    board: Board,
    first: ConvConstraints,
    second: ConvConstraints,
    *,
    clock_mhz: float,
    batch: int,
) -> ConvHardware:
    """The best deployment of two foldings that the design asks for. Raises NoFit: there is none."""
    counts = (first.instances, second.instances)
    task = Task(board=board, clock_mhz=clock_mhz, batch=batch, counts=counts)
    bare = board.with_margins(Margins())
    pairs = [
        _candidates(layer, bare, replace(one, instances=None, foldings=None, second=None), any_words=True)
        for one in (first, second)
    ]
    found = best_pair(pairs[0], pairs[1], task)
    if found is None:
        raise _no_pair(board, *pairs)
    return ConvHardware(deployment=found, tried=len(pairs[0]) * len(pairs[1]))


def _no_pair(board: Board, first: Candidates, second: Candidates) -> NoFit:
    """Why nothing of two foldings fits."""
    title = f"{board.title}{margin_text(board)}"
    words = [sorted({one.words for one in candidates.all}) for candidates in (first, second)]
    if not all(words):
        message = f"one of the two foldings that the design asks for does not even fit {title} alone"
    elif not set(words[0]) & set(words[1]):
        pair = " and ".join(_words_text(one) for one in words)
        message = f"two foldings must read and write the same words of DDR, but these have {pair}"
    else:
        message = f"the two foldings that the design asks for do not fit {title} beside each other"
    return NoFit(message, "other rows, pe or simd, fewer instances, or leave `second` out", "second")


def _words_text(words: Sequence[Words]) -> str:
    """How rows are padded, in words."""
    return " or ".join(
        f"rows of {read} columns in and {written} out"
        + (f" with sums over {added} channels" if added else "")
        for read, written, added in words
    )


def _of_one(
    layer: Conv2d, board: Board, constraints: ConvConstraints, *, clock_mhz: float, batch: int
) -> ConvHardware:
    """The best deployment of equal instances.

    Those that could be fastest by their multipliers alone are looked at first, so that most need not be.
    Raises NoFit: a fixed value does not fit the layer, or nothing fits the board.
    """
    all_ = list(foldings(layer, constraints))
    at_most = [_at_most(layer, folding, board, constraints, clock_mhz, batch) for folding in all_]
    best: Deployment | None = None
    best_number = 0
    failures: dict[int, NoFit] = {}
    for number in sorted(range(len(all_)), key=lambda one: (-at_most[one], one)):
        if best is not None and _rounded(at_most[number]) < _rounded(best.batch_frames_per_s):
            break
        try:
            found = _deployed(layer, all_[number], board, constraints, clock_mhz, batch)
        except NoFit as failure:
            failures[number] = failure
            continue
        if best is None or (_merit(found), -number) > (_merit(best), -best_number):
            best, best_number = found, number
    if best is None:
        raise failures[min(failures)]
    return ConvHardware(deployment=best, tried=len(all_))


def _deployed(
    layer: Conv2d, folding: Folding, board: Board, constraints: ConvConstraints, clock_mhz: float, batch: int
) -> Deployment:
    """The better deployment of the ways to store what the folding needs. Raises NoFit: none fits."""
    found: list[Deployment] = []
    failures: list[NoFit] = []
    for mapping in mappings(layer, folding, board):
        try:
            found.append(
                deploy(mapping, board, clock_mhz=clock_mhz, batch=batch, instances=constraints.instances)
            )
        except NoFit as failure:
            failures.append(failure)
    if not found:
        raise failures[0]
    return max(found, key=_merit)


def _at_most(
    layer: Conv2d, folding: Folding, board: Board, constraints: ConvConstraints, clock_mhz: float, batch: int
) -> float:
    """Frames a second that no deployment with this folding exceeds: as many instances as its arithmetic
    alone leaves room for, without memories, none of which ever waits.
    """
    bare = bare_mapping(layer, folding, board.multiplier)
    each = arithmetic_resources(bare, board.terms)
    count = constraints.instances or min(room(each, board), board.most_units(AXI_PORTS), batch)
    return count * clock_mhz * 1e6 / least_interval(bare)


def _merit(deployment: Deployment) -> tuple[float, float]:
    """Speed (to a tenth of a percent), then the smallest largest share of the board."""
    return _rounded(deployment.batch_frames_per_s), -_largest_share(deployment)


def _rounded(frames_per_s: float) -> float:
    return round(frames_per_s, 3 - len(str(int(frames_per_s))))


def _largest_share(deployment: Deployment) -> float:
    total = deployment.board.total
    used = deployment.total
    shares: list[float] = [
        getattr(used, kind) / getattr(total, kind) for kind in KINDS if getattr(total, kind)
    ]
    return max(shares)


def foldings(layer: Conv2d, constraints: ConvConstraints) -> Iterator[Folding]:
    """Every folding that keeps to `wish` and fits the layer, the least parallel first.

    Raises NoFit: a wished value does not fit the layer.
    """
    channels, height = layer.in_shape[0], layer.output_shape[1]
    for fault in folding_faults(
        layer,
        rows=constraints.rows,
        pe=constraints.pe,
        simd=constraints.simd,
        fabric_pe=constraints.fabric_pe,
        algorithm=constraints.algorithm,
    ):
        raise fault
    for algorithm in _algorithms(layer, constraints):
        step = winograd.ROWS if algorithm == "winograd" else 1
        for rows, pe, simd, order in product(
            [constraints.rows] if constraints.rows else _row_counts(height, step),
            [constraints.pe] if constraints.pe else divisors(layer.out_channels),
            [constraints.simd] if constraints.simd else divisors(channels),
            [constraints.order] if constraints.order else _orders(layer),
        ):
            fabric = _fabric_counts(pe) if constraints.fabric_pe is None else [constraints.fabric_pe]
            for fabric_pe in fabric:
                given = {"rows": rows, "pe": pe, "simd": simd, "fabric_pe": fabric_pe}
                if not folding_faults(layer, **given, algorithm=algorithm):
                    yield Folding(**given, order=order, algorithm=algorithm)


def _algorithms(layer: Conv2d, constraints: ConvConstraints) -> list[Algorithm]:
    """What is tried: Winograd's algorithm where it is one for the layer and for the rows that are fixed."""
    if constraints.algorithm:
        return [constraints.algorithm]
    fast = not folding_faults(
        layer, rows=constraints.rows, pe=None, simd=None, fabric_pe=None, algorithm="winograd"
    )
    return ["direct", "winograd"] if fast else ["direct"]


def _orders(layer: Conv2d) -> list[Order]:
    large = layer.weights.size * layer.weight_type.width > WEIGHTS_ON_CHIP_BITS
    return ["rows", "channels"] if large else ["rows"]


def _fabric_counts(pe: int) -> range:
    """How many of `pe` channels may be built in fabric: every number, or sixteenths of a large `pe`."""
    return range(0, pe + 1, max(1, pe // 16))


def _row_counts(height: int, step: int = 1) -> list[int]:
    """Row counts up to MOST_ROWS, multiples of `step`: of those with equally many tiles only the smallest."""
    counts = {-(-height // (tiles * step)) * step for tiles in range(1, height + 1)}
    return sorted(rows for rows in counts if rows <= min(height, MOST_ROWS))
