"""A solution of Vitis HLS whose loops a text tells of, as a README with lines of the log or csynth's table.

Such a text names no sources, so that a file beside them does: told_<name>.json in the root of a checkout.

    {"text": "README.md", "version": "2023.2", "part": "xck26-sfvc784-2LV-c", "clock_ns": 10.0,
     "flow": "vivado", "top": "fir", "sources": ["hls/fir.cpp"], "include": ["hls"], "defines": ["TAPS=8"],
     "directives": "hls/directives.tcl",
     "loops": [{"loop": "VITIS_LOOP_12_1", "ii": 2, "depth": 9, "target": 1, "module": "fir"}]}

Where the text tells no release, or one that is not known here, the newest one is taken.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError
from schedule_truth import NEWEST, OLDEST

from hlsgen.designfile.tcl_commands import commands
from hlsgen.designfile.text_files import read_text, refuse
from hlsgen.schedule.directives import Directive, directives_of
from hlsgen.schedule.tcl_script import options_said
from hlsgen.vendor.project_files import CompilerFlags
from hlsgen.vendor.report import Stage, SynthesisReport
from hlsgen.vendor.solution import VendorLoop, VendorSolution

FILES = "told_*.json"


class _Model(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)


class ToldLoop(_Model):
    """A loop that a text tells of, by its name in the log or the table."""

    loop: str
    ii: int
    depth: int | None = None
    target: int | None = None
    module: str = ""


class Told(_Model):
    """What a text and the scripts beside it tell of one design. Files and folders are those of the checkout;
    settings: config_ commands of the scripts."""

    part: str
    clock_ns: float
    top: str
    sources: list[str]
    loops: list[ToldLoop]
    flow: Literal["vivado", "vitis"] = "vivado"
    version: str = ""
    include: list[str] = []
    defines: list[str] = []
    directives: str = ""
    settings: list[str] = []


def find_told(root: Path) -> list[Path]:
    """The files of a checkout that say what texts tell."""
    return sorted(path for path in root.glob(FILES) if path.is_file() and not path.is_symlink())


def read_told(path: Path, root: Path) -> VendorSolution:
    """The solution that such a file tells of. Raises DesignError: it is not of this form, or a name in it
    leads out of the checkout."""
    try:
        told = Told.model_validate_json(read_text(path))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        refuse(path, f"says nothing of a design: {where}: {first['msg']}", "see benchmarks/schedule_told.py")
    sources = [_inside(path, root, name) for name in told.sources]
    version = told.version if OLDEST <= told.version[:6] <= NEWEST else NEWEST
    return VendorSolution(
        folder=path,
        sources=tuple(one for one in sources if one.is_file()),
        missing=tuple(name for name, one in zip(told.sources, sources, strict=True) if not one.is_file()),
        include_folders=tuple(_inside(path, root, name) for name in told.include),
        flags=CompilerFlags(defines=tuple(told.defines)),
        directives=_directives(path, root, told.directives),
        options=options_said(commands(path, "\n".join(told.settings))),
        pragmas=(),
        report=SynthesisReport(
            path=path,
            stage=Stage.CSYNTH,
            top=told.top,
            version=version,
            part=told.part,
            flow_target=told.flow,
            clock_ns=told.clock_ns,
        ),
        loops=tuple(_loop(one) for one in told.loops),
        uncertainty_ns=None,
        budget_ns=None,
    )


def _inside(path: Path, root: Path, name: str) -> Path:
    found = (root / name).resolve()
    if not found.is_relative_to(root.resolve()):
        refuse(path, f"names {name!r}, which is outside of the checkout", "name files of the checkout")
    return found


def _directives(path: Path, root: Path, name: str) -> tuple[Directive, ...]:
    if not name:
        return ()
    script = _inside(path, root, name)
    return tuple(directives_of(commands(script, read_text(script)), str(script)))


def _loop(one: ToldLoop) -> VendorLoop:
    return VendorLoop(
        module=one.module,
        name=one.loop,
        places=(),
        ii_target=one.target,
        ii=one.ii,
        depth=one.depth,
        trip_count=None,
        latency=None,
        estimated_ns=None,
    )
