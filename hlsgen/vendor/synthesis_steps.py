"""The steps from an emitted kernel to a bitstream, as the build folder's Makefile has them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.output import MARK
from hlsgen.designfile.text_files import read_text, refuse
from hlsgen.designfile.validation import printable
from hlsgen.emit.project import FLOW
from hlsgen.report.section import AGAIN
from hlsgen.targets.board import BoardFlow

TARGETS = ("hw", "hw_emu")
Name = Annotated[str, Field(pattern="^[A-Za-z_][A-Za-z0-9_]*$")]
"""A kernel's name goes into paths, and anybody may have written the file that has it."""
HLS_INPUTS = ("src/**/*", "vitis/run_hls.tcl")
PACKAGE_AROUND = ("release", "platform")
LINK_AROUND = (*PACKAGE_AROUND, "link")


class Flow(BaseModel):
    """What a build folder says of itself: its kernels and its board."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    design: Name
    kernels: tuple[Name, ...]
    flow: BoardFlow
    platform: str
    host: bool
    """Whether there is a host program."""
    free_running: bool
    """Whether the kernel runs by itself, without an end."""
    no_cosim: str = ""
    """Why RTL co-simulation is not possible; empty: it is."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """The board or platform for which is linked. platform: a name, or the absolute path of an .xpfm file."""

    target: str
    platform: str

    @property
    def word(self) -> str:
        """The place in the names of folders, as the Makefile makes it: plain characters only."""
        name = self.platform.rpartition("/")[2].removesuffix(".xpfm").encode()
        return f"{self.target}.{re.sub(rb'[^A-Za-z0-9_.-]', b'_', name).decode()}"


@dataclass(frozen=True, kw_only=True)
class Step:
    """One goal of the Makefile. Paths are relative to the build folder.

    key: of its state and its log. inputs: globs of the files that it reads. after: the step whose result it
    takes. outputs: empty if only make knows whether there is something to do. scratch: globs of folders with
    reports, and files, which are of no worth when the inputs have changed. stamps: the outputs are made after
    the results, so they are never half done. around: what else it depends on, of what `digest` is told.
    """

    name: str
    goal: str
    key: str
    inputs: tuple[str, ...] = ()
    after: Step | None = None
    outputs: tuple[str, ...] = ()
    scratch: tuple[str, ...] = ()
    stamps: bool = False
    around: tuple[str, ...] = ("release",)

    def digest(self, folder: Path, around: Mapping[str, str]) -> str:
        """SHA-256 of the inputs, those of the steps before it included, and of what is around them."""
        files = sorted({path for glob in self.inputs for path in folder.glob(glob) if path.is_file()})
        parts = {
            "key": self.key,
            "files": [(str(path.relative_to(folder)), sha256(path)) for path in files],
            "after": self.after.digest(folder, around) if self.after else "",
            "around": {name: around[name] for name in self.around},
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def files(self, folder: Path) -> list[Path]:
        """What make compares the outputs with: the files that the step reads."""
        read = [path for glob in self.inputs for path in folder.glob(glob)]
        return [*read, *(folder / path for path in (self.after.outputs if self.after else ()))]


def sha256(path: Path) -> str:
    """The SHA-256 of a file. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_flow(folder: Path) -> Flow:
    """The flow of a build folder. Raises DesignError: it is no build, or one of an older hlsgen."""
    if not (folder / MARK).is_file():
        refuse(folder, f"holds no {MARK}", "name a design file, or a folder that `hlsgen build` has written")
    if not (folder / FLOW).is_file():
        refuse(folder, f"holds no {FLOW}", AGAIN)
    try:
        return Flow.model_validate_json(read_text(folder / FLOW))
    except ValidationError:
        refuse(folder / FLOW, "is damaged", AGAIN)


