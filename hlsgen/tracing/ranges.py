"""What values a tensor takes beside what its type can hold, added up over parts of the frames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.fixed import Codes, FixedType, NumberType
from hlsgen.base.short_repr import Brief
from hlsgen.model.origins import Floats

QUANTILES = (0.01, 0.1, 0.5, 0.9, 0.99, 0.999)
"""Of the absolute values."""
SAMPLED = 1 << 14
"""Values of each part that quantiles are taken from, evenly over all."""


@dataclass(frozen=True, kw_only=True)
class TensorRange(Brief):
    """The values of a tensor, or of a layer's weights or biases, and the bits of its type.

    name: of the input or layer; part: input, result, weights or bias. of_floats: the values are those of
    floating point, before the type; else what the type has made of them. quantiles: of the absolute values.
    binades: how many values there are from 2^n up to 2^(n + 1), by n. top, bottom: the n of the type's
    highest bit of a magnitude and of its last one. clipped: share of values beyond the range. lost: share of
    values below the last bit that are not zero and become zero; None: not known of values that have the type.
    spare: highest bits of magnitude that no code uses; spare_below: last bits that are zero in all. channels,
    dead_channels: how many there are, and how many always have one value.
    """

    name: str
    part: str
    type: NumberType
    of_floats: bool
    values: int
    zeros: int
    least: float
    most: float
    mean_abs: float
    quantiles: Mapping[float, float]
    binades: Mapping[int, int]
    clipped: float
    lost: float | None
    spare: int
    spare_below: int
    channels: int
    dead_channels: int

    @property
    def top(self) -> int | None:
        return _top(self.type)

    @property
    def bottom(self) -> int | None:
        return -self.type.fraction if isinstance(self.type, FixedType) else None

    @property
    def dead(self) -> bool:
        """Whether it always has the same values, whatever the frame; of as many values as channels that is no
        wonder.
        """
        return self.values > self.channels and self.dead_channels == self.channels

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "part": self.part,
            "type": str(self.type),
            "of": "floating point" if self.of_floats else "fixed point",
            "values": self.values,
            "zeros": self.zeros,
            "min": self.least,
            "max": self.most,
            "mean_abs": self.mean_abs,
            "quantiles": {f"{share:g}": value for share, value in self.quantiles.items()},
            "binades": {str(power): count for power, count in sorted(self.binades.items())},
            "top": self.top,
            "bottom": self.bottom,
            "clipped": self.clipped,
            "lost": self.lost,
            "spare_bits": self.spare,
            "spare_bits_below": self.spare_below,
            "channels": self.channels,
            "dead_channels": self.dead_channels,
            "dead": self.dead,
        }


def _top(type_: NumberType) -> int | None:
    return type_.integer - 1 - type_.signed if isinstance(type_, FixedType) else None


@dataclass(kw_only=True)
class RangeCount:
    """The range of one tensor while its values come, [N, C, ...] at a time."""

    name: str
    part: str
    type: NumberType
    of_floats: bool
    outside: int = 0
    _values: int = 0
    _zeros: int = 0
    _lost: int = 0
    _sum: float = 0.0
    _least: float = np.inf
    _most: float = -np.inf
    _binades: dict[int, int] = field(default_factory=dict)
    _samples: list[Floats] = field(default_factory=list)
    _used: int = 0
    _bits: int = 0
    _low: NDArray[Any] | None = None
    _high: NDArray[Any] | None = None

    def add(self, values: Floats, codes: Codes) -> None:
        """Some of its values as they are judged, and the codes that the design has in their place."""
        magnitude = np.abs(values).reshape(-1)
        there = magnitude[magnitude > 0]
        self._values += values.size
        self._zeros += values.size - there.size
        self._sum += float(magnitude.sum())
        self._least = min(self._least, float(values.min(initial=np.inf)))
        self._most = max(self._most, float(values.max(initial=-np.inf)))
        powers, counts = np.unique(np.frexp(there)[1] - 1, return_counts=True)
        for power, count in zip(powers.tolist(), counts.tolist(), strict=True):
            self._binades[power] = self._binades.get(power, 0) + count
        self._samples.append(magnitude[:: max(1, magnitude.size // SAMPLED)].copy())
        if isinstance(self.type, FixedType):
            self._count_codes(values, np.asarray(codes), self.type)
        self._count_channels(np.asarray(codes))

    def _count_codes(self, values: Floats, codes: Codes, type_: FixedType) -> None:
        if self.of_floats:
            small = (values != 0) & (np.abs(values) < type_.resolution)
            self._lost += int(np.count_nonzero(small & (codes == 0)))
        if codes.size:
            low, high = int(codes.min()), int(codes.max())
            self._used = max(self._used, high, -low - 1)
            self._bits |= int(np.bitwise_or.reduce(codes.reshape(-1)))

    def _count_channels(self, codes: Codes) -> None:
        flat = codes.swapaxes(0, 1).reshape(codes.shape[1], -1)
        low, high = flat.min(axis=1), flat.max(axis=1)
        self._low = low if self._low is None else np.minimum(self._low, low)
        self._high = high if self._high is None else np.maximum(self._high, high)

    def range(self) -> TensorRange:
        """What has come so far."""
        assert self._low is not None and self._high is not None
        samples = np.concatenate(self._samples)
        spare = below = 0
        if isinstance(self.type, FixedType):
            spare = max(0, self.type.width - self.type.signed - self._used.bit_length())
            below = (self._bits & -self._bits).bit_length() - 1 if self._bits else 0
        count = max(1, self._values)
        return TensorRange(
            name=self.name,
            part=self.part,
            type=self.type,
            of_floats=self.of_floats,
            values=self._values,
            zeros=self._zeros,
            least=self._least,
            most=self._most,
            mean_abs=self._sum / count,
            quantiles={share: float(np.quantile(samples, share)) for share in QUANTILES},
            binades=dict(self._binades),
            clipped=self.outside / count,
            lost=self._lost / count if self.of_floats and isinstance(self.type, FixedType) else None,
            spare=spare,
            spare_below=below,
            channels=len(self._low),
            dead_channels=int(np.count_nonzero(self._low == self._high)),
        )


def parameter_range(
    name: str, part: str, type_: NumberType, codes: Codes, floats: Floats | None
) -> TensorRange:
    """The range of weights [M, ...] or biases [M]. floats: what they were in floating point, if known.

    With one number for each channel all of them count as one channel.
    """
    shaped = np.asarray(codes).reshape(1, len(codes) if codes.size > len(codes) else 1, -1)
    values = type_.decode(shaped) if floats is None else np.asarray(floats, np.float64).reshape(shaped.shape)
    count = RangeCount(name=name, part=part, type=type_, of_floats=floats is not None)
    count.add(values, shaped)
    if floats is not None and isinstance(type_, FixedType):
        half = type_.resolution / 2
        low, high = (code * type_.resolution for code in (type_.lowest_code, type_.max_code))
        count.outside = int(np.count_nonzero((values < low - half) | (values > high + half)))
    return count.range()
