"""The shallowest FIFOs with which a streaming kernel is as fast as with those that it has."""

from __future__ import annotations

from hlsgen.cost.published_cores import SHIFT_WORDS
from hlsgen.hardware.pipeline import Pipeline, Stream
from hlsgen.timing.relaxation import Relaxation, frames_of_period
from hlsgen.timing.timing import steady_state

MOST_WORDS = 1 << 23
"""The most words of all streams in a period; with more the search takes minutes."""
QUICK_WORDS = 1 << 19
"""The most words with which it takes about a second, which every report spends."""
PATIENCE = 0.5
"""Evaluations of each process, on average, until a change of one FIFO has settled; else it counts as too
shallow. What is deep enough changes nothing but its neighbourhood.
"""
FINEST = 64
"""Depths are found up to this part of themselves: memories come in far larger steps."""


def can_search(pipeline: Pipeline, most_words: int = MOST_WORDS) -> bool:
    """Whether `smallest_depths` answers within seconds; `most_words` says how many."""
    words = sum(stream.words.frame_words for stream in pipeline.streams.values())
    return words * frames_of_period(pipeline) <= most_words


def smallest_depths(pipeline: Pipeline) -> dict[str, int]:
    """A depth of each stream deeper than a shift register that, together with the others, costs no cycle
    of the interval. The streams that take the most memory come first, each is halved as far as that goes.

    Raises DesignError: the kernel stands still as it is.
    """
    state, _ = steady_state(pipeline, {name: stream.depth for name, stream in pipeline.streams.items()})
    deep = [stream for stream in pipeline.streams.values() if stream.depth > SHIFT_WORDS]
    for stream in sorted(deep, key=_bits, reverse=True):
        state = _shallower(state, stream)
    return {stream.name: state.depths[stream.name] for stream in deep}


def _bits(stream: Stream) -> int:
    return stream.depth * stream.words.lanes * stream.words.type.width


def _shallower(relaxation: Relaxation, stream: Stream) -> Relaxation:
    """The times with as shallow a FIFO for `stream` as is found; first of all a shift register is tried."""
    low, high, tried = 0, stream.depth, SHIFT_WORDS
    while True:
        found = relaxation.shallower(stream.name, tried)
        if found.settle(PATIENCE):
            relaxation, high = found, tried
        else:
            low = tried
        if high - low <= max(1, high // FINEST):
            return relaxation
        tried = (low + high) // 2
