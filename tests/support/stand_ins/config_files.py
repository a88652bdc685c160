"""Stand-ins for what Vitis reads its configuration files with: strict, and with the named files at hand.

They know the keys that published examples of the vendor use, and refuse every other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

HLS_KEYS = {
    "": {"part", "platform"},
    "hls": {
        *("clock", "clock_uncertainty", "flow_target", "syn.file", "syn.top", "syn.cflags"),
        *("tb.file", "tb.cflags"),
        *("csim.argv", "cosim.argv", "cosim.trace_level", "syn.compile.pipeline_style"),
        *("syn.interface.m_axi_max_widen_bitwidth", "syn.interface.m_axi_alignment_byte_size"),
        *("syn.dataflow.default_channel", "syn.dataflow.fifo_depth"),
        *("package.output.format", "package.output.file", "package.output.syn"),
    },
}  # fmt: skip
SEVERAL = {"syn.file", "tb.file", "nk", "slr", "sp", "stream_connect", "freqHz", "prop"}
LINK_KEYS = {
    "": {"kernel_frequency", "freqhz", "platform"},
    "connectivity": {"nk", "slr", "sp", "stream_connect"},
    "clock": {"freqHz"},
    "vivado": {"prop"},
}
STEPS = {
    "OPT_DESIGN.ARGS.DIRECTIVE": {"ExploreWithRemap", "Explore"},
    "PLACE_DESIGN.ARGS.DIRECTIVE": {"Explore"},
    "PHYS_OPT_DESIGN.IS_ENABLED": {"true"},
    "PHYS_OPT_DESIGN.ARGS.DIRECTIVE": {"Explore"},
    "ROUTE_DESIGN.ARGS.DIRECTIVE": {"Explore"},
}


class Refused(Exception):
    """What the vendor's reader would not take."""


Setting = tuple[str, str, str]


def read_settings(text: str, keys: dict[str, set[str]]) -> list[Setting]:
    """(section, key, value) of every line. Raises Refused: an unknown section or key, or one key twice."""
    found: list[Setting] = []
    section = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("["):
            section = line.strip().removeprefix("[").removesuffix("]")
            if section not in keys or not line.strip().endswith("]"):
                raise Refused(f"line {number}: no section is {line}")
            continue
        key, equal, value = line.partition("=")
        if key not in keys[section] or not equal or not value:
            raise Refused(f"line {number}: [{section}] has no {line}")
        if key not in SEVERAL and any((section, key) == one[:2] for one in found):
            raise Refused(f"line {number}: {key} is there twice")
        found.append((section, key, value))
    return found


def read_hls(path: Path) -> list[Setting]:
    """The settings of a kernel's synthesis, for a tool that is started in the file's folder."""
    found = read_settings(path.read_text(), HLS_KEYS)
    values = {key: value for _, key, value in found}
    for missing in {
        "part",
        "clock",
        "clock_uncertainty",
        "syn.top",
        "syn.file",
        "package.output.format",
    } - set(values):
        raise Refused(f"{path.name} has no {missing}")
    for _, key, value in found:
        if key in ("syn.file", "tb.file") and not (path.parent / value).is_file():
            raise Refused(f"{key}: there is no file {value}")
        if key.endswith("cflags"):
            _check_flags(path.parent, value)
    if not re.fullmatch(r"\d+(\.\d+)?(ns|MHz)?", values["clock"]):
        raise Refused(f"no clock is {values['clock']}")
    if not re.fullmatch(r"\d+(\.\d+)?(ns|%)", values["clock_uncertainty"]):
        raise Refused(f"no uncertainty is {values['clock_uncertainty']}")
    sources = [(path.parent / value).read_text() for _, key, value in found if key == "syn.file"]
    if not any(re.search(rf"\bvoid {values['syn.top']}\(", source) for source in sources):
        raise Refused(f"no source defines {values['syn.top']}")
    if values["flow_target"] not in ("vitis", "vivado") or values["package.output.format"] not in (
        "xo",
        "rtl",
        "ip",
    ):
        raise Refused("a flow or a format that there is not")
    return found


def _check_flags(folder: Path, flags: str) -> None:
    for flag in flags.split():
        if flag.startswith("-I"):
            if not (folder / flag[2:]).is_dir():
                raise Refused(f"there is no folder for {flag}")
        elif flag not in ("-std=c++11", "-std=c++14", "-std=c++17"):
            raise Refused(f"the flag {flag} is not known")


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """A kernel as its source declares it: arguments, and the m_axi bundles of those that have one."""

    name: str
    arguments: tuple[str, ...]
    bundles: frozenset[str]


