"""Boards: what a design may use of an FPGA and of its memory, read from boards/<name>.yaml."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PrivateAttr, model_validator

from hlsgen.base.data_files import data_folder
from hlsgen.base.errors import DesignError, Place, Problem
from hlsgen.designfile.clock import CLOCKS_MHZ
from hlsgen.designfile.document import Document
from hlsgen.designfile.json_schemas import DRAFT
from hlsgen.designfile.margins import AUTO, Margin, MarginKey
from hlsgen.designfile.validation import Entries, Mistake, Real, Whole, must_be, nearest, refused, shown
from hlsgen.targets.device_family import (
    BOARDS_WITHOUT_A_FILE,
    DSP48E2,
    MODELLED,
    Dsp,
    Family,
    family_of,
)
from hlsgen.targets.terms import CostStyle, Terms, packaged_terms


def _check_text(text: str) -> str:
    if not 1 <= len(text) <= 200 or not text.isprintable():
        raise refused(must_be("a line of 1 to 200 printable characters", text, "write a short text"))
    return text


def _check_name(name: str) -> str:
    if re.fullmatch("[a-z][a-z0-9_]{0,62}", name) is None:
        fix = "use lower-case letters, digits and underscores, starting with a letter"
        raise refused(must_be("a board's name", name, fix))
    return name


Count = Annotated[int, Whole(0, 100_000_000)]
BoardFlow = Literal["alveo", "zynqmp", "zynq"]
Share = Annotated[float, Real(0, 1)]
TEMPLATE = Path(__file__).with_name("board_template.yaml")
MAX_COMPUTE_UNITS = 31
"""Instances of a kernel that Vitis links (UG1700 2024.2, "Design Topology"): the default of a board."""
WHY_REFUSED = "counts and packing would be wrong for this one"
NEEDED = ("lut", "ff", "bram18")
"""Without these there is no kernel; without URAM or DSP there may be."""
Text = Annotated[
    str, AfterValidator(_check_text), Field(json_schema_extra={"minLength": 1, "maxLength": 200})
]


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class SLR(_Section):
    """One region of the FPGA (a super logic region, or the whole "PL") and what is free in it for kernels."""

    name: Text
    lut: Count
    ff: Count
    bram18: Count
    uram: Count
    dsp: Count


class UsableShares(_Section):
    """Share of each resource, 0 to 1, that a design may use; beyond it, routing fails."""

    lut: Share = 0.7
    ff: Share = 0.5
    bram: Share = 0.8
    uram: Share = 0.8
    dsp: Share = 0.8


@dataclass(frozen=True, kw_only=True)
class Margins:
    """Shares of the usable LUTs and FFs, 0 to 1, that stay free because the model may be wrong."""

    lut: float = 0.0
    ff: float = 0.0

    def larger(self, other: Margins) -> Margins:
        """The larger of both, of each kind."""
        return Margins(lut=max(self.lut, other.lut), ff=max(self.ff, other.ff))

    def smaller(self, other: Margins) -> Margins:
        """The smaller of both, of each kind."""
        return Margins(lut=min(self.lut, other.lut), ff=min(self.ff, other.ff))

    def between(self, other: Margins) -> Margins:
        """The middle of both, of each kind."""
        return Margins(lut=(self.lut + other.lut) / 2, ff=(self.ff + other.ff) / 2)

    def distance(self, other: Margins) -> float:
        """By how much they differ in the kind in which they differ most."""
        return max(abs(self.lut - other.lut), abs(self.ff - other.ff))


class MemoryBank(_Section):
    """One bank of the board's memory: peak rate in 10^9 bytes a second, and the SLR of its controller."""

    name: Text
    gb_per_s: Annotated[float, Real(0.001, 100_000)]
    slr: Text


