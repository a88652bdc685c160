"""Delay lines: on-chip memories in which a stage's iterations hand values on."""

from __future__ import annotations

from hlsgen.layers.stage import Buffer

MOST_REGISTER_WORDS = 4
"""A RAM gives a word no sooner than a few iterations after it was written: up to this depth registers do."""


def delay_line(name: str, depth: int, bits: int) -> Buffer:
    """An array of `depth` words of `bits` bits that every iteration reads one word of and writes it anew.

    The words take turns, so an iteration reads what the one `depth` iterations before it wrote. A shallow
    array is registers, which for the board's storage is one word of all bits.
    """
    if depth <= MOST_REGISTER_WORDS:
        return Buffer(name=name, depth=1, bits=depth * bits)
    return Buffer(name=name, depth=depth, bits=bits)
