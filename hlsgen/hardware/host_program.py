"""The memory of a shared processor as its host sees it: where frames lie, and how the program is called."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import NonNegativeInt, PositiveInt

MOST_MEMORY = 1 << 40
"""Bytes of DDR that no card has."""


@dataclass(frozen=True, kw_only=True)
class HostPlace:
    """A tensor of the design in the memory; of an input there may be several, each in the form that a task
    reads.

    Order: [group of `lanes` channels][block of `rows` rows][column][row of the block][lane], of elements of
    element_bytes. channels, height, width: as it lies there. columns: of the tensor, which are channels here;
    channel c * columns + k at column x is the tensor's channel c at column x * stride + k * dilation - left.
    """

    tensor: str
    first_byte: NonNegativeInt
    channels: PositiveInt
    height: PositiveInt
    width: PositiveInt
    rows: PositiveInt
    lanes: PositiveInt
    element_bytes: PositiveInt
    columns: PositiveInt = 1
    dilation: PositiveInt = 1
    stride: PositiveInt = 1
    left: NonNegativeInt = 0

    @property
    def shape(self) -> tuple[int, int, int]:
        return self.channels, self.height, self.width

    @property
    def frame_bytes(self) -> int:
        groups, blocks = -(-self.channels // self.lanes), -(-self.height // self.rows)
        return groups * blocks * self.rows * self.width * self.lanes * self.element_bytes


@dataclass(frozen=True, kw_only=True)
class HostProgram:
    """together: frames of a round. rounds: of a call at most. tasks: of a round."""

    together: PositiveInt
    rounds: PositiveInt
    tasks: PositiveInt
    memory_bytes: PositiveInt
    places: tuple[HostPlace, ...]

    def of(self, tensor: str) -> list[HostPlace]:
        """The places of a tensor."""
        return [place for place in self.places if place.tensor == tensor]

    def holds(self, tensor: str) -> bool:
        """Whether a tensor lies in the processor's memory, not in a buffer of its own."""
        return bool(self.of(tensor))

    def rounds_of(self, frames: int) -> int:
        """Rounds that so many frames take."""
        return -(-frames // self.together)

    def contradiction(self, shapes: dict[str, tuple[int, int, int]], ports: list[str]) -> str | None:
        """What does not fit together; None if all does. shapes: of the design's tensors; ports: inputs
        and outputs.
        """
        if self.memory_bytes > MOST_MEMORY:
            return "no card has so much memory"
        for place in self.places:
            if place.tensor not in shapes:
                return f"a place is that of {place.tensor}, which is not there"
            channels, height, width = shapes[place.tensor]
            if place.channels != channels * place.columns or place.height != height:
                return f"the place of {place.tensor} has another shape"
            if place.columns == 1 and place.width != width:
                return f"the place of {place.tensor} has another width"
            if place.element_bytes not in (1, 2, 4):
                return f"elements of {place.tensor} have neither one byte nor two nor four"
            if place.first_byte + self.together * self.rounds * place.frame_bytes > self.memory_bytes:
                return f"the place of {place.tensor} ends beyond the memory"
        lacking = [name for name in ports if not self.of(name)]
        return f"{lacking[0]} has no place in the memory" if lacking else None
