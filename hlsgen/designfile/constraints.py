"""What a design fixes of its hardware; the rest is chosen by hlsgen/search or hlsgen/explore."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Literal, get_args

from hlsgen.base.errors import DesignError, Problem
from hlsgen.designfile.validation import OneOf, Whole
from hlsgen.layers.conv2d import Conv2d
from hlsgen.model.ir import Graph

PortKind = Literal["memory", "stream"]


PORT_KINDS: tuple[PortKind, ...] = get_args(PortKind)


@dataclass(frozen=True, kw_only=True)
class InterfaceConstraints:
    """What the design says of a network's ports: memory (DDR) or stream (AXI), for all of a side.

    Raises DesignError: another word.
    """

    input: PortKind = "memory"
    output: PortKind = "memory"

    def __post_init__(self) -> None:
        for side in ("input", "output"):
            kind = getattr(self, side)
            if kind not in PORT_KINDS:
                message = f"the {side}s' interface is {kind!r}, which there is not"
                raise DesignError(Problem(message=message, fix=f"one of {', '.join(PORT_KINDS)}"))

    @property
    def streams(self) -> bool:
        """Whether any port is an AXI stream."""
        return "stream" in (self.input, self.output)


def interface_constraints(given: object) -> InterfaceConstraints:
    """`interface=` of `hlsgen.from_torch`: memory, stream, or {"input": ..., "output": ...}.

    Raises DesignError: it is none of these.
    """
    if isinstance(given, InterfaceConstraints):
        return given
    if isinstance(given, str):
        return InterfaceConstraints(input=given, output=given)  # type: ignore[arg-type]
    if isinstance(given, Mapping) and given and set(given) <= {"input", "output"}:
        return InterfaceConstraints(**given)
    message = f"interface is {given!r}, which says nothing about ports"
    raise DesignError(Problem(message=message, fix='"memory", "stream", or {"input": "stream"}'))


def interface_problems(constraints: InterfaceConstraints, style: str) -> list[Problem]:
    """What keeps a network of this style from having such ports."""
    if style == "dataflow" or not constraints.streams:
        return []
    message = f"interface: stream is not for style: {style}, whose kernels are called in turn and meet in DDR"
    return [Problem(message=message, fix="style: dataflow, or interface: memory")]


ConstrainedPlace = Literal["auto", "constant", "runtime", "stream"]


ConstrainedStorage = Literal["auto", "register", "lutram", "bram", "uram", "ddr"]


@dataclass(frozen=True, kw_only=True)
class LayerWeightConstraints:
    """What the design fixes about the weights of one layer; auto is left to hlsgen."""

    place: ConstrainedPlace = "auto"
    storage: ConstrainedStorage = "auto"
    batch_reuse: int | None = None
    """The frames that a streamed word of weights is used for; None: as many as make 16 uses of it."""

    @property
    def streams(self) -> bool:
        """Whether the weights are never on chip: storage ddr says so of just those at hand."""
        return self.place == "stream" or (self.place, self.storage) == ("auto", "ddr")


@dataclass(frozen=True, kw_only=True)
class WeightConstraints:
    """Where weights shall lie, for all layers and by layer name; a layer's own place counts more."""

    place: Literal["auto", "constant", "runtime"] = "auto"
    layers: Mapping[str, LayerWeightConstraints] = field(default_factory=dict)

    def of(self, layer: str) -> LayerWeightConstraints:
        """The wish for `layer`, its place that for all unless it has its own."""
        own = self.layers.get(layer, LayerWeightConstraints())
        if own.place != "auto":
            return own
        return replace(own, place=self.place)

    def any_weights(self, graph: Graph) -> frozenset[str]:
        """The layers of `graph` that the design wants to take other weights at run time."""
        return frozenset(
            layer.name
            for layer in graph.layers
            if isinstance(layer, Conv2d) and self.of(layer.name).place not in ("auto", "constant")
        )


PROCESSOR_VALUES: Mapping[str, Whole | OneOf] = {
    "rows": OneOf(tuple(range(1, 14, 2))),
    "lanes": OneOf((4, 8, 16, 32)),
    "extra_lanes": OneOf(tuple(range(0, 33, 2))),
    "fabric_lanes": OneOf(tuple(range(0, 17, 2))),
    "together": Whole(1, 64),
    "pixel_words": Whole(64, 65536),
    "weight_words": Whole(16, 8192),
    "activation_bits": OneOf((8, 16)),
    "weight_bits": OneOf((8, 16)),
}
"""What may be fixed of a shared processor, and to what."""


@dataclass(frozen=True, kw_only=True)
class ProcessorConstraints:
    """What the design fixes of a shared processor, which hlsgen/hardware/processor.py describes; None: free.

    together: frames of a round. pixel_words, weight_words: of a bank, for the pixels of a band of an image
    and for the weights of a group of output channels. Raises DesignError: there is no such processor.
    """

    rows: int | None = None
    lanes: int | None = None
    extra_lanes: int | None = None
    fabric_lanes: int | None = None
    together: int | None = None
    pixel_words: int | None = None
    weight_words: int | None = None
    activation_bits: int | None = None
    weight_bits: int | None = None

    def __post_init__(self) -> None:
        problems = [
            Problem(message=f"{key} of the processor is {getattr(self, key)!r:.80}", fix=f"{values}, or None")
            for key, values in PROCESSOR_VALUES.items()
            if not (getattr(self, key) is None or values.holds(getattr(self, key)))
        ]
        if problems:
            raise DesignError(problems)

    @property
    def given(self) -> dict[str, int]:
        """What is fixed, by key."""
        found = {one.name: getattr(self, one.name) for one in fields(self)}
        return {key: value for key, value in found.items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class NetworkConstraints:
    """What the design fixes: instances, values of foldings by layer (None: free), where weights lie.

    slrs: by layer the SLR that it shall lie in, of all layers of a kernel that needs several, or of none.
    interface: of what kind the ports are. search: how the rest is chosen, by `balance` or `hlsgen.explore`.
    processor: of the style shared.
    """

    instances: int | None = None
    folds: Mapping[str, Mapping[str, object]] | None = None
    target_interval: int | None = None
    weights: WeightConstraints = field(default_factory=WeightConstraints)
    slrs: Mapping[str, str] = field(default_factory=dict)
    interface: InterfaceConstraints = InterfaceConstraints()
    search: Literal["quick", "best"] = "quick"
    processor: ProcessorConstraints = ProcessorConstraints()


class NoFit(Exception):
    """There is no such hardware; the message says what is too much, `fix` what could be changed.

    key: of the design's mapping that asks for it; None: no single one does.
    """

    def __init__(self, message: str, fix: str, key: str | None = None) -> None:
        super().__init__(message)
        self.fix = fix
        self.key = key
