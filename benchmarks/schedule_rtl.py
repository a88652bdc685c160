"""A design of Vitis HLS as the RTL that it emitted tells it, where neither report nor log was kept.

A pipeline is a ring of states in the emitted Verilog, a state for each cycle of its interval, so that its
states are its II; its loop is where the comparison that ends it stands (`icmp_ln47`: line 47), or what its
module is named after. The top's first lines have part, clock and release. Which files and directives it was
made of is read from the solution around it; of a packaged IP without one from the files that define its top.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from pathlib import Path

from schedule_rtl_sources import Code, inputs_of, text_of

from hlsgen.base.errors import DesignError
from hlsgen.designfile.text_files import refuse
from hlsgen.schedule.configuration import UNCERTAINTY, amount
from hlsgen.vendor.report import Stage, SynthesisReport
from hlsgen.vendor.solution import REPORT, VendorLoop, VendorSolution

MOST_MODULES = 2_000
_EMITTED = re.compile(r"(?:RTL g|G)enerated by Vitis HLS")
_TOP = re.compile(
    r'CORE_GENERATION_INFO="\w*?,hls_ip_(\d{4})_(\d)\w*,\{([^}]*)\}"\s*\*\)(?:\s*\(\*[^)]*\*\))*\s*module\s+(\w+)'
)
_STAGE = re.compile(r"\bap_ST_fsm_pp(\d+)_stage(\d+)\s*=")
_ENABLE = re.compile(r"\bap_enable_reg_pp(\d+)_iter(\d+)\b")
_STATE = re.compile(r"\bap_block_state\d+_pp(\d+)_stage(\d+)_iter(\d+)\b")
_EXIT = re.compile(
    r"if \((?P<condition>[^;]*?)\) begin\s+ap_condition_"
    r"(?:pp(?P<old>\d+)_(?:exit_iter\d+_state\d+|flush_enable)|exit_pp(?P<new>\d+)_iter\d+_stage\d+) = 1'b1;"
)
_COMPARED = re.compile(r"\bicmp_ln(\d+)(?:_\d+)*(?:_fu_|_reg_|\b)")
_LINE = re.compile(r"\b(?:add|sub|mul|icmp|sext|zext|select)_ln(\d+)(?=_|\b)")
"""Names that tell a line; of parts and concatenations of words (`trunc_ln3`, `or_ln7`) it is a count."""
_OF_A_LOOP = re.compile(r"_Pipeline_(\w+)$")
LONGEST_NAME = 64
"""Letters of a module's name from which on the tool may have cut it."""


@dataclass(frozen=True, kw_only=True)
class EmittedPipeline:
    """A pipelined loop of the RTL. name: what its module is named after; empty if that was cut, or does not
    tell it. ends: lines of the comparison that ends it; compared: lines of all of its module's. depth: None
    where the RTL does not tell in which cycle of an interval the last one falls."""

    module: str
    name: str
    ii: int
    depth: int | None
    ends: frozenset[int]
    compared: frozenset[int]


@dataclass(frozen=True, kw_only=True)
class Emitted:
    """The RTL of one top. clock_ns: asked for. lines: all that names of its pipelines' modules tell."""

    folder: Path
    top: str
    version: str
    part: str
    clock_ns: float
    pipelines: tuple[EmittedPipeline, ...]
    lines: frozenset[int]


def find_rtl(root: Path, told: Set[str] = frozenset()) -> list[Path]:
    """The folders of RTL below a root that hold a top with pipelined loops of Vitis HLS, the first of those
    that tell the same; none of solutions that kept a report, nor of tops that logs have told of."""
    found: dict[tuple[object, ...], Path] = {}
    tops = {path.parent for path in root.rglob("*.v") if _is_top(path)}
    for folder in sorted(tops, key=lambda folder: (_solution_of(folder, root) is None, folder)):
        solution = _solution_of(folder, root)
        try:
            one = read_rtl(folder)
        except DesignError:
            continue
        if one.pipelines and one.top not in told and not (solution and (solution / REPORT).is_file()):
            found.setdefault((one.top, one.version, one.part, one.clock_ns, one.pipelines), folder)
    return sorted(found.values())


def _is_top(path: Path) -> bool:
    return not path.is_symlink() and path.is_file() and bool(_TOP.search(text_of(path)[:4_000]))


def _solution_of(folder: Path, root: Path) -> Path | None:
    """The solution's folder around one of RTL: `syn/verilog`, `sim/verilog`, `impl/ip/hdl/verilog`."""
    inside = (above for above in folder.parents if above.is_relative_to(root))
    return next(
        (above.parent for above in inside if above.name in ("syn", "sim", "impl") and above != root), None
    )


