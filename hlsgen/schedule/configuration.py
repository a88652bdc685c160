"""What a configuration of Vitis HLS says of one kernel: its files, flags, target and options.

A script of the tool says the same with commands (tcl_script.py), and becomes such a configuration.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hlsgen.base.errors import DesignError, Place, Problem
from hlsgen.schedule.component import Component, Target
from hlsgen.schedule.directives import Directive, configured_directives
from hlsgen.schedule.languages import HEADERS, is_code
from hlsgen.schedule.moved_files import MovedFiles
from hlsgen.schedule.platforms import platform_named

MAX_CONFIG_BYTES = 1 << 20
PLACES = ("*.cfg", "vitis/*.cfg", "front/vitis/*.cfg")
"""Where the configurations of a build's kernels are."""
TOP, FILE, PART, CLOCK = "syn.top", "syn.file", "part", "clock"
UNCERTAINTY, FLOW = "clock_uncertainty", "flow_target"
FREQUENCY, PLATFORM = "freqhz", "platform"
DEFAULT_CLOCK_NS = 10.0
"""The clock of a part where none is said (UG1399, HLS General Options)."""
FLAGS, FILE_FLAGS = "syn.cflags", "syn.file_cflags"
REORDERS = "syn.compile.unsafe_math_optimizations"
PIPELINES = "syn.compile.pipeline_loops"
AXI_LATENCY = "syn.interface.m_axi_latency"
AXI_WIDEST = "syn.interface.m_axi_max_widen_bitwidth"
OBEYED = frozenset({REORDERS, PIPELINES, AXI_LATENCY, AXI_WIDEST})
SCHEDULES = re.compile(
    r"syn\.(?:interface\.m_axi_|(?:array_partition|compile|dataflow|op|schedule|storage|unroll)(?:\.|$))"
)
"""Families of options that may change what is scheduled (`syn.op=op:mul impl:dsp`)."""
NAMES_ONLY = re.compile(r"syn\.compile\.name_max_length")
"""Of these families, what changes names alone."""
SHOWN_UNREAD = 3
"""Of what is said and not read, where something lacks."""
FEWEST_PIPELINED = 64
"""Iterations beyond which a loop is a pipeline of its own to the tool: pipeline_loops' default."""
_ON = ("1", "true", "on", "")
_UNITS = {
    "hz": lambda value: 1e9 / value,
    "mhz": lambda value: 1000 / value,
    "ghz": lambda value: 1 / value,
    "ns": lambda value: value,
}
_AMOUNT = re.compile(r"^\s*([0-9.]+(?:e[+-]?\d+)?)\s*([a-z%]*)\s*$", re.IGNORECASE)
_FREQUENCY = re.compile(r"^\s*([0-9.]+)\s*([mg]?hz)?\s*$", re.IGNORECASE)
_BACKSLASH = re.compile(r"""('[^']*'|"(?:[^"\\]|\\.)*"|\\[^\w.])|\\(?=[\w.])""")
"""Of a path as Windows has it; one before a quote or a space is the shell's, and within quotes is no sign."""
_KEY = re.compile(r"^\s*([A-Za-z_][\w.]*)\s*=\s*(.*?)\s*$")


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """What is said of one kernel.

    values: by key, each with its line. folder: what names of files are relative to. unread: what else is
    said, and not obeyed.
    """

    path: Path
    values: Mapping[str, Sequence[tuple[int, str]]]
    folder: Path
    directives: tuple[Directive, ...] = ()
    unread: tuple[str, ...] = ()
    solution: str = ""
    """What a script calls it, if one says it."""

    @property
    def is_of_kernel(self) -> bool:
        """Whether it says what is compiled."""
        return TOP in self.values and FILE in self.values

    def changed(self, given: Mapping[str, str]) -> Configuration:
        """The same with other values of keys, as somebody asked for them."""
        values = {**self.values, **{key: [(1, value)] for key, value in given.items()}}
        return replace(self, values=values)

    def flags_of_files(self) -> Iterator[tuple[str, str]]:
        """`syn.file_cflags=name,flags`: the flags of all files are those of each."""
        for said in self.all(FILE_FLAGS):
            name, comma, flags = said.partition(",")
            if comma:
                yield name.strip(), flags

    def lines_of_flags(self) -> list[str]:
        """The compiler's flags, each as it is written."""
        return [*self.all(FLAGS), *(flags for _, flags in self.flags_of_files())]

    def component(self) -> Component:
        """The kernel. Raises DesignError: it is of none, or a value cannot be read."""
        named = [*self.all(FILE), *(name for name, _ in self.flags_of_files())]
        files = [name for name in named if is_code(name)]  # `syn.file=fir.h` lists what the editor shows
        if not named:
            raise self._lacks(FILE)
        if not files:
            raise self._wrong(FILE, "no C and no C++ by its name", f"{FILE}=kernel.cpp")
        text = " ".join(self.lines_of_flags())
        moved = MovedFiles(self.folder)
        includes, defines, flags = split_flags(text, moved.include_folder)
        return Component(
            top=self.one(TOP),
            files=tuple(dict.fromkeys(map(moved.file, files))),
            target=self.obeyed(
                Target(
                    part=self._part(),
                    clock_ns=self._clock_ns(),
                    uncertainty_ns=self._uncertainty(),
                    kernel_flow=self.one(FLOW, "vivado") == "vitis",
                )
            ),
            include_folders=includes,
            defines=defines,
            flags=flags,
            directives=self.directives,
            solution=self.solution,
            ignored=(*self._ignored(), *self._not_compiled(named), *self.unread),
            moved=tuple(f"{self.path}: {one}" for one in dict.fromkeys(moved.told)),
        )

    def obeyed(self, target: Target) -> Target:
        """A target with the options that are obeyed. Raises DesignError: a value cannot be read."""
        return replace(
            target,
            reorders_sums=self.one(REORDERS, "0").lower() in _ON,
            axi_latency=self._count(AXI_LATENCY),
            axi_widest_bits=self._count(AXI_WIDEST),
            pipelines_unasked=self._count(PIPELINES) != 0,
        )

    def all(self, key: str) -> list[str]:
        """What a key is given, in the order of lines."""
        return [value for _, value in self.values.get(key, ())]

    def one(self, key: str, default: str | None = None) -> str:
        """What a key is given at last. Raises DesignError: nothing, and there is no default."""
        found = self.all(key)
        if found:
            return found[-1]
        if default is not None:
            return default
        raise self._lacks(key)

    def _lacks(self, key: str) -> DesignError:
        fix = _WRITTEN.get(key, f"a line {key}=...") if self.path.suffix == ".tcl" else f"a line {key}=..."
        option = _OPTIONS.get(key)
        why = "".join(f"; {one}" for one in self.unread[:SHOWN_UNREAD])
        return DesignError(
            Problem(
                message=f"{self.path} has no {key}{why}",
                fix=f"{fix}, or {option}" if option else fix,
                place=Place(file=str(self.path), line=1, column=1),
            )
        )

    def _wrong(self, key: str, what: str, fix: str) -> DesignError:
        line, text = self.values[key][-1]
        place = Place(file=str(self.path), line=line, column=1)
        return DesignError(Problem(message=f"{key} is {text!r}, which is {what}", fix=fix, place=place))

    def _nanoseconds(self, key: str, clock_ns: float) -> float:
        value = amount(self.one(key), clock_ns)
        if value is None:
            raise self._wrong(key, "no time and no frequency", f"{key}=3.33ns or {key}=300MHz")
        return value

    def _count(self, key: str) -> int | None:
        """A whole number; None where it is not said."""
        if key not in self.values:
            return None
        text = self.one(key)
        if not re.fullmatch(r"[0-9]{1,9}", text):
            raise self._wrong(key, "no whole number", f"{key}=64")
        return int(text)

    def _uncertainty(self) -> float | None:
        if UNCERTAINTY not in self.values:
            return None
        if is_nothing(self.one(UNCERTAINTY)):
            return 0.0
        return self._nanoseconds(UNCERTAINTY, self._clock_ns())

    def _part(self) -> str:
        platform = None if PART in self.values else platform_named(self.one(PLATFORM, ""))
        return self.one(PART) if platform is None else platform.part

    def _clock_ns(self) -> float:
        """The clock, or that of the platform, which `freqhz` may change, or the tool's default, if nothing
        that is not read may say another."""
        if CLOCK in self.values:
            return self._nanoseconds(CLOCK, 0.0)
        if FREQUENCY in self.values:
            return self._period_ns()
        if PLATFORM not in self.values and not self.unread:
            return DEFAULT_CLOCK_NS
        platform = platform_named(self.one(PLATFORM, ""))
        if platform is None or platform.clock_mhz is None:
            raise self._lacks(CLOCK)
        return 1000 / platform.clock_mhz

    def _period_ns(self) -> float:
        found = _FREQUENCY.match(self.one(FREQUENCY))
        value = amount(f"{found[1]}{found[2] or 'hz'}") if found else None
        if value is None:
            raise self._wrong(FREQUENCY, "no frequency", f"{FREQUENCY}=300MHz or {FREQUENCY}=300000000")
        return value

    def _not_compiled(self, names: Iterable[str]) -> Iterator[str]:
        """The files that are neither code nor headers by their names."""
        for name in names:
            if not is_code(name) and Path(name).suffix.lower() not in HEADERS:
                yield f"{self.path}: {name} is no C and no C++ by its name, and is not compiled"

    def _ignored(self) -> Iterator[str]:
        """The options that may change a schedule and are not obeyed."""
        for key, found in self.values.items():
            if not SCHEDULES.match(key) or NAMES_ONLY.match(key):
                continue
            obeyed = key in OBEYED and (key != PIPELINES or self._count(key) in (0, FEWEST_PIPELINED))
            if not obeyed:
                yield from (f"{self.path}:{line}: {key} is not obeyed" for line, _ in found)


