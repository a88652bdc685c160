"""The single values of a design file: their checks, their limits, and their JSON schemas.

A check returns the normalised value, and raises what `refused` makes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, PlainValidator, WithJsonSchema

from hlsgen.base.cpp_names import (
    C_HEADERS,
    C_LIBRARY,
    CPP_KEYWORDS,
    EMITTED_NAMES,
    EMITTED_PREFIXES,
    VENDOR_PREFIXES,
)
from hlsgen.base.fixed import FixedType, NumberType, Overflow, Rounding
from hlsgen.base.type_text import ACCEPTED, parse_type
from hlsgen.designfile.validation import Mistake, Whole, must_be, nearest, refused, shown, unknown_key

MAX_CHANNELS = 16384
Channels = Annotated[int, Whole(1, MAX_CHANNELS)]
MAX_INTEGER_BITS = 64
"""The most integer bits of a type in a design, and as many below zero."""
_SIDE = Whole(1, 65536)
_KERNEL_SIDE = Whole(1, 64)
_PADDING_SIDE = Whole(0, 64)

Pair = tuple[int, int]
Sides = tuple[int, int, int, int]


@dataclass(frozen=True)
class WeightFile:
    """Weights from a .npz or .npy file; `path` is as the design writes it, relative to the design."""

    path: Path


@dataclass(frozen=True)
class WeightSeed:
    """Random weights from a generator with this seed."""

    seed: int


@dataclass(frozen=True)
class SampleFile:
    """Input frames from a .npy file; `path` is as the design writes it, relative to the design."""

    path: Path


def check_identifier(value: object) -> str:
    """`value` if it can name things in C++ and in file names. Raises what `refused` makes."""
    fix = "use up to 63 letters, digits and single underscores, starting with a letter"
    if not isinstance(value, str):
        raise refused(must_be("a name", value, fix))
    if re.fullmatch("[A-Za-z][A-Za-z0-9_]{0,62}", value) is None:
        raise refused(must_be("a C++ identifier of at most 63 characters", value, fix))
    if "__" in value:
        message = f"must not hold two underscores in a row, as {shown(value)} does: C++ keeps such names"
        raise refused(Mistake(message=message, fix=fix))
    if value in CPP_KEYWORDS:
        raise refused(
            Mistake(message=f"must not be the C++ keyword {value}", fix=f"write {value}1 or another name")
        )
    other = f"write {value}1 or another name"
    if value in EMITTED_NAMES:
        raise refused(Mistake(message=f"must not be {value}, which the emitted C++ uses itself", fix=other))
    if value in C_LIBRARY or value in C_HEADERS:
        raise refused(Mistake(message=f"must not be {value}, a name of the C library", fix=other))
    if value.upper() == value:
        message = f"must hold a small letter, unlike {value}: names in capitals are C's macros"
        raise refused(Mistake(message=message, fix=f"write {value.lower()} or another name"))
    if value.startswith(EMITTED_PREFIXES):
        message = f"must not start with {value.partition('_')[0]}_, as functions of the emitted C++ do"
        raise refused(Mistake(message=message, fix=f"write n_{value} or another name"))
    if value.endswith("_t") or value.startswith(VENDOR_PREFIXES):
        message = f"must not end with _t or start with {' or '.join(VENDOR_PREFIXES)}, as {value} does"
        fix = "C's types and the headers of Vitis HLS have such names: write another one"
        raise refused(Mistake(message=message, fix=fix))
    return value


def check_type(value: object) -> NumberType:
    """The number type that `value` names. Raises what `refused` makes."""
    if not isinstance(value, str) or len(value) > 80 or not value.isprintable():
        raise refused(must_be("a number type", value, ACCEPTED))
    try:
        type_ = parse_type(value)
    except ValueError as error:
        reason = str(error).removesuffix(f"; {ACCEPTED}")
        raise refused(Mistake(message=f"must be a number type: {reason}", fix=ACCEPTED)) from None
    if isinstance(type_, FixedType) and abs(type_.integer) > MAX_INTEGER_BITS:
        limits = f"-{MAX_INTEGER_BITS} to {MAX_INTEGER_BITS}"
        message = f"must have {limits} integer bits, not {type_.integer} as {shown(value)}"
        raise refused(Mistake(message=message, fix="scale the numbers, and choose the type for that"))
    return type_


def check_accumulator(value: object) -> Literal["exact", "tight"] | NumberType:
    """`exact`, `tight` or a type. Raises what `refused` makes."""
    if value == "exact" or value == "tight":
        return "exact" if value == "exact" else "tight"
    try:
        return check_type(value)
    except ValueError:
        if isinstance(value, str) and "<" in value:
            raise  # It was meant as a type, and parse_type says what is wrong with it.
        fix = f"{nearest(value, ['exact', 'tight'])}write exact, tight or a type; {ACCEPTED}"
        raise refused(must_be("exact, tight or a number type", value, fix)) from None


def check_shape(value: object) -> tuple[int, int, int]:
    """[channels, height, width] of one input frame. Raises what `refused` makes."""
    fix = "write [channels, height, width], for example [16, 64, 64]"
    if not isinstance(value, list | tuple) or len(value) != 3:
        raise refused(must_be("[channels, height, width]", value, fix))
    channels, height, width = _within((Whole(1, MAX_CHANNELS), _SIDE, _SIDE), value)
    return channels, height, width


def check_pair(side: Whole) -> Callable[[object], Pair]:
    """The check of `n` or `[height, width]`, each within `side`, that returns (height, width)."""

    def check(value: object) -> Pair:
        if isinstance(value, list | tuple) and len(value) == 2:
            return _pair_within(side, value)
        if type(value) is int and side.low <= value <= side.high:
            return value, value
        fix = "write one number, or [height, width]"
        raise refused(must_be(f"{side}, or a list of two", value, fix))

    return check


def check_padding(value: object) -> Literal["same", "valid"] | Sides:
    """ "same", "valid" or (top, left, bottom, right). Raises what `refused` makes."""
    if value == "same" or value == "valid":
        return "same" if value == "same" else "valid"
    sides = _sides_within(_PADDING_SIDE, value)
    if sides is not None:
        return sides
    words = nearest(value, ["same", "valid"]) if isinstance(value, str) else ""
    fix = f"{words}write one number, [height, width], [top, left, bottom, right], same or valid"
    wanted = f"{_PADDING_SIDE}, a list of two or four, same or valid"
    raise refused(must_be(wanted, value, fix))


def check_weights(value: object) -> WeightFile | WeightSeed:
    """A path that ends in .npz or .npy, or {seed: n}. Raises what `refused` makes."""
    fix = "write a path such as conv1.npz, or {seed: 7} for random weights"
    if isinstance(value, str):
        return WeightFile(_path(value, (".npz", ".npy"), fix))
    if not isinstance(value, dict):
        raise refused(must_be("a path or {seed: number}", value, fix))
    mistakes = [unknown_key((key,), ["seed"]) for key in value if key != "seed"]
    if "seed" not in value:
        mistakes.append(Mistake(message="needs a seed", fix=fix))
    if mistakes:
        raise refused(*mistakes)
    return WeightSeed(Whole(0, 2**32 - 1).check(value["seed"], ("seed",)))


def check_samples(value: object) -> Literal["photograph", "random"] | SampleFile:
    """`photograph`, `random` or a path that ends in .npy. Raises what `refused` makes."""
    if value == "photograph" or value == "random":
        return "photograph" if value == "photograph" else "random"
    fix = f"{nearest(value, ['photograph', 'random'])}write photograph, random or a path that ends in .npy"
    if not isinstance(value, str):
        raise refused(must_be("photograph, random or a path", value, fix))
    return SampleFile(_path(value, (".npy",), fix))


def check_board_name(value: object) -> str:
    """Text that `load_board` may look up. Raises what `refused` makes."""
    if not isinstance(value, str) or not value.isprintable():
        raise refused(
            must_be("the name of a board or a path that ends in .yaml", value, "write for example u200")
        )
    return value


def _path(text: str, endings: tuple[str, ...], fix: str) -> Path:
    if not text.isprintable():
        raise refused(must_be("a path without control characters", text, fix))
    if not text.endswith(endings) or text in endings:
        raise refused(must_be(f"a path that ends in {' or '.join(endings)}", text, fix))
    return Path(text)


def _sides_within(side: Whole, value: object) -> Sides | None:
    """(top, left, bottom, right) of n, [height, width] or all four; None: it is none of these."""
    if isinstance(value, list | tuple) and len(value) == 4:
        top, left, bottom, right = _within((side,) * 4, value)
        return top, left, bottom, right
    if isinstance(value, list | tuple) and len(value) == 2:
        height, width = _pair_within(side, value)
        return height, width, height, width
    return (value, value, value, value) if side.holds(value) else None


def _pair_within(side: Whole, values: Sequence[object]) -> Pair:
    height, width = _within((side, side), values)
    return height, width


def _within(limits: tuple[Whole, ...], values: Sequence[object]) -> list[int]:
    """The values, each within its limit. Raises one error that holds every mistake."""
    mistakes = [
        limit.mistake(value, (index,))
        for index, (limit, value) in enumerate(zip(limits, values, strict=True))
        if not limit.holds(value)
    ]
    if mistakes:
        raise refused(*mistakes)
    return [value for limit, value in zip(limits, values, strict=True) if limit.holds(value)]


# ---------------------------------------------------------------- their JSON schemas


def _integers(side: Whole, count: int) -> dict[str, Any]:
    return {"type": "array", "items": _integer(side), "minItems": count, "maxItems": count}


def _integer(side: Whole) -> dict[str, Any]:
    return {"type": "integer", "minimum": side.low, "maximum": side.high}


def pair_of(side: Whole) -> tuple[PlainValidator, WithJsonSchema]:
    """Annotations of `n` or `[height, width]`, each within `side`."""
    return PlainValidator(check_pair(side)), WithJsonSchema({"anyOf": [_integer(side), _integers(side, 2)]})


def integers_of(words: tuple[str, ...], sides: tuple[Whole, ...]) -> tuple[PlainValidator, WithJsonSchema]:
    """Annotations of a list of whole numbers: what each is called, and its limits."""
    wanted = f"[{', '.join(words)}]"

    def check(value: object) -> tuple[int, ...]:
        if not isinstance(value, list | tuple) or len(value) != len(sides):
            raise refused(must_be(wanted, value, f"write {wanted}, whole numbers"))
        return tuple(_within(sides, value))

    items = {"type": "array", "prefixItems": [_integer(side) for side in sides]}
    return PlainValidator(check), WithJsonSchema({**items, "minItems": len(sides), "maxItems": len(sides)})


def shape_of(side: Whole) -> tuple[PlainValidator, WithJsonSchema]:
    """Annotations of [channels, height, width], each within `side`."""
    return integers_of(("channels", "height", "width"), (side,) * 3)


def sides_of(side: Whole) -> tuple[PlainValidator, WithJsonSchema]:
    """Annotations of n, [height, width] or [top, left, bottom, right], each within `side`."""

    def check(value: object) -> Sides:
        sides = _sides_within(side, value)
        if sides is not None:
            return sides
        fix = "write one number, [height, width] or [top, left, bottom, right]"
        raise refused(must_be(f"{side}, or a list of two or four", value, fix))

    forms = [_integer(side), _integers(side, 2), _integers(side, 4)]
    return PlainValidator(check), WithJsonSchema({"anyOf": forms})


_NAME = "^(?=.*[a-z])(?!.*__)(?!.*_t$)[A-Za-z][A-Za-z0-9_]{0,62}$"
NAME_SCHEMA = WithJsonSchema({"type": "string", "pattern": _NAME})
_UP_TO_64 = "0*([1-9]|[1-5][0-9]|6[0-4])"
_WIDTH, _INTEGER = rf"\s*\+?{_UP_TO_64}\s*", rf"\s*[+-]?({_UP_TO_64}|0+)\s*"
_MODES = rf"(,\s*({'|'.join(Rounding)})\s*(,\s*({'|'.join(Overflow)})\s*)?)?"
FIXED_PATTERN = rf"\s*u?fixed\s*<{_WIDTH},{_INTEGER}{_MODES}>\s*"
"""The text of a fixed-point type: what `parse_type` reads."""
_TYPE_SCHEMA: dict[str, Any] = {
    "type": "string",
    "pattern": rf"^({FIXED_PATTERN}|\s*(float32|half)\s*)$",
    "description": ACCEPTED,
}
_SEED_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"seed": _integer(Whole(0, 2**32 - 1))},
    "required": ["seed"],
    "additionalProperties": False,
}

Name = Annotated[str, PlainValidator(check_identifier), NAME_SCHEMA]
BoardName = Annotated[str, PlainValidator(check_board_name), WithJsonSchema({"type": "string"})]
Type = Annotated[NumberType, PlainValidator(check_type), WithJsonSchema(_TYPE_SCHEMA)]
Accumulator = Annotated[
    Literal["exact", "tight"] | NumberType,
    PlainValidator(check_accumulator),
    WithJsonSchema({"anyOf": [{"enum": ["exact", "tight"]}, _TYPE_SCHEMA]}),
]
Shape = Annotated[tuple[int, int, int], PlainValidator(check_shape), WithJsonSchema(_integers(_SIDE, 3))]


def _no_file(value: object) -> object:
    """Whether there is a bias, not where its values lie."""
    if isinstance(value, str) and value.endswith((".npy", ".npz")):
        fix = 'true; its values lie beside the weights, in a .npz file with "weight" and "bias"'
        raise refused(must_be("true or false", value, fix))
    return value


KernelSize = Annotated[Pair, *pair_of(_KERNEL_SIDE)]
Padding = Annotated[
    Literal["same", "valid"] | Sides,
    PlainValidator(check_padding),
    WithJsonSchema(
        {
            "anyOf": [
                _integer(_PADDING_SIDE),
                _integers(_PADDING_SIDE, 2),
                _integers(_PADDING_SIDE, 4),
                {"enum": ["same", "valid"]},
            ]
        }
    ),
]
HasBias = Annotated[bool, BeforeValidator(_no_file, json_schema_input_type=bool)]
Weights = Annotated[
    WeightFile | WeightSeed,
    PlainValidator(check_weights),
    WithJsonSchema({"anyOf": [{"type": "string", "pattern": r"\.np[yz]$"}, _SEED_SCHEMA]}),
]
Samples = Annotated[
    Literal["photograph", "random"] | SampleFile,
    PlainValidator(check_samples),
    WithJsonSchema({"anyOf": [{"enum": ["photograph", "random"]}, {"type": "string", "pattern": r"\.npy$"}]}),
]
