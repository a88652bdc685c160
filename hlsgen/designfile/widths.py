"""How users write a width in place of a number type: 8, int8 or {bits: 8}. hlsgen chooses the rest."""

from __future__ import annotations

import re
from collections.abc import Mapping
from numbers import Integral
from typing import Any

from hlsgen.base.fixed import MAX_TENSOR_WIDTH, FixedType
from hlsgen.designfile.validation import Mistake, must_be, refused
from hlsgen.model.precision import Bits

WIDTH_EXAMPLE = "a width such as 8"
WIDTH_SCHEMA: list[dict[str, Any]] = [
    {"type": "integer", "minimum": 1, "maximum": MAX_TENSOR_WIDTH},
    {
        "type": "object",
        "properties": {"bits": {"type": "integer", "minimum": 1, "maximum": MAX_TENSOR_WIDTH}},
        "required": ["bits"],
        "additionalProperties": False,
    },
]
"""What a JSON Schema says of widths beside `WIDTH_PATTERN`."""
WIDTH_PATTERN = "int([1-9]|[1-5][0-9]|6[0-4])"
_WORD = re.compile(r"(u?)int([0-9]{1,6})", re.ASCII)
_LIMITS = f"a width of 1 to {MAX_TENSOR_WIDTH} bits"
_FIX = f"write a whole number from 1 to {MAX_TENSOR_WIDTH} such as 8, or a type such as fixed<16,6>"


def check_width(value: object) -> Bits | None:
    """The width that `value` names; None: it is none. Raises what `refused` makes: a width that cannot be."""
    if isinstance(value, Bits):
        return value
    if is_bits_mapping(value):
        assert isinstance(value, Mapping)
        (bits,) = value.values()
        if not _is_whole(bits):
            raise refused(must_be(_LIMITS, bits, _FIX, ("bits",)))
        return _width(bits, value)
    if _is_whole(value):
        return _width(value, value)
    found = _WORD.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return None
    if found[1]:
        message = f"must not be {value}: whether a tensor has a sign is chosen by its values, as its range is"
        fix = f"int{found[2]}, which is unsigned where nothing is negative; or a type, ufixed<{found[2]},0>"
        raise refused(Mistake(message=message, fix=fix))
    return _width(int(found[2]), value)


def is_bits_mapping(value: object) -> bool:
    """Whether it is {bits: ...} alone, and `bits` no layer of that name with types of its own."""
    if not isinstance(value, Mapping) or set(value) != {"bits"}:
        return False
    (bits,) = value.values()
    return not isinstance(bits, Mapping | FixedType) and "<" not in str(bits)


def looks_like_width(value: object) -> bool:
    """Whether somebody who wrote `value` meant a width, right or wrong."""
    if isinstance(value, str):
        return _WORD.fullmatch(value) is not None
    return isinstance(value, Bits) or _is_whole(value) or is_bits_mapping(value)


def refuse_width(value: object, why: str, fix: str) -> None:
    """Refuses a width where only a type means something. Raises what `refused` makes: it is one."""
    if looks_like_width(value):
        raise refused(Mistake(message=f"cannot be a width: {why}", fix=fix))


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _width(bits: Any, written: object) -> Bits:
    if not 1 <= int(bits) <= MAX_TENSOR_WIDTH:
        raise refused(must_be(_LIMITS, written if isinstance(written, str) else int(bits), _FIX))
    return Bits(int(bits))
