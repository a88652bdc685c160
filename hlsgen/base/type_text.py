"""Number types as design files write them: "fixed<16,6>", "ufixed<8,0,rnd,sat>", "float32", "half"."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TypeVar

from hlsgen.base.fixed import MAX_TENSOR_WIDTH, FixedType, NumberType, Overflow, Rounding
from hlsgen.base.floating import FLOAT32, HALF

Mode = TypeVar("Mode", bound=StrEnum)

ACCEPTED = (
    'write "fixed<W,I>" or "ufixed<W,I>", if needed with a rounding and an overflow mode as in '
    '"fixed<16,6,rnd,sat>", "float32" or "half"'
)


FLOATING = {"float32": FLOAT32, "half": HALF}
"""The floating-point types by their names."""


def parse_type(text: str) -> NumberType:
    """The type that a design file names, e.g. "fixed<16, 6>". Spaces do not matter.

    Raises ValueError, saying what is wrong and what is accepted.
    """
    match = re.fullmatch(r"\s*(\w+)\s*(?:<([^<>]*)>)?\s*", text, re.ASCII)
    if match is None:
        raise ValueError(f'"{text}" is not a number type; {ACCEPTED}')
    name, inside = match.groups()
    if name in FLOATING:
        if inside is not None:
            raise ValueError(f'"{text}": {name} takes no parameters; {ACCEPTED}')
        return FLOATING[name]
    if name not in ("fixed", "ufixed"):
        raise ValueError(f'"{text}": unknown number type "{name}"; {ACCEPTED}')
    words = [] if inside is None else [word.strip() for word in inside.split(",")]
    if not 2 <= len(words) <= 4:
        raise ValueError(f'"{text}": {name} takes 2 to 4 parameters, not {len(words)}; {ACCEPTED}')
    try:
        return _fixed_from_words(name == "fixed", words)
    except ValueError as error:
        raise ValueError(f'"{text}": {error}') from None


def _fixed_from_words(signed: bool, words: list[str]) -> FixedType:
    width = _bits(words[0], "width")
    if not 1 <= width <= MAX_TENSOR_WIDTH:
        raise ValueError(f"width {width} is outside 1..{MAX_TENSOR_WIDTH}")
    integer = _bits(words[1], "integer bits")
    rounding = _mode(words[2], Rounding, "rounding") if len(words) > 2 else Rounding.TRN
    overflow = _mode(words[3], Overflow, "overflow") if len(words) > 3 else Overflow.WRAP
    return FixedType(width, integer, signed, rounding, overflow)


def _bits(word: str, what: str) -> int:
    if re.fullmatch(r"[+-]?[0-9]{1,6}", word) is None:
        raise ValueError(f'{what} "{word}" is not a whole number of bits')
    return int(word)


def _mode(word: str, modes: type[Mode], what: str) -> Mode:
    try:
        return modes(word)
    except ValueError:
        raise ValueError(f'unknown {what} mode "{word}"; use one of {", ".join(modes)}') from None