class Memory(_Section):
    """The board's memory as kernels see it."""

    port_bits: Annotated[int, Whole(8, 4096)]
    """Width of one kernel port in bits."""
    max_port_mhz: Annotated[float, Real(1, 2000)] | None = None
    """Clock above which a port gains nothing; None: the kernel's clock counts."""
    ports: Annotated[int, Whole(1, 1024)] | None = None
    """Number of ports into the memory; None: no limit but the kernel's own."""
    masters: Annotated[int, Whole(1, 1024)] | None = None
    """Kernel ports that one bank takes; None: no limit, where the link configuration names no bank."""
    efficiency: Annotated[float, Real(0.01, 1)] = 0.8
    """Share of the peak rate that long bursts reach."""
    size_gb: Annotated[float, Real(0.001, 1_000_000)] | None = None
    """What all banks hold together, in 10^9 bytes; None: it is not known."""
    banks: Annotated[tuple[MemoryBank, ...], Entries(1, 64)]


class Link(_Section):
    """What joins a card's memory to its host's: 10^9 bytes a second into the card, and out of it."""

    to_gb_per_s: Annotated[float, Real(0.0001, 100_000)]
    from_gb_per_s: Annotated[float, Real(0.0001, 100_000)]


class Board(_Section):
    """One board. SLR and bank names are unique, and each bank's SLR exists."""

    name: Annotated[str, AfterValidator(_check_name)] = Field(examples=["u200"])
    title: Text
    family: Text = "UltraScale+"
    part: Text
    dsp: Literal["DSP48E2", "DSP48E1"] | None = None
    """The DSP of a part whose name tells no family; None: as the part's name says."""
    platform: Text
    flow: BoardFlow
    """A card on PCIe; or Arm cores on the same chip: zynqmp of 64 bits (UltraScale+), zynq of 32 (7000)."""
    vitis_max: Text | None = None
    """Newest Vitis release that supports the platform; None: no limit is known."""
    ait_board: Text | None = None
    """The board's name in AIT, which ompss/ needs for a bitstream; None: AIT has no such board."""
    clock_mhz: Annotated[float, Real(*CLOCKS_MHZ)]
    """Clock of a design that names none."""
    max_compute_units: Annotated[int, Whole(1, 1024)] = MAX_COMPUTE_UNITS
    usable: UsableShares = UsableShares()
    margin: MarginKey = AUTO
    """Share of the usable LUTs and FFs that stays free for the model's error; auto: as the design's asks."""
    slrs: Annotated[tuple[SLR, ...], Entries(1, 16)]
    memory: Memory
    link: Link | None = None
    """To the host; None: its processor works in the same memory."""

    _terms: Terms | None = PrivateAttr(default=None)
    _margins: Margins | None = PrivateAttr(default=None)
    _taken: Mapping[str, Mapping[str, int]] = PrivateAttr(default_factory=dict)

    def __repr__(self) -> str:
        return f"Board({self.name}: {self.title}, {self.part}, {self.clock_mhz:g} MHz)"

    @property
    def terms(self) -> Terms:
        """What emitted hardware takes on this board, by its kind of DSP: hlsgen's own unless `with_terms`."""
        return packaged_terms(self.multiplier) if self._terms is None else self._terms

    def most_units(self, ports: int) -> int:
        """Compute units that the platform links at most of a kernel with so many ports into memory."""
        most = self.memory.masters
        if most is None or not ports:
            return self.max_compute_units
        return min(self.max_compute_units, len(self.memory.banks) * most // ports)

    @property
    def multiplier(self) -> Dsp:
        """The kind of DSP that the board has."""
        family = family_of(self.part)
        named = next((one for one in MODELLED if one.name == self.dsp), DSP48E2)
        return named if family is None else family.dsp

    def with_terms(self, terms: Terms) -> Board:
        """The same board with other terms of LUTs and FFs, such as calibrated ones."""
        other = self.model_copy()
        other._terms = terms.for_dsp(self.multiplier)
        return other

    def for_style(self, style: CostStyle) -> Board:
        """The same board with its terms for designs of this style."""
        return self if self.terms.style == style else self.with_terms(self.terms.for_style(style))

    @property
    def margins(self) -> Margins:
        """What searches leave free; nothing as long as it is left to the design."""
        if self._margins is not None:
            return self._margins
        return Margins() if self.margin == AUTO else Margins(lut=self.margin, ff=self.margin)

    @property
    def taken(self) -> Mapping[str, Mapping[str, int]]:
        """By SLR and kind of resource what other kernels of the same design take, beside which searches
        stay.
        """
        return self._taken

    def beside(self, taken: Mapping[str, Mapping[str, int]]) -> Board:
        """The same board with other kernels on it, which leave a search that much less of each SLR."""
        other = self.model_copy()
        other._taken = taken
        return other

    @property
    def margin_open(self) -> bool:
        """Whether the margins are left to the design, and not found yet."""
        return self.margin == AUTO and self._margins is None

    def with_margin(self, margin: Margin) -> Board:
        """The same board with another key `margin`."""
        other = self.model_copy(update={"margin": margin})
        other._margins = None
        return other

    def with_margins(self, margins: Margins) -> Board:
        """The same board with margins that a design's error asks for."""
        other = self.model_copy()
        other._margins = margins
        return other

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy whose `total` is that of its own SLRs."""
        found = super().model_copy(update=update, deep=deep)
        found.__dict__.pop("total", None)
        return found

    @cached_property
    def total(self) -> SLR:
        """What is free for kernels in all SLRs together, before the usable shares."""
        kinds = ("lut", "ff", "bram18", "uram", "dsp")
        sums = {kind: sum(getattr(slr, kind) for slr in self.slrs) for kind in kinds}
        # not validated: together they may have more than one may say that it has
        return SLR.model_construct(name=self.name, **sums)

    @model_validator(mode="after")
    def check_names(self) -> Self:
        mistakes = _repeated("slrs", [slr.name for slr in self.slrs])
        mistakes += [
            Mistake(at=("memory", *mistake.at), message=mistake.message, fix=mistake.fix)
            for mistake in _repeated("banks", [bank.name for bank in self.memory.banks])
        ]
        known = [slr.name for slr in self.slrs]
        mistakes += [
            Mistake(
                at=("memory", "banks", index, "slr"),
                message=f"must be one of the board's SLRs, not {shown(bank.slr)}",
                fix=f"{nearest(bank.slr, known)}the SLRs are {', '.join(known)}",
            )
            for index, bank in enumerate(self.memory.banks)
            if bank.slr not in known
        ]
        mistakes += [
            Mistake(
                at=("slrs",),
                message=f"have no {kind}, which every kernel needs",
                fix=f"what is free of {kind}",
            )
            for kind in NEEDED
            if not any(getattr(slr, kind) for slr in self.slrs)
        ]
        mistakes += _family_mistakes(self.part, self.dsp, sum(slr.uram for slr in self.slrs))
        if mistakes:
            raise refused(*mistakes)
        return self


def _family_mistakes(part: str, dsp: str | None, uram: int) -> list[Mistake]:
    """The rules that the part's DSP is the one that is modelled, and that its family has the board's URAM."""
    family = family_of(part)
    if family is None and dsp is None:
        message = f"is {shown(part)}, whose family is not known, and so neither is its DSP"
        fix = f"an UltraScale+ part, or `dsp: {DSP48E2}` beside it if it has those"
        return [Mistake(at=("part",), message=message, fix=fix)]
    if family is None:
        return []
    if family.dsp not in MODELLED:
        fix = f"a board with an UltraScale+, UltraScale or 7 series part; {WHY_REFUSED}"
        return [Mistake(at=("part",), message=f"is {_dsp_text(part, family)}", fix=fix)]
    if dsp is not None and dsp != family.dsp.name:
        message = f"is {dsp}, but {shown(part)} is a {family.name} part, which has {family.dsp}"
        return [Mistake(at=("dsp",), message=message, fix="leave it out, or the part's right name")]
    if uram and not family.has_uram:
        message = f"is {shown(part)}, a {family.name} part, which has no URAM, but the SLRs have {uram}"
        return [Mistake(at=("part",), message=message, fix="uram: 0 in all SLRs, or the part's right name")]
    return []


def _dsp_text(part: str, family: Family) -> str:
    """What is said of a part whose DSP is not modelled."""
    return (
        f"{shown(part)}, a {family.name} part: its {family.dsp} multiplies {family.dsp.multiplier} bits, "
        f"and only {' and '.join(f'{one} ({one.multiplier})' for one in MODELLED)} are modelled"
    )


def _repeated(key: str, names: list[str]) -> list[Mistake]:
    return [
        Mistake(
            at=(key, index, "name"), message=f"is {shown(name)} a second time", fix="give each its own name"
        )
        for index, name in enumerate(names)
        if name in names[:index]
    ]


def load_board(name: str | Path, *, folder: Path | None = None, place: Place | None = None) -> Board:
    """The board `name` of the boards folder, or of the file if `name` ends in .yaml (relative to `folder`).

    `place` is where a design names the board; an unknown board is reported there.
    Raises DesignError: no such board; the board's file is wrong.
    """
    text = str(name)
    if text.endswith(".yaml"):
        return _read(Path(text) if folder is None else folder / text, place)
    # The name comes from a design that anybody may have written: it must not leave the boards folder.
    known = board_names()
    if re.fullmatch("[a-z][a-z0-9_]*", text) and text in known:
        return _read(data_folder("boards") / f"{text}.yaml")
    raise DesignError(replace(_unknown_board(text, known, folder), place=place))


def _unknown_board(name: str, known: list[str], folder: Path | None) -> Problem:
    """What is said of a name that is no board's: why, of boards that are no target; or what was meant."""
    the_boards = f"the boards are {', '.join(known)}"
    part = BOARDS_WITHOUT_A_FILE.get(name.lower().replace("-", "_"))
    family = family_of(part) if part else None
    if part and family and family.dsp in MODELLED:
        return Problem(
            message=f"there is no file of {shown(name)}, whose part is {shown(part)}",
            fix=f"write one: hlsgen boards --template > {name.lower()}.yaml; {the_boards}",
        )
    if part and family:
        return Problem(
            message=f"{shown(name)} cannot be a target: its part is {_dsp_text(part, family)}",
            fix=f"a board with an UltraScale+ part, since {WHY_REFUSED}; {the_boards}",
        )
    own = f"{name}.yaml"
    # Only a plain word is looked for: the name comes from a design that anybody may have written.
    if re.fullmatch("[A-Za-z0-9_-]{1,63}", name) and ((folder or Path()) / own).is_file():
        meant = f"did you mean ./{own}? "
    else:
        begun = [one for one in known if len(name) > 1 and one.startswith(name)]
        meant = f"did you mean '{begun[0]}'? " if begun else nearest(name, known)
    return Problem(
        message=f"no board is called {shown(name)}",
        fix=f"{meant}{the_boards}; your own file must end in .yaml (hlsgen boards --template)",
    )


def board_template() -> str:
    """A board file to fill in, every key explained: itself a valid board file. Its figures are no board's."""
    return TEMPLATE.read_text(encoding="utf-8")


def board_json_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a board file, for editors."""
    return {"$schema": DRAFT, **Board.model_json_schema(), "title": "hlsgen board"}


def list_boards() -> list[Board]:
    """Every board of the boards folder, by name. Raises DesignError: a board's file is wrong."""
    return [_read(data_folder("boards") / f"{name}.yaml") for name in board_names()]


def board_names() -> list[str]:
    """What `--board` takes besides files, sorted."""
    return sorted(path.stem for path in data_folder("boards").glob("*.yaml"))


def _read(path: Path, place: Place | None = None) -> Board:
    """The board in the file. A file that cannot be read at all is a mistake at `place`."""
    try:
        return Document.read(path).validate(Board)
    except DesignError as error:
        raise DesignError(replace(one, place=one.place or place) for one in error.problems) from None
