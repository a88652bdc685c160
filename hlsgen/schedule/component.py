"""What is compiled for one kernel, and for what: the files, their flags, the part and the clock."""

from __future__ import annotations

import math
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from hlsgen.base.errors import DesignError, Place, Problem
from hlsgen.schedule.delays import Delays
from hlsgen.schedule.directives import Directive, configured_directives
from hlsgen.schedule.speed import is_known

NEWEST_VERSION = "2024.2"
MAX_CONFIG_BYTES = 1 << 20
_ON = ("1", "true", "on")
REORDERS = "syn.compile.unsafe_math_optimizations"
AXI_LATENCY = "syn.interface.m_axi_latency"
AXI_WIDEST = "syn.interface.m_axi_max_widen_bitwidth"
OBEYED = frozenset({REORDERS, AXI_LATENCY, AXI_WIDEST})
SCHEDULES = re.compile(
    r"syn\.(?:interface\.m_axi_|(?:array_partition|compile|dataflow|op|schedule|storage|unroll)(?:\.|$))"
)
"""Families of a configuration's options that may change what is scheduled (`syn.op=op:mul impl:dsp`)."""
_UNITS = {"mhz": lambda value: 1000 / value, "ghz": lambda value: 1 / value, "ns": lambda value: value}
_AMOUNT = re.compile(r"^\s*([0-9.]+(?:e[+-]?\d+)?)\s*([a-z%]*)\s*$", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Target:
    """What the code is scheduled for."""

    part: str
    clock_ns: float
    uncertainty_ns: float | None = None
    """None: the tool's default, 27 % of the clock."""
    version: str = NEWEST_VERSION
    """The release of the vendor's tool."""
    kernel_flow: bool = True
    """Whether it is built as a kernel of a card (v++), where pointers are AXI ports, or as an IP."""
    reorders_sums: bool = False
    """Whether the tool may reorder sums of floating-point numbers (unsafe_math_optimizations)."""
    axi_latency: int | None = None
    """Cycles that the memory behind an AXI port takes of which no pragma says it (m_axi_latency); None: 64 in
    the flow of kernels, 0 in that of IP."""
    axi_widest_bits: int | None = None
    """Up to how many bits neighbouring words of such a port are joined (m_axi_max_widen_bitwidth); None: 512
    in the flow of kernels, none in that of IP."""

    def __post_init__(self) -> None:
        """Raises DesignError: there is no such part, release or clock."""
        problems = []
        if not is_known(self.part):
            message = f"nothing is known of a part {self.part!r}"
            problems.append(Problem(message=message, fix="a device, as xcu200-fsgd2104-2-e or xczu7ev"))
        if not re.fullmatch(r"20\d\d\.\d(\.\d)?", self.version):
            message = f"{self.version!r} is no release of the tool"
            problems.append(Problem(message=message, fix=f"as {NEWEST_VERSION}"))
        kept = self.uncertainty_ns or 0.0
        if not 0 <= kept < self.clock_ns < math.inf:
            message = f"a clock of {self.clock_ns:g} ns, of which {kept:g} ns are kept back"
            problems.append(Problem(message=message, fix="keep less than the clock, as 27%"))
        if problems:
            raise DesignError(problems)

    @property
    def delays(self) -> Delays:
        """The delays of the part."""
        return Delays(
            part=self.part,
            version=self.version,
            clock_ns=self.clock_ns,
            uncertainty_ns=self.uncertainty_ns,
            kernel_flow=self.kernel_flow,
            reorders_sums=self.reorders_sums,
            axi_latency=self.axi_latency,
        )


@dataclass(frozen=True, kw_only=True)
class Component:
    """One kernel to be scheduled."""

    top: str
    """The function that becomes the kernel; empty: every function that nothing calls."""
    files: tuple[Path, ...]
    target: Target
    include_folders: tuple[Path, ...] = ()
    defines: Mapping[str, str] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    directives: tuple[Directive, ...] = ()
    folder: Path | None = None
    """Places in files below it are said from there."""
    ignored: tuple[str, ...] = ()
    """Options of its configuration that may change a schedule and are not obeyed, each with its place."""


PLACES = ("*.cfg", "vitis/*.cfg", "front/vitis/*.cfg")
"""Where the configurations of a build's kernels are."""


def components_of_build(folder: Path) -> list[Component]:
    """The kernels of a build folder, or of any folder with configurations of Vitis HLS. Raises
    DesignError."""
    configs = [path for place in PLACES for path in sorted(folder.glob(place))]
    found = [
        replace(component, folder=folder) for path in configs if (component := read_config(path)) is not None
    ]
    if not found:
        message = f"{folder} holds no configuration of a kernel (a .cfg file with syn.top)"
        raise DesignError(
            Problem(message=message, fix="name a folder that hlsgen build wrote, or the C++ files with --top")
        )
    return found


def read_config(path: Path) -> Component | None:
    """The kernel of a configuration file of Vitis HLS (`syn.top=`, `syn.file=`); None if it is of none.

    Raises DesignError where a value cannot be read.
    """
    text = path.read_bytes()[:MAX_CONFIG_BYTES].decode("utf-8", errors="replace")
    values: dict[str, list[tuple[int, str]]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        key, equals, value = line.partition("=")
        if equals and not key.lstrip().startswith(("#", ";")):
            values.setdefault(key.strip(), []).append((number, value.strip()))
    if "syn.top" not in values or "syn.file" not in values:
        return None
    reader = _Config(path, values)
    includes, defines, flags = split_flags(" ".join(reader.all("syn.cflags")), path.parent)
    return Component(
        top=reader.one("syn.top"),
        files=tuple(Path(os.path.normpath(path.parent / name)) for name in reader.all("syn.file")),
        target=Target(
            part=reader.one("part"),
            clock_ns=reader.nanoseconds("clock", 0.0),
            uncertainty_ns=reader.uncertainty(),
            kernel_flow=reader.one("flow_target", "vivado") == "vitis",
            reorders_sums=reader.one(REORDERS, "0").lower() in _ON,
            axi_latency=reader.count(AXI_LATENCY),
            axi_widest_bits=reader.count(AXI_WIDEST),
        ),
        include_folders=includes,
        defines=defines,
        flags=flags,
        directives=tuple(configured_directives(text, str(path))),
        ignored=tuple(reader.ignored()),
    )


def split_flags(text: str, folder: Path) -> tuple[tuple[Path, ...], dict[str, str], tuple[str, ...]]:
    """The include folders (from `folder`), macros and other flags of a compiler's command line.

    Of other flags only the language's standard is kept: what a file asks of the compiler must not reach
    further.
    """
    includes: list[Path] = []
    defines: dict[str, str] = {}
    flags: list[str] = []
    words = iter(shlex.split(text))
    for word in words:
        for option in ("-I", "-D"):
            if word.startswith(option):
                value = word[2:] or next(words, "")
                if option == "-I":
                    includes.append(Path(os.path.normpath(folder / value)))
                else:
                    name, _, meaning = value.partition("=")
                    defines[name] = meaning or "1"
        if re.fullmatch(r"-std=(c|gnu)\+\+\w+", word):
            flags.append(word)
    return tuple(includes), defines, tuple(flags)


def amount(text: str, clock_ns: float = 0.0) -> float | None:
    """A time in ns from `3.33`, `3.33ns`, `300MHz` or, of the clock, `27%`; None if it is none of these."""
    found = _AMOUNT.match(text)
    if not found:
        return None
    try:
        value = float(found[1])
    except ValueError:
        return None
    unit = found[2].lower()
    if unit == "%":
        return value / 100 * clock_ns
    return _UNITS[unit or "ns"](value) if value > 0 and (unit or "ns") in _UNITS else None


@dataclass(frozen=True)
class _Config:
    path: Path
    values: Mapping[str, Sequence[tuple[int, str]]]

    def all(self, key: str) -> list[str]:
        return [value for _, value in self.values.get(key, ())]

    def one(self, key: str, default: str | None = None) -> str:
        found = self.all(key)
        if found:
            return found[-1]
        if default is not None:
            return default
        raise DesignError(
            Problem(
                message=f"{self.path} has no {key}",
                fix=f"a line {key}=...",
                place=Place(file=str(self.path), line=1, column=1),
            )
        )

    def nanoseconds(self, key: str, clock_ns: float) -> float:
        text = self.one(key)
        value = amount(text, clock_ns)
        if value is None:
            line = self.values[key][-1][0]
            message = f"{key} is {text!r}, which is no time and no frequency"
            raise DesignError(
                Problem(
                    message=message,
                    fix=f"{key}=3.33ns or {key}=300MHz",
                    place=Place(file=str(self.path), line=line, column=1),
                )
            )
        return value

    def count(self, key: str) -> int | None:
        """A whole number; None where it is not said."""
        if key not in self.values:
            return None
        line, text = self.values[key][-1]
        if not re.fullmatch(r"[0-9]{1,6}", text):
            message = f"{key} is {text!r}, which is no whole number"
            place = Place(file=str(self.path), line=line, column=1)
            raise DesignError(Problem(message=message, fix=f"{key}=64", place=place))
        return int(text)

    def ignored(self) -> Iterator[str]:
        """The options that may change a schedule and are not obeyed."""
        for key, found in self.values.items():
            if SCHEDULES.match(key) and key not in OBEYED:
                yield from (f"{self.path}:{line}: {key} is not obeyed" for line, _ in found)

    def uncertainty(self) -> float | None:
        if "clock_uncertainty" not in self.values:
            return None
        return self.nanoseconds("clock_uncertainty", self.nanoseconds("clock", 0.0))
