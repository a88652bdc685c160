"""What is compiled for one kernel, and for what: the files, their flags, the part and the clock."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hlsgen.base.errors import DesignError, Problem
from hlsgen.schedule.delays import Delays
from hlsgen.schedule.directives import Directive
from hlsgen.schedule.speed import is_known

NEWEST_VERSION = "2024.2"


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
    pipelines_unasked: bool = True
    """Whether the tool pipelines loops that no pragma is about, and unrolls others for them
    (pipeline_loops)."""

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
    solution: str = ""
    """What a script that makes several of the same function calls it."""
    ignored: tuple[str, ...] = ()
    """Options of its configuration that may change a schedule and are not obeyed, each with its place."""
    moved: tuple[str, ...] = ()
    """Names of its configuration that are not there, with what is taken for them."""
