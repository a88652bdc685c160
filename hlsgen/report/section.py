"""A part of report.json: what its fields may hold, and how it is written.

Makers of figures do not check them; whoever reads a report.json, which anybody may have written or damaged,
checks it against these annotations (hlsgen/report/reading.py).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any, ClassVar, Protocol, TypedDict

from pydantic import AfterValidator, Field, Strict

from hlsgen.base.short_repr import Brief
from hlsgen.designfile.validation import Entries, Mistake, Real, Whole, refused

AGAIN = "build the design again with this hlsgen"
MOST_ROWS = 20_000
MOST_CYCLES = 10**15
EMPTY = (None, "", ())


def _check_text(text: str) -> str:
    if len(text) > 4000 or not text.isprintable():
        raise refused(Mistake(message="must be one line of at most 4000 printable characters", fix=AGAIN))
    return text


Count = Annotated[int, Whole(0, MOST_CYCLES)]
Some = Annotated[int, Whole(1, MOST_CYCLES)]
Number = Annotated[float, Real(0, 1e18)]
Positive = Annotated[float, Real(1e-9, 1e18)]
Any_ = Annotated[float, Real(-1e18, 1e18)]
Text = Annotated[str, AfterValidator(_check_text)]
Flag = Annotated[bool, Strict()]
Rows = Entries(0, MOST_ROWS)
Texts = Annotated[tuple[Text, ...], Rows]
Shape = Annotated[tuple[Count, ...], Entries(1, 8)]
Counts = Annotated[Mapping[Text, Count], Field(max_length=MOST_ROWS)]
"""A mapping of counts by name."""
Shares = Annotated[Mapping[Text, Number], Field(max_length=MOST_ROWS)]
"""A mapping of numbers by name."""


@dataclass(frozen=True, kw_only=True)
class Section(Brief):
    """A mapping of report.json: its fields are the keys, in their order.

    A field whose default is empty, and which holds that, has no key, unless `nulls` names it.
    """

    keys: ClassVar[Mapping[str, str]] = {}
    """The keys of fields that Python does not let be called so."""

    @property
    def nulls(self) -> Collection[str]:
        """The fields that have a key though they are empty."""
        return ()

    def as_json(self) -> dict[str, Any]:
        """The section as report.json has it."""
        found = {}
        for field in fields(self):
            value = getattr(self, field.name)
            left_out = field.name not in self.nulls and value in EMPTY and value == field.default
            if not left_out:
                found[self.keys.get(field.name, field.name)] = _plain(value)
        return found


def _plain(value: Any) -> Any:
    """A field's value as JSON has it."""
    if isinstance(value, Section):
        return value.as_json()
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    return value


class Counted(Protocol):
    """What has counts of resources: cost's Resources, an SLR, sections of a report."""

    @property
    def dsp(self) -> int: ...
    @property
    def bram18(self) -> int: ...
    @property
    def uram(self) -> int: ...
    @property
    def lut(self) -> int: ...
    @property
    def ff(self) -> int: ...


class ResourceCounts(TypedDict):
    """The fields of a section that say what something takes."""

    dsp: int
    bram18: int
    uram: int
    lut: int
    ff: int


def resource_counts(counted: Counted) -> ResourceCounts:
    """The counts as fields of a section."""
    return {
        "dsp": counted.dsp,
        "bram18": counted.bram18,
        "uram": counted.uram,
        "lut": counted.lut,
        "ff": counted.ff,
    }


@dataclass(frozen=True, kw_only=True)
class ResourceFigures(Section):
    """Resources that something takes, or that there are."""

    dsp: Count
    bram18: Count
    uram: Count
    lut: Count
    ff: Count
