"""What is measured of a network, and the targets of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hls4ml_networks import Hls4mlNetwork
from layer import Missing
from processes import Use


@dataclass(frozen=True, kw_only=True)
class Effort:
    """macs: of a C-simulation run to measure, at least a frame and no more than memory allows; the best of
    `repeats` counts. peer_macs: of hls4ml's, which is stopped after peer_seconds; 0: it is left out."""

    macs: int
    repeats: int
    peer_macs: int
    peer_seconds: float = 600.0


FULL = Effort(macs=2_000_000_000, repeats=3, peer_macs=300_000_000)
QUICK = Effort(macs=100_000_000, repeats=1, peer_macs=20_000_000)


@dataclass(frozen=True, kw_only=True)
class Modelled:
    """A design on its board, as the cost model has it; speed in the steady state and of a batch."""

    board: str
    clock_mhz: float
    macs: int
    instances: int
    interval_cycles: int
    latency_cycles: int
    frames_per_s: float
    gops: float
    batch: int
    batch_frames_per_s: float
    batch_gops: float
    binds: str


@dataclass(frozen=True, kw_only=True)
class Built:
    """Seconds of wall time to import the framework, to load the design and to build without C-simulation (of
    CPU time too), and the most memory of that Python process."""

    framework_s: float
    load_s: float
    build_s: float
    build_cpu_s: float
    python_mb: float


@dataclass(frozen=True, kw_only=True)
class Simulated:
    """C-simulation: its compilation, and multiply-accumulates a second.

    core_rate: of a process with `frames` frames, by all its CPU time, files included; kernel_rate: by the
    kernel's own wall time. Both of the best run. all_rate: of `cores` such processes at once, by wall time.
    checked: results of all layers that are equal to golden. build_mb: of the process that a build runs, which
    keeps every layer's results; batch_mb: of one that gives the outputs for `frames` frames.
    """

    compiler: Use
    core_rate: float
    kernel_rate: float
    all_rate: float
    cores: int
    frames: int
    checked: int
    build_mb: float
    batch_mb: float

    @property
    def csim_mb(self) -> float:
        return max(self.build_mb, self.batch_mb)


@dataclass(frozen=True, kw_only=True)
class Finding:
    """All of a network; Missing where it could not be had. snr_db: of hlsgen and hls4ml, None if unknown."""

    name: str
    modelled: Modelled | Missing
    built: Built | Missing
    simulated: Simulated | Missing
    hls4ml: Hls4mlNetwork | Missing
    snr_db: float | None = None
    hls4ml_snr_db: float | None = None

    @property
    def memory_mb(self) -> float | None:
        """Of the process that held most: Python, compiler or C-simulation."""
        if isinstance(self.built, Missing) or isinstance(self.simulated, Missing):
            return None
        return max(self.built.python_mb, self.simulated.compiler.peak_mb, self.simulated.csim_mb)


@dataclass(frozen=True, kw_only=True)
class Target:
    """A bound on a measured figure, for the networks in `only` (None: for all)."""

    what: str
    bound: float
    least: bool
    of: Callable[[Finding], float | None]
    only: tuple[str, ...] | None = None

    def met(self, finding: Finding) -> bool | None:
        """None: it does not apply, or there is no figure."""
        value = self.of(finding)
        if value is None or (self.only is not None and finding.name not in self.only):
            return None
        return value >= self.bound if self.least else value <= self.bound

    @property
    def bounds(self) -> str:
        return f"{'>=' if self.least else '<='} {self.bound:g}"


def _simulated(figure: Callable[[Simulated], float]) -> Callable[[Finding], float | None]:
    return lambda found: None if isinstance(found.simulated, Missing) else figure(found.simulated)


TARGETS = (
    Target(what="compile CPU s", bound=15, least=False, of=_simulated(lambda one: one.compiler.cpu_s)),
    Target(what="compile MB", bound=600, least=False, of=_simulated(lambda one: one.compiler.peak_mb)),
    Target(what="M MAC/s a core", bound=200, least=True, of=_simulated(lambda one: one.core_rate / 1e6)),
    Target(
        what="build s",
        bound=10,
        least=False,
        of=lambda found: None if isinstance(found.built, Missing) else found.built.build_s,
        only=("resnet18",),
    ),
    Target(what="memory MB", bound=2000, least=False, of=lambda found: found.memory_mb),
)


def ratios(found: Finding) -> dict[str, float | None]:
    """How many times as fast, and how many times the effort to compile; None where a figure is missing."""
    ours = None if isinstance(found.simulated, Missing) else found.simulated
    theirs = None if isinstance(found.hls4ml, Missing) else found.hls4ml
    core = ours.core_rate if ours else None
    result = {
        "all cores to one": _ratio(ours.all_rate if ours else None, core),
        "M MAC/s a core, hlsgen to hls4ml": _ratio(core, theirs.rate if theirs else None),
    }
    one, other = (side.compiler if side else None for side in (ours, theirs))
    for name, figure in (("CPU s", "cpu_s"), ("MB", "peak_mb")):
        pair = (getattr(side, figure, None) for side in (other, one))
        result[f"compile {name}, hls4ml to hlsgen"] = _ratio(*pair)
    return result


def _ratio(one: float | None, other: float | None) -> float | None:
    return one / other if one is not None and other else None
