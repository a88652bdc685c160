"""What a network in floating point gives for calibration frames: types are chosen and judged by it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np

from hlsgen.base.fixed import Codes
from hlsgen.model.ir import Graph, run_golden
from hlsgen.model.precision import MOST_SAMPLES, Floats
from hlsgen.model.samples import spread

MOST_FRAMES = 4096
"""Calibration frames that are run."""
MOST_MACS = 1 << 34
"""Fewer, but two, if together they would need more multiply-accumulates."""
KEPT_FRAMES = 128
"""Calibration frames whose tensors are kept: types are judged on them."""
JUDGING_FRAMES = 16
"""Frames, of those that are kept, that judge each of the types that are tried."""
KEPT_MACS = 1 << 32
"""Fewer, but two, if together they would need more multiply-accumulates."""
KEPT_ELEMENTS = 1 << 26
"""Or if their tensors had more elements."""
CHUNK_ELEMENTS = 1 << 22
"""Elements of all tensors of the frames that are run at a time."""


class SomeFrames(Mapping[str, Codes]):
    """Some frames of tensors by name, each taken when it is looked at: no copies of all tensors are held."""

    def __init__(self, tensors: Mapping[str, Codes], positions: Sequence[int]) -> None:
        self.whole = tensors
        every = range(
            positions[0], positions[-1] + 1, positions[1] - positions[0] if len(positions) > 1 else 1
        )
        even = list(every) == list(positions)
        self.some: slice | list[int] = slice(every.start, every.stop, every.step) if even else list(positions)

    def __getitem__(self, name: str) -> Codes:
        return self.whole[name][self.some]

    def __iter__(self) -> Iterator[str]:
        return iter(self.whole)

    def __len__(self) -> int:
        return len(self.whole)


def _some(frames: Sequence[int], count: int) -> list[int]:
    """`count` of these frames, spread."""
    return [int(frames[index]) for index in spread(len(frames), count)]


class FloatRun:
    """`graph`, all float, on calibration frames [N, C, H, W] of each input; each frame is run once.

    given: frames there are; picked: those that may be run, a seeded sample spread over all where the budget
    does not suffice for all; frames, count: those. One of every two, by a fixed seed, is held out: no range
    is chosen from it, so that types can be judged on it. Of a single frame none can be. kept: frames whose
    tensors are kept, in turn one that ranges are chosen from and one held out.
    """

    def __init__(self, graph: Graph, frames: Mapping[str, Floats]) -> None:
        self.graph = graph
        self.given = min(len(array) for array in frames.values())
        self.picked = spread(self.given, max(2, min(MOST_FRAMES, MOST_MACS // max(1, graph.macs))))
        self.frames = {name: array[self.picked] for name, array in frames.items()}
        self.count = len(self.picked)
        elements = sum(int(np.prod(tensor.shape)) for tensor in graph.tensors().values())
        most = min(KEPT_FRAMES, KEPT_MACS // max(1, graph.macs), KEPT_ELEMENTS // elements)
        self._chunk = max(1, CHUNK_ELEMENTS // elements)
        size = min(self.count, max(2, most))
        held = set(2 * np.arange(self.count // 2) + np.random.default_rng(1).integers(0, 2, self.count // 2))
        self.range_frames = [frame for frame in range(self.count) if frame not in held]
        self.kept = [0] * size
        self.kept[0::2] = _some(self.range_frames, size - size // 2)
        self.kept[1::2] = _some(sorted(held), size // 2)
        self._tensors = run_golden(graph, self.inputs(self.kept))

    @property
    def held_out(self) -> list[int]:
        """Positions in `kept` of frames that choose no range."""
        return list(range(1, len(self.kept), 2))

    @property
    def of_ranges(self) -> list[int]:
        """Positions in `kept` of frames that ranges are chosen from as well."""
        return list(range(0, len(self.kept), 2))

    @property
    def judging(self) -> list[int]:
        """Positions in `kept` of frames to judge types on: evenly of those held out, if there are some."""
        some = self.held_out or self.of_ranges
        size = min(len(some), JUDGING_FRAMES)
        return [some[index * len(some) // size] for index in range(size)]

    @property
    def given_range_frames(self) -> frozenset[int]:
        """Their numbers among the frames that were given."""
        return frozenset(self.picked[frame] for frame in self.range_frames)

    def inputs(self, frames: Sequence[int]) -> dict[str, Floats]:
        """These frames of each input."""
        return {name: array[list(frames)] for name, array in self.frames.items()}

    def tensors(self, positions: Sequence[int]) -> Mapping[str, Floats]:
        """Every tensor of the frames at these positions in `kept`, by name."""
        return SomeFrames(self._tensors, positions)

    def _each(self) -> Iterator[Mapping[str, Floats]]:
        """Every tensor [1, C, H, W] of each frame that ranges are chosen from, by name."""
        kept = set(self.kept)
        for position in self.of_ranges:
            yield self.tensors([position])
        others = [frame for frame in self.range_frames if frame not in kept]
        for first in range(0, len(others), self._chunk):
            some = others[first : first + self._chunk]
            found = run_golden(self.graph, self.inputs(some))
            for index in range(len(some)):
                yield {name: array[index : index + 1] for name, array in found.items()}

    @cached_property
    def _of_each(self) -> tuple[dict[str, Floats], dict[str, Floats]]:
        """Some values of every tensor, and its peak in each frame, over the frames that ranges are from."""
        each = max(256, MOST_SAMPLES // len(self.range_frames))
        generator = np.random.default_rng(0)
        parts: dict[str, list[Floats]] = {}
        peaks: dict[str, list[float]] = {}
        for tensors in self._each():
            for name, array in tensors.items():
                flat = array.reshape(-1)
                ends = [float(flat.min()), float(flat.max())]
                peaks.setdefault(name, []).append(max(-ends[0], ends[1]))
                if flat.size > each:
                    # the extremes always belong to it: what clips them must pay for it
                    some = generator.choice(flat.size, each - 2, replace=False)
                    flat = np.concatenate([flat[some], ends])
                parts.setdefault(name, []).append(flat)
        return (
            {name: np.concatenate(arrays) for name, arrays in parts.items()},
            {name: np.array(found) for name, found in peaks.items()},
        )

    @property
    def samples(self) -> dict[str, Floats]:
        """Values of every tensor, at most MOST_SAMPLES, over the frames that ranges are chosen from."""
        return self._of_each[0]

    @property
    def peaks(self) -> dict[str, Floats]:
        """The largest absolute value of a tensor in each frame that ranges are chosen from, by name."""
        return self._of_each[1]

    def ends_known(self, name: str) -> bool:
        """Whether an input's largest values look like the end of its range: half of the frames share one."""
        array = self.frames[name][self.range_frames]
        largest = np.abs(array).reshape(len(array), -1).max(axis=1)
        return len(largest) > 1 and 2 * int(np.count_nonzero(largest == largest.max())) >= len(largest)