_WRITTEN = {
    PART: "a command set_part {...}",
    CLOCK: "a command create_clock -period ...",
    TOP: "a command set_top ...",
    FILE: "a command add_files ...",
}
"""How a script says a key."""
_OPTIONS = {PART: "--part", CLOCK: "--clock", TOP: "--top"}


def is_nothing(text: str) -> bool:
    """Whether an uncertainty keeps nothing back of the clock: 0, 0.00, 0ns, 0%."""
    return re.fullmatch(r"0+(\.0*)?\s*(ns|%)?", text.strip()) is not None


def parse(path: Path) -> Configuration:
    """A configuration file of Vitis HLS, whatever it is of."""
    text = path.read_bytes()[:MAX_CONFIG_BYTES].decode("utf-8", errors="replace")
    return Configuration(
        path=path,
        values=values_of(text),
        folder=path.parent,
        directives=tuple(configured_directives(text, str(path))),
    )


def values_of(text: str) -> dict[str, list[tuple[int, str]]]:
    """What the keys of a configuration are given, each with its line."""
    values: dict[str, list[tuple[int, str]]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        found = _KEY.match(line)
        if found:
            values.setdefault(found[1], []).append((number, found[2]))
    return values


def read_config(path: Path, given: Mapping[str, str] | None = None) -> Component | None:
    """The kernel of a configuration file of Vitis HLS (`syn.top=`, `syn.file=`); None if it is of none.

    given: values of keys that are asked for in place of the file's. Raises DesignError where a value cannot
    be read.
    """
    found = parse(path)
    return found.changed(given or {}).component() if found.is_of_kernel else None


def components_of_build(folder: Path, given: Mapping[str, str] | None = None) -> list[Component]:
    """The kernels of a build folder, or of any folder with configurations of Vitis HLS. Raises
    DesignError."""
    configs = [path for place in PLACES for path in sorted(folder.glob(place))]
    found = [
        replace(component, folder=folder)
        for path in configs
        if (component := read_config(path, given)) is not None
    ]
    if not found:
        message = f"{folder} holds no configuration of a kernel (a .cfg file with syn.top)"
        fix = (
            "name a folder that hlsgen build wrote, a solution or a script of Vitis HLS, or the C++ files "
            "with --top"
        )
        raise DesignError(Problem(message=message, fix=fix))
    return found


def split_flags(
    text: str, include_folder: Callable[[str], Path]
) -> tuple[tuple[Path, ...], dict[str, str], tuple[str, ...]]:
    """The include folders, macros and other flags of a compiler's command line. include_folder: what folder a
    name means.

    Of other flags only the language's standard is kept: what a file asks of the compiler must not reach
    further. Raises DesignError: a quote stays open.
    """
    includes: list[Path] = []
    defines: dict[str, str] = {}
    flags: list[str] = []
    try:
        words = iter(shlex.split(_BACKSLASH.sub(lambda found: found[1] or r"\\", text)))
    except ValueError:
        message = f"the flags {text!r} open a quote that nothing closes"
        raise DesignError(Problem(message=message, fix="close it")) from None
    for word in words:
        for option in ("-I", "-D"):
            if word.startswith(option):
                value = word[2:] or next(words, "")
                if option == "-I":
                    includes.append(include_folder(value))
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
