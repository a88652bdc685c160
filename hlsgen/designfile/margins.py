"""The key `margin` of designs and boards: what of LUTs and FFs stays free for the model's error."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import PlainValidator, WithJsonSchema

from hlsgen.designfile.validation import must_be, nearest, refused

AUTO: Literal["auto"] = "auto"
"""As much as the design's own error asks for."""
MOST_MARGIN = 0.9

Margin = Literal["auto"] | float


def is_margin(value: object) -> bool:
    """Whether `value` is auto or a share that may stay free."""
    return value == AUTO or (type(value) in (int, float) and 0 <= value <= MOST_MARGIN)  # type: ignore[operator]


def check_margin(value: object) -> Margin:
    """`auto` or a share. Raises what `refused` makes."""
    if is_margin(value):
        return value  # type: ignore[return-value]
    near = nearest(value, [AUTO]) if isinstance(value, str) else ""
    fix = f"{near}write auto, or a share such as 0.2 for 20 %; 0 keeps nothing free"
    raise refused(must_be(f"auto or a number from 0 to {MOST_MARGIN:g}", value, fix))


MarginKey = Annotated[
    Margin,
    PlainValidator(check_margin),
    WithJsonSchema(
        {"anyOf": [{"const": AUTO}, {"type": "number", "minimum": 0, "maximum": MOST_MARGIN}]},
    ),
]
