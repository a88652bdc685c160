"""Rows of published utilisation reports, and which term each of them is a measurement of.

A row counts for a fit if its design was for 200 to 333 MHz, as hlsgen's own are: at 100 and at 400 MHz Vitis
HLS takes other cores. Names of cores: <operation>_<operand>ns_..._<latency>_<variant>_1.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from hlsgen.targets.terms import Kind

PUBLISHED = Path(__file__).with_name("published")
CLOCKS_NS = (3.0, 5.0)
SHIFT_WORDS = 32
"""A FIFO up to this depth is shift registers, above two words."""
SMALL_FIFO_BITS = 4096
"""A deeper FIFO with no more bits is LUTRAM: 128 x 32 has no BRAM in the reports, 160 x 32 has."""
BLOCK_WORDS = 64
"""Words of a LUTRAM primitive."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line of a report: something that Vitis HLS built, and what it says that takes."""

    vitis: str
    device: str
    clock_ns: float
    term: str
    parameters: str
    bram18: int
    dsp: int
    uram: int
    lut: int
    ff: int

    def number(self, name: str) -> int:
        """The parameter `name`, as depth in "depth=16 bits=32"; 0 if there is none."""
        found = re.search(rf"\b{name}=(\d+)", self.parameters)
        return int(found.group(1)) if found else 0

    @property
    def at_our_clocks(self) -> bool:
        return CLOCKS_NS[0] <= self.clock_ns <= CLOCKS_NS[1]

    def cells(self, kind: Kind) -> int:
        return self.lut if kind == "lut" else self.ff


def published_rows() -> list[Row]:
    """The rows of published/vitis-terms.csv."""
    with (PUBLISHED / "vitis-terms.csv").open(encoding="utf-8", newline="") as file:
        return [_row(line) for line in csv.DictReader(file)]


def _row(line: Mapping[str, str]) -> Row:
    numbers = {name: int(line[name]) if line[name].isdecimal() else 0 for name in _COUNTS}
    return Row(
        vitis=line["vitis"],
        device=line["device"],
        clock_ns=float(line["clock_ns"]),
        term=line["term"],
        parameters=line["parameters"],
        **numbers,
    )


_COUNTS = ("bram18", "dsp", "uram", "lut", "ff")

Features = dict[str, float]
Reader = Callable[[Row], Features | None]


@dataclass(frozen=True, kw_only=True)
class Family:
    """The rows of one term: `read` gives a row's features, None if it is of another term."""

    name: str
    read: Reader
    kinds: Mapping[Kind, tuple[str, ...]]
    """What is fitted, by which features."""

    def rows(self, rows: list[Row]) -> Iterator[tuple[Row, Features]]:
        for row in rows:
            features = self.read(row)
            if features is not None:
                yield row, features


def _core(pattern: str) -> Reader:
    """A floating-point core; its latency follows the clock."""

    def read(row: Row) -> Features | None:
        found = row.term == "operator" and re.fullmatch(pattern, row.parameters)
        return {"one": 1} if found else None

    return read


def _lut_product(row: Row) -> Features | None:
    """A multiplier without DSP, in one cycle. square: of its wider operand."""
    found = re.fullmatch(r"mul_(\d+)n?s_(\d+)n?s_\d+_1_1", row.parameters) if row.term == "operator" else None
    if found is None or row.dsp:
        return None
    return {"square": max(int(found.group(1)), int(found.group(2))) ** 2}


def _expression(*operations: str) -> Reader:
    def read(row: Row) -> Features | None:
        found = re.match(r"op=(\S+) ", row.parameters) if row.term == "expression" else None
        if found is None or found.group(1) not in operations:
            return None
        return {"one": 1, "bits": max(row.number("a"), row.number("b"))}

    return read


def _multiplexer(row: Row) -> Features | None:
    """The multiplexer of a state machine, or a core sparsemux_<2 n + 1>_... with n inputs."""
    if row.term == "mux":
        return {"one": 1, "inputs": row.number("inputs")}
    found = re.match(r"sparsemux_(\d+)_", row.parameters) if row.term == "operator" else None
    return {"one": 1, "inputs": (int(found.group(1)) - 1) // 2} if found else None


def fifo_term(depth: int, bits: int) -> str:
    """What a FIFO is built as, and so the term that it is counted by."""
    if depth <= 2:
        return "fifo_registers"
    if depth <= SHIFT_WORDS:
        return "fifo_shift"
    return "fifo_lutram" if depth * bits <= SMALL_FIFO_BITS else "fifo_block"


def address_bits(depth: int) -> int:
    return max(1, (depth - 1).bit_length())


def _fifo(name: str) -> Reader:
    """A FIFO; of one of URAM the LUT column holds the URAMs. No LUT is fitted from FIFOs, which have none."""

    def read(row: Row) -> Features | None:
        depth, bits = row.number("depth"), row.number("bits")
        if row.term != "fifo":
            return None
        term = "fifo_block" if row.lut or row.bram18 else fifo_term(depth, bits)
        return {"one": 1, "bits": bits, "address": address_bits(depth)} if term == name else None

    return read


def _memory(block: bool) -> Reader:
    def read(row: Row) -> Features | None:
        if row.term != "memory" or bool(row.bram18 or row.uram) is not block:
            return None
        words, bits = row.number("words"), row.number("bits")
        return {"one": 1, "bits": bits, "blocks": bits * -(-words // BLOCK_WORDS)}

    return read


FAMILIES = (
    Family(
        name="float_multiplier",
        read=_core(r"fmul_32ns_32ns_32_\d+_max_dsp_1"),
        kinds={"lut": ("one",), "ff": ("one",)},
    ),
    Family(
        name="float_adder_dsp",
        read=_core(r"(?:fadd|fsub|faddfsub)_32ns_32ns_32_\d+_full_dsp_1"),
        kinds={"lut": ("one",), "ff": ("one",)},
    ),
    Family(
        name="float_adder_fabric",
        read=_core(r"fadd_32ns_32ns_32_\d+_no_dsp_1"),
        kinds={"lut": ("one",), "ff": ("one",)},
    ),
    Family(name="lut_product", read=_lut_product, kinds={"lut": ("square",)}),
    Family(name="adder", read=_expression("+", "-"), kinds={"lut": ("one", "bits")}),
    Family(name="compare", read=_expression("icmp"), kinds={"lut": ("one", "bits")}),
    Family(name="select", read=_expression("select"), kinds={"lut": ("bits",)}),
    Family(name="multiplexer", read=_multiplexer, kinds={"lut": ("inputs",)}),
    Family(name="memory_lutram", read=_memory(False), kinds={"lut": ("one", "blocks"), "ff": ("bits",)}),
    Family(name="memory_block", read=_memory(True), kinds={"lut": ("one",), "ff": ("one",)}),
    Family(name="fifo_registers", read=_fifo("fifo_registers"), kinds={"ff": ("bits",)}),
    Family(name="fifo_shift", read=_fifo("fifo_shift"), kinds={"ff": ("one", "address")}),
    Family(name="fifo_lutram", read=_fifo("fifo_lutram"), kinds={"ff": ("bits", "address")}),
    Family(name="fifo_block", read=_fifo("fifo_block"), kinds={"ff": ("one", "bits", "address")}),
)
"""Every term that there are rows of. The other terms of a file are estimates, or follow from structure."""