def kernels_in(sources: Iterable[Path]) -> dict[str, Kernel]:
    """The functions with C linkage."""
    found = {}
    for path in sources:
        text = path.read_text()
        for match in re.finditer(
            r'extern "C" void (\w+)\(([^{;]*?)\)\s*\{(.*?)^\}', text, re.DOTALL | re.MULTILINE
        ):
            name, arguments, body = match.groups()
            names = tuple(re.findall(r"(\w+)\s*(?:,|$)", re.sub(r"<[^<>]*>", "", arguments)))
            bundles = re.findall(r"#pragma HLS interface m_axi port=\w+ .*?bundle=(\w+)", body)
            found[name] = Kernel(name=name, arguments=names, bundles=frozenset(bundles))
    return found


@dataclass(kw_only=True)
class Linked:
    """What a link configuration asks for: compute units by kernel, SLRs and banks."""

    units: dict[str, str] = field(default_factory=dict)
    slr: dict[str, str] = field(default_factory=dict)
    banks: dict[tuple[str, str], str] = field(default_factory=dict)
    hertz: dict[str, int] = field(default_factory=dict)


def read_link(path: Path, kernels: dict[str, Kernel]) -> Linked:
    """The link configuration, held against the kernels. Raises Refused."""
    linked = Linked()
    for section, key, value in read_settings(path.read_text(), LINK_KEYS):
        reader = {
            "nk": _nk,
            "slr": _slr,
            "sp": _sp,
            "freqHz": _hertz,
            "prop": _prop,
            "kernel_frequency": _frequency,
        }
        if key not in reader:
            raise Refused(f"[{section}] {key} is not used here")
        reader[key](linked, value, kernels)
    for kernel in kernels.values():
        if kernel.name not in linked.units.values():
            raise Refused(f"{kernel.name} has no compute unit")
    return linked


def _nk(linked: Linked, value: str, kernels: dict[str, Kernel]) -> None:
    name, count, *names = value.split(":")
    if name not in kernels:
        raise Refused(f"nk: there is no kernel {name}")
    units = names[0].split(".") if names else [f"{name}_{number}" for number in range(1, int(count) + 1)]
    if len(names) > 1 or len(units) != int(count) or name in linked.units.values():
        raise Refused(f"nk={value}: {count} compute units, {len(units)} names")
    for unit in units:
        if unit in linked.units:
            raise Refused(f"two compute units are called {unit}")
        linked.units[unit] = name


def _slr(linked: Linked, value: str, kernels: dict[str, Kernel]) -> None:
    unit, _, region = value.partition(":")
    if unit not in linked.units or unit in linked.slr or not re.fullmatch(r"SLR[0-3]", region):
        raise Refused(f"slr={value}")
    linked.slr[unit] = region


def _sp(linked: Linked, value: str, kernels: dict[str, Kernel]) -> None:
    match = re.fullmatch(r"(\w+)\.(\w+):((?:DDR|HBM|PLRAM|HOST)\[\d+(?::\d+)?\])", value)
    if match is None or match.group(1) not in linked.units:
        raise Refused(f"sp={value}")
    unit, port, bank = match.groups()
    kernel = kernels[linked.units[unit]]
    if port.removeprefix("m_axi_") not in kernel.bundles and port not in kernel.arguments:
        raise Refused(f"sp={value}: {kernel.name} has no port {port}")
    if (unit, port) in linked.banks:
        raise Refused(f"sp={value}: {port} has a bank already")
    linked.banks[unit, port] = bank


def _hertz(linked: Linked, value: str, kernels: dict[str, Kernel]) -> None:
    match = re.fullmatch(r"(\d+):(\w+)\.ap_clk", value)
    if match is None or match.group(2) not in linked.units:
        raise Refused(f"freqHz={value}")
    linked.hertz[match.group(2)] = int(match.group(1))


def _prop(linked: Linked, value: str, kernels: dict[str, Kernel]) -> None:
    name, _, given = value.partition("=")
    step = name.removeprefix("run.impl_1.STEPS.")
    if step not in STEPS or given not in STEPS[step]:
        raise Refused(f"prop={value}")


def _frequency(linked: Linked, value: str, kernels: dict[str, Kernel]) -> None:
    if not re.fullmatch(r"\d+:\d+(\|\d+:\d+)*", value):
        raise Refused(f"kernel_frequency={value}")
