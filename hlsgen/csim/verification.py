"""What a C-simulation has shown, of any style of design."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from hlsgen.base.errors import MismatchError
from hlsgen.base.fixed import Codes, NumberType
from hlsgen.base.short_repr import Brief


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """How two results differ. `first` is (frame, channel, row, column) of the first difference."""

    compared: int
    mismatches: int
    max_abs_error: float
    first: tuple[int, ...] | None = None

    @property
    def verdict(self) -> Literal["equal", "differs"]:
        return "equal" if self.mismatches == 0 else "differs"


def compare(got: Codes, want: Codes, type_: NumberType) -> Comparison:
    """Bit for bit: codes of fixed point, the bits of float32 and half."""
    if got.dtype.kind == "f":
        bits = f"u{got.dtype.itemsize}"
        different = got.view(bits) != want.astype(got.dtype).view(bits)
    else:
        different = got != want.astype(got.dtype)
    mismatches = int(np.count_nonzero(different))
    if not mismatches:
        return Comparison(compared=got.size, mismatches=0, max_abs_error=0.0)
    error = np.abs(type_.decode(got) - type_.decode(want.astype(got.dtype)))
    first = tuple(int(i) for i in np.argwhere(different)[0])
    return Comparison(compared=got.size, mismatches=mismatches, max_abs_error=float(error.max()), first=first)


@dataclass(frozen=True, kw_only=True)
class LayerComparison:
    """How a layer's results differ from golden."""

    name: str
    comparison: Comparison


def compared_layer(name: str, parts: Sequence[Codes], want: Codes, type_: NumberType) -> LayerComparison:
    """The results of a layer, which come in parts, beside golden's. Raises MismatchError: they differ."""
    got = np.concatenate(list(parts))
    comparison = compare(got, want, type_)
    if comparison.mismatches:
        assert comparison.first is not None
        frame, channel, row, column = comparison.first
        raise MismatchError(
            f"error: C-simulation differs from golden first in layer {name}: {comparison.mismatches} of "
            f"{comparison.compared} results; frame {frame}, channel {channel}, row {row}, "
            f"column {column}: code {got[comparison.first]}, golden {want[comparison.first]}"
        )
    return LayerComparison(name=name, comparison=comparison)


@dataclass(frozen=True, kw_only=True)
class Verification(Brief, ABC):
    """What C-simulation showed. The seconds are measured here and say nothing about the FPGA.

    iterations: counted, by loop or process; of a network of tasks by kernel, then by process. layers: of a
    network, whose `comparison` covers all of them. recorded_frames: of a run that records memory ports.
    bounded_frames: of a run with FIFOs of the emitted depths.
    """

    comparison: Comparison
    frames: int
    compile_seconds: float
    run_seconds: float
    iterations: Mapping[str, Any]
    layers: tuple[LayerComparison, ...] = ()
    recorded_frames: int | None = None
    bounded_frames: int | None = None

    @abstractmethod
    def checked(self) -> str:
        """One line on what was checked besides the results."""


@dataclass(frozen=True, kw_only=True)
class NetworkVerification(Verification):
    """What C-simulation showed of a network. subject: what is compared, in words."""

    subject: str

    def checked(self) -> str:
        return (
            f"{len(self.layers)} {self.subject}; every stage reads and writes in the modelled iterations; "
            f"FIFOs of the emitted depths do not deadlock"
        )