def read_rtl(folder: Path) -> Emitted:
    """The pipelined loops of the Verilog in a folder. Raises DesignError: it holds no top, several, or one of
    an older tool."""
    texts = {path: text_of(path) for path in sorted(folder.glob("*.v"))[:MOST_MODULES]}
    tops = [(path, found) for path, text in texts.items() if (found := _TOP.search(text[:4_000]))]
    if len(tops) != 1 or not _EMITTED.search(texts[tops[0][0]][:1_000]):
        refuse(folder, "holds no RTL of one top of Vitis HLS", "name a folder of emitted Verilog")
    year, release, told, top = tops[0][1].groups()
    settings = dict(pair.partition("=")[::2] for pair in told.split(","))
    try:
        clock_ns = float(settings["HLS_INPUT_CLOCK"])
    except (KeyError, ValueError):
        refuse(folder, "does not tell its clock", "name a folder of emitted Verilog")
    own = {path: text for path, text in texts.items() if _STAGE.search(text)}
    return Emitted(
        folder=folder,
        top=top,
        version=f"{year}.{release}",
        part=settings.get("HLS_INPUT_PART", ""),
        clock_ns=clock_ns,
        pipelines=tuple(one for path, text in own.items() for one in _pipelines(path.stem, top, text)),
        lines=frozenset(int(line) for text in own.values() for line in _LINE.findall(text)),
    )


def _pipelines(stem: str, top: str, text: str) -> Iterator[EmittedPipeline]:
    """Those of a module that end: a function that is pipelined as a whole does not."""
    module = stem.removeprefix(f"{top}_")
    stages: dict[int, set[int]] = {}
    for pipeline, stage in _STAGE.findall(text):
        stages.setdefault(int(pipeline), set()).add(int(stage))
    ends: dict[int, set[int]] = {}
    for found in _EXIT.finditer(text):
        at = ends.setdefault(int(found["old"] or found["new"]), set())
        at.update(int(line) for line in _COMPARED.findall(found["condition"]))
    compared = frozenset(int(line) for line in _COMPARED.findall(text))
    for pipeline, cycles in sorted(stages.items()):
        if pipeline in ends:
            yield EmittedPipeline(
                module=module,
                name=_name(module),
                ii=len(cycles),
                depth=_depth(pipeline, len(cycles), text),
                ends=frozenset(ends[pipeline]),
                compared=compared,
            )


def _name(module: str) -> str:
    found = _OF_A_LOOP.search(module)
    return found[1] if found and len(module) < LONGEST_NAME else ""


def _depth(pipeline: int, ii: int, text: str) -> int | None:
    """Cycles of an iteration: all are told where each is enabled by its interval alone."""
    if ii == 1:
        enabled = [int(interval) for of, interval in _ENABLE.findall(text) if int(of) == pipeline]
        return max(enabled) + 1 if enabled else None
    states = {(int(at), int(stage)) for of, stage, at in _STATE.findall(text) if int(of) == pipeline}
    whole = bool(states) and len(states) == max(states)[0] * ii + max(states)[1] + 1
    return len(states) if whole else None


def read_emitted(folder: Path, root: Path) -> VendorSolution:
    """The solution that a folder of RTL is of. root: what its files may be looked for in.

    Raises DesignError: no RTL, sources that are not there or not those of the RTL, or directives that are not
    known.
    """
    rtl = read_rtl(folder)
    solution = _solution_of(folder, root)
    given, why = inputs_of(rtl.top, solution, root, rtl.lines, [one.ends for one in rtl.pipelines])
    if given is None:
        refuse(folder, f"cannot be told from its RTL: {why}", "keep the solution's folder and its sources")
    kernel = solution is not None and any(solution.glob("impl/**/kernel.xml"))
    return VendorSolution(
        folder=folder,
        sources=given.sources,
        missing=given.missing,
        include_folders=given.include_folders,
        flags=given.flags,
        directives=given.directives,
        options=given.options,
        pragmas=(),
        report=SynthesisReport(
            path=folder,
            stage=Stage.CSYNTH,
            top=rtl.top,
            version=rtl.version,
            part=rtl.part,
            flow_target="vitis" if kernel else "vivado",
            clock_ns=rtl.clock_ns,
        ),
        loops=tuple(_loops(rtl, Code(given))),
        uncertainty_ns=_uncertainty(given.options, rtl.clock_ns),
        budget_ns=None,
    )


def _loops(rtl: Emitted, code: Code) -> Iterator[VendorLoop]:
    """Those whose lines are known: by name, else by the one file that has a loop where they end."""
    for one in rtl.pipelines:
        nests = [nest for line in sorted(one.ends) if (nest := code.nest(line, one.compared))]
        places = nests[0] if len(nests) == 1 else ()
        if one.name or places:
            yield VendorLoop(
                module=one.module,
                name=one.name or f"line {places[-1].line}",
                places=places,
                ii_target=None,
                ii=one.ii,
                depth=one.depth,
                trip_count=None,
                latency=None,
                estimated_ns=None,
            )


def _uncertainty(options: Mapping[str, str], clock_ns: float) -> float | None:
    return amount(options[UNCERTAINTY], clock_ns) if UNCERTAINTY in options else None
