"""The hardware of a network of tasks: its kernels run one after the other, so their intervals add up.

All kernels are on the chip at once, so their resources add up too: see task_choice.py. What is scarce in a
round costs more in the next one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np

from hlsgen.base.errors import DesignError
from hlsgen.base.short_repr import Brief
from hlsgen.cost.resources import Resources
from hlsgen.designfile.constraints import NetworkConstraints, NoFit
from hlsgen.hardware.ports import ddr_port, frame_bytes
from hlsgen.hardware.weights import WeightPlace, task_weight_problems, weight_places
from hlsgen.layers.base import Layer
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.stage import StreamFormat
from hlsgen.model.ir import Graph
from hlsgen.search.board_limits import KINDS, allowed, allowed_whole, margin_text
from hlsgen.search.candidates import NEARLY, Candidate, task_foldings
from hlsgen.search.no_folding import nothing_fits
from hlsgen.search.placement import LIMIT_NAMES
from hlsgen.search.task_choice import KernelOptions, Vector, choose, vector
from hlsgen.search.task_kernels import (
    KernelOption,
    KernelPorts,
    TaskKernel,
    ddr_words,
    kernel_names,
    task_kernel,
)
from hlsgen.search.task_placement import packed
from hlsgen.search.tensor_banks import TensorBanks, Traffic, tensor_banks
from hlsgen.targets.board import Board

WORD_BITS = (512, 256, 128, 64)
"""Widest stream words in DDR that are tried, as far as the port is as wide: wide ones are fast, narrow ones
leave room for multipliers.
"""
ROUNDS = 3
"""How often the kinds of resources are weighed anew."""
FILLS = (1.0, 0.95, 0.88, 0.8)
"""Shares of the board that are tried, until the kernels can be placed whole in its SLRs."""
MOST_PARTS = 8
"""Parts in which multipliers are spread over DSPs and logic cells; fewer for each layer of a deep network."""
TRIES = 12
"""Combinations of instances and word width that are worked out in full, the fastest first."""


@dataclass(frozen=True, kw_only=True)
class LayerwiseHardware(Brief):
    """The kernels in the order of the calls, and where their `instances` lie.

    formats: by tensor its words in DDR. slrs: by kernel the SLR of each instance. placed: the DDR banks of
    the tensors. bottleneck: what keeps the whole from being faster.
    """

    kernels: tuple[TaskKernel, ...]
    formats: Mapping[str, StreamFormat]
    word_bits: int
    instances: int
    slrs: tuple[tuple[str, ...], ...]
    placed: TensorBanks
    bottleneck: str
    tried: int

    def __str__(self) -> str:
        count = f"{self.instances} instance{'s' if self.instances > 1 else ''}"
        frame = f"{len(self.kernels)} kernels, {self.interval:,} cycles a frame"
        return f"{count} of {frame}; binds: {self.bottleneck}"

    def ddr_cycles(self, kernel: TaskKernel) -> int:
        """Cycles that DDR takes for a frame of this kernel: the bank that has most to carry ends last."""
        return self.placed.cycles[kernel.layer.name]

    @property
    def ddr_rate(self) -> float:
        """Bytes a cycle that an instance has of DDR, on the average over the kernels while they use it."""
        cycles = sum(map(self.ddr_cycles, self.kernels))
        return sum(kernel.bytes_moved for kernel in self.kernels) / cycles

    def interval_of(self, kernel: TaskKernel) -> int:
        """Cycles a frame of this kernel."""
        return max(kernel.interval, self.ddr_cycles(kernel))

    @cached_property
    def interval(self) -> int:
        """Cycles a frame: every kernel in turn."""
        return sum(self.interval_of(kernel) for kernel in self.kernels)

    @property
    def port_bits(self) -> int:
        """The width of every DDR port but those of weights."""
        return self.kernels[0].pipeline.interfaces.ddr.bits

    @property
    def float_passes(self) -> dict[str, int]:
        """The input channels of a pass of each float32 convolution: the order of its sums follows from it."""
        return {
            one.layer.name: min(one.fold.simd, one.layer.group_channels)
            for one in self.kernels
            if isinstance(one.layer, Conv2d)
        }

    @property
    def weights(self) -> dict[str, WeightPlace]:
        """Where the weights of each layer that has some lie."""
        return {kernel.layer.name: kernel.place for kernel in self.kernels if kernel.place is not None}

    def with_graph(self, graph: Graph) -> LayerwiseHardware:
        """The same kernels for `graph`, which has the same layers and types but other weights."""
        kernels = zip(self.kernels, graph.layers, strict=True)
        return replace(self, kernels=tuple(kernel.with_layer(layer) for kernel, layer in kernels))

    @property
    def each(self) -> Resources:
        """One instance: a set of all kernels."""
        return Resources.sum(kernel.resources for kernel in self.kernels)


def layerwise_hardware(
    graph: Graph, board: Board, constraints: NetworkConstraints, *, name: str, batch: int, clock_mhz: float
) -> LayerwiseHardware:
    """The fastest kernels for `board`.

    Raises NoFit: not even the smallest foldings fit. DesignError: weights cannot lie where they shall.
    """
    search = LayerwiseSearch(graph, board, constraints, name=name, batch=batch, clock_mhz=clock_mhz)
    for attempt in sorted(search.attempts(), key=lambda one: one.order)[:TRIES]:
        for fill in FILLS:
            found = search.worked_out(attempt, fill)
            if found is not None:
                return found
    raise search.no_fit()


@dataclass(frozen=True, kw_only=True)
class _Attempt:
    """What a combination of instances and word width comes to. `order`: cycles of the batch, then cost."""

    instances: int
    word_bits: int
    order: tuple[int, float]


def _hardware_key(layer: Layer, place: WeightPlace | None, constraints: NetworkConstraints) -> object:
    """What the candidates of `layer` follow from: those of layers that are alike are found once."""
    if not isinstance(layer, Conv2d) or place is None:
        return layer.name
    chain = () if layer.is_float else (layer.packed_chain, layer.quad_chains, layer.only_signs)
    own = {field.name: getattr(layer, field.name) for field in fields(layer)}
    for name in ("name", "inputs", "place", "weights", "bias", "weights_origin"):
        del own[name]
    fixed = sorted((constraints.folds or {}).get(layer.name, {}).items())
    return type(layer), chain, layer.bias.size, replace(place, layer=""), tuple(fixed), tuple(own.items())


class LayerwiseSearch:
    """What the kernels of a network could be, and the quick choice of them.

    formats: by the most bits of a word in DDR the words of each tensor; kernels: likewise the options of each
    layer. nearly: as of `undominated`. Raises DesignError: weights cannot lie where they shall. NoFit: a
    layer has no option that fits.
    """

    def __init__(
        self,
        graph: Graph,
        board: Board,
        constraints: NetworkConstraints,
        *,
        name: str,
        batch: int,
        clock_mhz: float,
        nearly: float = NEARLY,
    ) -> None:
        self.nearly = nearly
        self.graph, self.board, self.constraints = graph, board, constraints
        self.name, self.batch, self.clock_mhz = name, batch, clock_mhz
        self.whole = allowed_whole(board)
        self.slrs = np.array([vector(allowed(slr, board)) for slr in board.slrs])
        self.tried = 0
        problems = [problem for _, problem in task_weight_problems(graph, constraints.weights)]
        if problems:
            raise DesignError(problems)
        self.places = weight_places(graph, constraints.weights, board)
        candidates = self._candidates()
        port, tensors = ddr_port(board), graph.tensors()
        self.formats = {
            bits: {tensor: ddr_words(tensors[tensor], bits, port) for tensor in tensors}
            for bits in WORD_BITS
            if bits <= port.bits
        }
        self._placed: dict[tuple[int, int], TensorBanks | None] = {}
        ports = KernelPorts(board)
        self.kernels = {
            bits: [
                tuple(ports.option(layer, one, self.places.get(layer.name), formats) for one in found)
                for layer, found in zip(graph.layers, candidates, strict=True)
            ]
            for bits, formats in self.formats.items()
        }

    def _candidates(self) -> list[list[Candidate]]:
        """The foldings of each layer. Raises NoFit: one has none that fits."""
        convolutions = sum(isinstance(layer, Conv2d) for layer in self.graph.layers)
        parts = max(2, min(MOST_PARTS, 2 * MOST_PARTS // max(1, convolutions)))
        alike: dict[object, list[Candidate]] = {}
        found = []
        for layer in self.graph.layers:
            place = self.places.get(layer.name)
            key = _hardware_key(layer, place, self.constraints)
            if key not in alike:
                alike[key] = task_foldings(
                    layer, self.board, self.constraints, place, parts=parts, nearly=self.nearly
                )
            if not alike[key]:
                raise nothing_fits(layer, self.board, self.constraints)
            found.append(alike[key])
        return found

    def _made(self, bits: int, chosen: Sequence[KernelOption]) -> tuple[TaskKernel, ...]:
        names = kernel_names(self.name, self.graph.layers)
        return tuple(
            task_kernel(
                layer,
                names[layer.name],
                one.fold,
                self.places.get(layer.name),
                self.formats[bits],
                self.board,
            ).with_fifos(self.board)
            for layer, one in zip(self.graph.layers, chosen, strict=True)
        )

    def counts(self) -> list[int]:
        """Numbers of instances that shorten the batch, as far as the platform has so many."""
        fixed = self.constraints.instances
        counts = {fixed} if fixed else {-(-self.batch // share) for share in range(1, self.batch + 1)}
        return sorted(count for count in counts if count <= min(self.board.max_compute_units, self.batch))

    def attempts(self) -> Iterator[_Attempt]:
        """Every number of instances that shortens the batch, with every word width, as far as they fit."""
        for bits in self.formats:
            for count in self.counts():
                chosen = self._chosen(bits, count, 1.0)
                if chosen is None:
                    break
                cycles = self._interval(chosen, bits, count) * -(-self.batch // count)
                cost = float(vector(Resources.sum(one.resources for one in chosen)) @ self._prices) * count
                yield _Attempt(instances=count, word_bits=bits, order=(cycles, cost))

    def worked_out(self, attempt: _Attempt, fill: float) -> LayerwiseHardware | None:
        """The kernels with FIFOs of the right depths, each in an SLR; None if that does not fit."""
        count = attempt.instances
        chosen = self._chosen(attempt.word_bits, count, fill)
        if chosen is None:
            return None
        kernels = self._made(attempt.word_bits, chosen)
        slrs = packed([kernel.resources for kernel in kernels], count, self.board)
        if slrs is None:
            return None
        placed = self.placed(attempt.word_bits, count)
        assert placed is not None, "the instances were limited to those whose ports fit"
        return LayerwiseHardware(
            kernels=kernels,
            formats=self.formats[attempt.word_bits],
            word_bits=attempt.word_bits,
            instances=count,
            slrs=tuple(map(tuple, slrs)),
            placed=placed,
            bottleneck=self.bottleneck(kernels, attempt.word_bits, placed),
            tried=self.tried,
        )

    def no_fit(self) -> NoFit:
        smallest = [
            min((one.resources for one in found), key=lambda one: float(vector(one) @ self._prices))
            for found in self.kernels[min(self.formats)]
        ]
        least = Resources.sum(smallest)
        over = [
            f"{getattr(least, kind):,} {kind.upper()} of {getattr(self.whole, kind):,}"
            for kind in KINDS
            if getattr(least, kind) > getattr(self.whole, kind)
        ]
        title = self.board.title
        if over:
            need = ", ".join(over)
            message = f"with the smallest foldings the kernels need {need} of the usable share of {title}"
            message += margin_text(self.board)
            if self.graph.input.is_float:
                return NoFit(message, "a fixed-point precision, or a larger board")
            return NoFit(message, "style: dataflow, which has no DDR ports between layers; or a larger board")
        if self.constraints.instances:
            kernels = f"{self.constraints.instances} instances of its {len(self.graph.layers)} kernels"
            message = f"{kernels} do not fit {title}"
            return NoFit(message, "fewer instances, or mapping: auto")
        if self.constraints.target_interval:
            asked = f"{self.constraints.target_interval:,} cycles a frame or fewer"
            message = f"no foldings that fit {title} take {asked}"
            return NoFit(message, "a longer interval, or mapping: auto")
        message = f"its {len(self.graph.layers)} kernels do not fit the SLRs of {title}, each in one of them"
        if self.graph.input.is_float:
            return NoFit(message, "a fixed-point precision, or a larger board")
        return NoFit(message, "style: dataflow, narrower types, or a larger board")

    def options(self, bits: int, count: int) -> list[KernelOptions] | None:
        """The kernels of each layer of which the SLRs hold `count`; None if a layer has none, or the banks
        lack ports for them."""
        placed = self.placed(bits, count)
        if placed is None:
            return None
        found = []
        for layer, kernels in zip(self.graph.layers, self.kernels[bits], strict=True):
            every = KernelOptions(kernels=kernels, ddr_cycles=placed.cycles[layer.name])
            with np.errstate(divide="ignore", invalid="ignore"):
                room = np.floor(self.slrs[None, :, :] / every.resources[:, None, :])
            room = np.where(every.resources[:, None, :] > 0, room, np.inf)
            one = every.among(room.min(axis=2).sum(axis=1) >= count)
            if not one.kernels:
                return None
            found.append(one)
        return found

    def _chosen(self, bits: int, count: int, fill: float) -> list[KernelOption] | None:
        """The best kernels of those rounds that fit; None if none does, or not within the wished interval."""
        options = self.options(bits, count)
        if options is None:
            return None
        limit = np.floor(vector(self.whole) * fill / count)
        wished = self.constraints.target_interval
        best: tuple[float, list[KernelOption]] | None = None
        prices = self._prices
        for _ in range(ROUNDS):
            self.tried += 1
            chosen = choose(options, limit, prices, wished)
            if chosen is None:
                break
            kernels = [one.kernels[at] for one, at in zip(options, chosen, strict=True)]
            cycles = self._interval(kernels, bits, count)
            if best is None or cycles < best[0]:
                best = cycles, kernels
            total = vector(Resources.sum(one.resources for one in kernels))
            prices = prices * (0.05 + np.divide(total, limit, out=np.zeros_like(total), where=limit > 0) ** 2)
        if best is None or (wished and best[0] > wished):
            return None
        return best[1]

    @cached_property
    def _prices(self) -> Vector:
        """The cost of a unit of each kind: the share that it is of the board's."""
        whole = vector(self.whole)
        return np.divide(1.0, whole, out=np.ones_like(whole), where=whole > 0)

    def _interval(self, kernels: Sequence[KernelOption], bits: int, count: int) -> int:
        placed = self.placed(bits, count)
        assert placed is not None, "there are kernels to choose from"
        ddr = (placed.cycles[layer.name] for layer in self.graph.layers)
        return sum(max(one.interval, cycles) for one, cycles in zip(kernels, ddr, strict=True))

    def placed(self, bits: int, count: int) -> TensorBanks | None:
        """Where the tensors of `instances` lie; None if the banks lack ports for them."""
        if (bits, count) not in self._placed:
            kernels = [
                Traffic(
                    layer=layer.name,
                    reads=tuple(layer.inputs),
                    writes=layer.name,
                    weights=layer.name in self.places and self.places[layer.name].place == "runtime",
                )
                for layer in self.graph.layers
            ]
            sizes = {tensor: frame_bytes(words) for tensor, words in self.formats[bits].items()}
            self._placed[bits, count] = tensor_banks(kernels, sizes, count, self.board, self.clock_mhz)
        return self._placed[bits, count]

    def bottleneck(self, kernels: Sequence[TaskKernel], word_bits: int, placed: TensorBanks) -> str:
        """The kernel that takes most of the time, and what allows no more speed."""
        ddr = placed.cycles
        cycles = {one.layer.name: max(one.interval, ddr[one.layer.name]) for one in kernels}
        total = sum(cycles.values())
        waiting = sum(cycles[one.layer.name] for one in kernels if ddr[one.layer.name] > one.interval)
        longest = max(cycles, key=lambda name: cycles[name])
        text = f"{longest} takes {cycles[longest] / total:.0%} of the cycles"
        if waiting > total / 2:
            return f"DDR bandwidth, for {waiting / total:.0%} of the cycles; {text}"
        if self.constraints.instances or self.constraints.folds or self.constraints.target_interval:
            return f"{text}; the design fixes a part of the mapping"
        fastest = [
            max(ddr[layer.name], min(one.interval for one in found))
            for layer, found in zip(self.graph.layers, self.kernels[word_bits], strict=True)
        ]
        if total == sum(fastest):
            return f"{text}; every kernel has its fastest folding"
        used, have = vector(Resources.sum(one.resources for one in kernels)), vector(self.whole)
        kind = int(np.argmax(np.divide(used, have, out=np.zeros_like(used), where=have > 0)))
        return f"{text}; {LIMIT_NAMES[KINDS[kind]]} for more"