def steps_to(to: str, flow: Flow, place: Place) -> list[Step]:
    """The steps up to `to` (csynth, cosim, xo, xclbin or all), in order.

    Raises DesignError: the kernel has no end to simulate to, or cannot be co-simulated.
    """
    if to == "cosim" and flow.no_cosim:
        message = f"there is no RTL co-simulation of kernel {flow.design}: {printable(flow.no_cosim)}"
        raise DesignError(Problem(message=message, fix="make csim and make csim-bounded check it here"))
    if to == "cosim" and flow.free_running:
        message = (
            f"kernel {flow.design} runs by itself, without an end, so its RTL co-simulation would never end"
        )
        fix = (
            "make csim and make csim-bounded check it here; docs/boards.md says how to co-simulate it by hand"
        )
        raise DesignError(Problem(message=message, fix=fix))
    csynth = Step(
        name="csynth",
        goal="csynth",
        key="csynth",
        inputs=HLS_INPUTS,
        outputs=tuple(f"vitis/done/{kernel}.csynth" for kernel in flow.kernels),
        stamps=True,
        scratch=("_x.*/reports",),
    )
    xo = Step(
        name="xo",
        goal="xo",
        key="xo",
        after=csynth,
        outputs=tuple(f"vitis/{kernel}.xo" for kernel in flow.kernels),
    )
    if to == "csynth":
        return [csynth]
    if to == "cosim":
        return [csynth, _cosim(csynth, flow)]
    if to == "xo":
        return [csynth, xo]
    linking = _linking(xo, flow, place)
    return [csynth, xo, *linking] if to == "xclbin" else [csynth, xo, *linking, *_around(flow, place)]


def _cosim(csynth: Step, flow: Flow) -> Step:
    return Step(
        name="cosim",
        goal="cosim",
        key="cosim",
        inputs=("tb/*",),
        after=csynth,
        outputs=tuple(f"vitis/done/{kernel}.cosim" for kernel in flow.kernels),
        stamps=True,
    )


def _linking(xo: Step, flow: Flow, place: Place) -> list[Step]:
    """The step to the xclbin. On an Alveo card packaging makes it, on a Zynq linking."""
    folder = f"build_dir.{place.word}"
    alveo = flow.flow == "alveo"
    xclbin = f"{folder}/{flow.design}.xclbin"
    link = Step(
        name="link",
        goal="link",
        key=f"link.{place.word}",
        inputs=("vitis/link.cfg",),
        after=xo,
        outputs=(f"{folder}/{flow.design}.link.xclbin" if alveo else xclbin,),
        scratch=(f"_x.{place.word}", f"{folder}/emconfig.json"),
        around=LINK_AROUND,
    )
    if not alveo:
        return [link]
    key = f"package.{place.word}"
    package = Step(
        name="package", goal="xclbin", key=key, after=link, outputs=(xclbin,), around=PACKAGE_AROUND
    )
    return [link, package]


def _around(flow: Flow, place: Place) -> list[Step]:
    """What the xclbin needs to run: make says itself whether there is something to do."""
    found = [Step(name="host", goal="host", key="host")] if flow.host else []
    if flow.flow != "alveo":
        # a card holds the host program
        card = Step(name="package", goal="sd_card", key=f"package.{place.word}")
        return [*found, card] if flow.host else []
    if place.target == "hw_emu":
        found.append(Step(name="emconfig", goal="emconfig", key=f"emconfig.{place.word}"))
    return found


def needs_of(to: str, flow: Flow, place: Place) -> list[str]:
    """What vitis/check.sh has to look for."""
    needs = ["hls"]
    needs += ["cosim"] if to == "cosim" else []
    needs += ["release"] if to in ("xo", "xclbin", "all") else []
    needs += ["link"] if to in ("xclbin", "all") else []
    if to == "all":
        needs += ["host"] if flow.host else []
        needs += ["card"] if flow.host and flow.flow != "alveo" else []
        needs += ["emconfig"] if flow.flow == "alveo" and place.target == "hw_emu" else []
    return needs
