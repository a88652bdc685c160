"""What a design fixes of a streaming kernel, and that it cannot be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from hlsgen.hardware.ports import InterfaceWish
from hlsgen.hardware.weights import WeightWishes


@dataclass(frozen=True, kw_only=True)
class StreamWish:
    """What the design fixes: instances, values of foldings by layer (None: free), where weights lie.

    interface: of what kind the ports are. search: how the rest is chosen, by `balance` or `hlsgen.explore`.
    """

    instances: int | None = None
    folds: Mapping[str, Mapping[str, object]] | None = None
    target_interval: int | None = None
    weights: WeightWishes = field(default_factory=WeightWishes)
    interface: InterfaceWish = InterfaceWish()
    search: Literal["quick", "best"] = "quick"


class NoFit(Exception):
    """Nothing fits; the message says what is too much, `fix` what could be changed."""

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(message)
        self.fix = fix
