"""How a task is cut for a processor: bands of rows, frames at once, parts of weights."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hlsgen.base.fixed import Codes
from hlsgen.hardware.descriptor import MOST_ROWS
from hlsgen.hardware.processor import MOST_SIZE, Processor
from hlsgen.program.tasks import Task

MOST_STRIDE = 15


class NotTiled(Exception):
    """A task that the processor's memories or limits do not hold; the text says which."""


@dataclass(frozen=True, kw_only=True)
class Tiling:
    """frames: of a band; sequels: bands of frames one after the other; band_out: output blocks of a band.

    read_groups, read_step: channel groups that a pass reads, and from where one reads to where the next does.
    chunks of the weights of a pass: chunk_words, the last one last_words. wide: whether a pass computes the
    extra channels too; else it is one of an output group.
    """

    processor: Processor
    task: Task
    frames: int
    sequels: int
    band_out: int
    read_groups: int
    read_step: int
    wide: bool = False

    @property
    def in_groups(self) -> int:
        return -(-self.task.in_shape[0] // self.processor.lanes)

    @property
    def out_groups(self) -> int:
        return -(-self.task.out_shape[0] // self.processor.lanes)

    @property
    def pass_lanes(self) -> int:
        """Output channels of a pass of the array."""
        return self.processor.outputs if self.wide else self.processor.lanes

    @property
    def passes(self) -> int:
        """How often the array goes through a band, for the output channels."""
        return -(-self.task.out_shape[0] // self.pass_lanes)

    @cached_property
    def ended(self) -> tuple[int, ...]:
        """The output groups that each pass fills; the last one all that are left."""
        lanes = self.processor.lanes
        whole = [each * self.pass_lanes // lanes for each in range(self.passes)]
        return tuple(
            after - before for before, after in zip(whole, [*whole[1:], self.out_groups], strict=True)
        )

    @property
    def in_blocks(self) -> int:
        return -(-self.task.in_shape[1] // self.processor.rows)

    @property
    def out_blocks(self) -> int:
        return -(-self.task.out_shape[1] // self.processor.rows)

    @property
    def stored_blocks(self) -> int:
        """Blocks of the tensor that is stored."""
        return -(-self.task.stored_shape[1] // self.processor.rows)

    @property
    def stored_band(self) -> int:
        """Of these a band's: two blocks of results make one that is pooled, `stride` of them a window's."""
        if self.task.behind is not None:
            return self.stored_blocks if self.bands == 1 else self.band_out // self.task.behind.stride
        return -(-self.band_out // 2) if self.task.pooled else self.band_out

    def stored_of(self, band: int) -> int:
        """Blocks that a band stores."""
        return max(0, min(self.stored_band, self.stored_blocks - band * self.stored_band))

    def window_slots(self, band: int) -> int:
        """Cycles in which the window over its results, if there is one, passes those of an output group."""
        behind = self.task.behind
        if behind is None:
            return 0
        beside = self.passed_blocks - self.out_blocks if band == self.bands - 1 else 0
        across = behind.across(self.task.out_shape[2])
        return self.frames * (self.blocks_of(band) + beside) * across * self.processor.rows

    @property
    def passed_blocks(self) -> int:
        """Blocks of rows that such a window passes."""
        rows = self.task.out_shape[1]
        passed = rows if self.task.behind is None else self.task.behind.down(rows)
        return max(self.out_blocks, -(-passed // self.processor.rows))

    @property
    def bands(self) -> int:
        return -(-self.out_blocks // self.band_out)

    @property
    def band_first(self) -> int:
        """The first input block of the first band."""
        return -self.task.window.top // self.processor.rows

    @property
    def band_phase(self) -> int:
        """Where in it the first row lies."""
        return -self.task.window.top - self.band_first * self.processor.rows

    @property
    def band_step(self) -> int:
        return self.band_out * self.task.window.stride[0]

    @property
    def band_blocks(self) -> int:
        return band_blocks(self.processor, self.task, self.band_out)

    def blocks_of(self, band: int) -> int:
        """Output blocks of a band."""
        return min(self.band_out, self.out_blocks - band * self.band_out)

    def loaded_blocks(self, band: int) -> int:
        """Input blocks of a band that lie in the image."""
        first = self.band_first + band * self.band_step
        return max(0, min(first + self.band_blocks, self.in_blocks) - max(first, 0))

    @property
    def window_words(self) -> int:
        """Cycles of a position: words of pixels that it needs."""
        return self.task.window.taps * self.read_groups

    @property
    def weight_words(self) -> int:
        """Words of weights of a pass."""
        return 0 if self.task.weights is None else self.window_words

    @property
    def behind_beats(self) -> int:
        """Beats of the biases and weights of an output group that a window over the results needs."""
        behind, processor = self.task.behind, self.processor
        if behind is None or behind.weights is None:
            return 0
        return processor.bias_beats + processor.window_weight_beats

    @property
    def weight_beats(self) -> int:
        """Beats of all weights and biases of a band."""
        processor = self.processor
        each_group = processor.bias_beats + self.behind_beats
        return self.out_groups * each_group + self.passes * self.weight_words * processor.weight_beats

    @cached_property
    def chunks(self) -> tuple[int, ...]:
        """Words of weights of each part."""
        if self.weight_words <= self.processor.weight_depth:
            return (self.weight_words,)
        count = -(-self.weight_words // self.processor.weight_depth)
        size = -(-self.weight_words // count)
        return (*[size] * (count - 1), self.weight_words - size * (count - 1))

    def positions(self, band: int) -> int:
        return self.blocks_of(band) * self.task.out_shape[2] * self.frames

    def turns(self, band: int) -> int:
        """Iterations of a tap of a band: its positions, and those that are waited for."""
        return max(self.positions(band), self.processor.interleave)


def most_band(processor: Processor, task: Task) -> int:
    """Output blocks of a band, the most of a frame that a bank holds; 0: not even one."""
    channels, _, columns = task.in_shape
    window, rows = task.window, processor.rows
    blocks = processor.pixel_depth // (-(-channels // processor.lanes) * columns)
    # the rows between the first output row's window and the last one's, of as many input blocks
    between = blocks * rows - (-window.top % rows) - window.reach_rows
    fitting = (between // window.stride[0] + 1) // rows if between >= 0 else 0
    return min(fitting, -(-task.out_shape[1] // rows))


def held(processor: Processor, task: Task) -> tuple[int, int, int]:
    """The blocks of a band, the whole frames and the parts of a pass's weights that banks hold: processors of
    as many rows and lanes whose banks hold the same of a task cut it alike."""
    channels, _, columns = task.in_shape
    most = most_band(processor, task)
    words = -(-channels // processor.lanes) * columns
    room = processor.pixel_depth // (band_blocks(processor, task, most) * words) if most else 0
    read_groups, _ = _reading(processor, task)
    return most, room, -(-task.window.taps * read_groups // processor.weight_depth)


def tiled(processor: Processor, task: Task, together: int) -> Tiling:
    """The task for `together` frames of a round: the largest bands, then the most frames at once.

    Raises NotTiled.
    """
    _check_limits(processor, task)
    read_groups, read_step = _reading(processor, task)
    out_blocks = -(-task.out_shape[1] // processor.rows)
    in_groups = -(-task.in_shape[0] // processor.lanes)
    words = in_groups * task.in_shape[2]
    wide = _is_wide(processor, task, read_step)
    carried = task.out_shape[2] * processor.rows  # words of a block
    most = most_band(processor, task)
    if wide:
        most = min(most, processor.carried_words // carried)
    if not most:
        needed = band_blocks(processor, task, 1) * words
        raise NotTiled(
            f"a band of {task.name} takes {needed} words of a bank, which has {processor.pixel_depth}"
        )
    band_out, frames = most, 1
    if band_out == out_blocks:
        room = processor.pixel_depth // (band_blocks(processor, task, band_out) * words)
        if wide:
            room = min(room, processor.carried_words // (band_out * carried))
        frames = max(
            count for count in range(1, together + 1) if together % count == 0 and count <= max(1, room)
        )
    else:
        # as even as can be: the last band is not a small rest
        band_out = -(-out_blocks // -(-out_blocks // band_out))
        step = 2 if task.pooled else 1 if task.behind is None else task.behind.stride
        if band_out % step:
            # so many blocks of results make one that is stored
            even = band_out + step - band_out % step
            band_out = even if even <= most else band_out - band_out % step
        if not band_out:
            raise NotTiled(f"two blocks of rows of {task.name}, which are pooled, do not fit a bank")

    def cut(at_once: int, blocks: int) -> Tiling:
        return Tiling(
            processor=processor,
            task=task,
            frames=at_once,
            sequels=together // at_once,
            band_out=blocks,
            read_groups=read_groups,
            read_step=read_step,
            wide=wide,
        )

    whole = cut(frames, band_out)
    if len(whole.chunks) == 1:
        return whole
    # the sums of a step stay in registers, or in a memory of a few positions, while its weights come in parts
    at_once = [count for count in range(1, frames + 1) if together % count == 0]
    for count in reversed(at_once):
        if cut(count, band_out).positions(0) <= processor.most_interleaved:
            return cut(count, band_out)
    single = cut(1, 1)
    if single.positions(0) > processor.most_interleaved:
        needed, depth = single.weight_words, processor.weight_depth
        raise NotTiled(f"the weights of {task.name} take {needed} words of a bank, which has {depth}")
    return single


def _is_wide(processor: Processor, task: Task, read_step: int) -> bool:
    """Whether passes of all channels that are computed at once are fewer, and a block's sums have room."""
    channels = task.out_shape[0]
    fewer = -(-channels // processor.outputs) < -(-channels // processor.lanes)
    plain = task.weights is not None and not task.depthwise and not read_step and task.groups == 1
    return fewer and plain and task.out_shape[2] * processor.rows <= processor.carried_words


def band_blocks(processor: Processor, task: Task, band_out: int) -> int:
    """Input blocks that `band_out` output blocks read."""
    window, rows = task.window, processor.rows
    phase = -window.top % rows
    last = phase + (band_out * rows - 1) * window.stride[0] + window.reach_rows - 1
    return last // rows + 1


def _reading(processor: Processor, task: Task) -> tuple[int, int]:
    """Channel groups that an output group reads, and the step from one to the next."""
    lanes = processor.lanes
    in_groups = -(-task.in_shape[0] // lanes)
    if task.depthwise:
        return 1, 1
    members = task.out_shape[0] // task.groups
    if task.groups > 1 and members == lanes and (task.in_shape[0] // task.groups) % lanes == 0:
        each = task.in_shape[0] // task.groups // lanes
        return each, each
    if task.groups > 1 and members == task.in_shape[0] // task.groups and lanes % members == 0:
        return 1, 1
    return in_groups, 0


def _check_limits(processor: Processor, task: Task) -> None:
    stride = task.window.stride[0]
    if math.gcd(stride, processor.rows) > 1 and stride > 1:
        raise NotTiled(
            f"{task.name} has a stride of {stride} rows, a divisor of {processor.rows} rows at once"
        )
    sizes = [*task.in_shape[1:], *task.out_shape[1:], *task.window.kernel]
    sizes += [-(-channels // processor.lanes) for channels in (task.in_shape[0], task.out_shape[0])]
    if max(sizes) > MOST_SIZE:
        raise NotTiled(f"{task.name} has a size of {max(sizes)}, above {MOST_SIZE}")
    steps = [*task.window.stride, *task.window.dilation]
    if max(steps) > MOST_STRIDE:
        raise NotTiled(f"{task.name} has a stride or dilation of {max(steps)}, above {MOST_STRIDE}")
    assert processor.rows <= MOST_ROWS


def weight_matrix(tiling: Tiling) -> Codes:
    """Weights [passes, words, OUTPUTS, LANES inputs]: a word a tap and channel group, in their order, as
    integers of the processor's width.
    """
    task, lanes, each_pass = tiling.task, tiling.processor.lanes, tiling.pass_lanes
    assert task.weights is not None
    outputs, kernel = task.out_shape[0], task.window.kernel
    members, each = outputs // task.groups, task.in_shape[0] // task.groups
    shape = (tiling.passes, kernel[0], kernel[1], tiling.read_groups, tiling.processor.outputs, lanes)
    found = np.zeros(
        shape, f"<{'f' if tiling.processor.floating else 'i'}{tiling.processor.weight_bits // 8}"
    )
    values = np.asarray(task.weights)
    if task.groups == 1:
        for first in range(0, outputs, each_pass):
            block = values[first : first + each_pass].transpose(2, 3, 0, 1)
            for group in range(tiling.read_groups):
                part = block[..., group * lanes : (group + 1) * lanes]
                found[first // each_pass, :, :, group, : part.shape[2], : part.shape[3]] = part
    else:
        output = np.repeat(np.arange(outputs), each)
        source = output // members * each + np.tile(np.arange(each), outputs)
        read = source // lanes - output // each_pass * tiling.read_step
        by_pair = values.reshape(outputs * each, *kernel)
        found[output // each_pass, :, :, read, output % each_pass, source % lanes] = by_pair
    return found.reshape(tiling.passes, tiling.window_words, tiling.processor.outputs, lanes)
