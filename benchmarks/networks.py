"""Networks: what hlsgen takes to build and to C-simulate them here, beside hls4ml on the same networks.

python benchmarks/networks.py [--quick] [--no-hls4ml] [--json PATH] [DESIGN ...]

DESIGN: a name in designs/ or a path to a design file of a network; without any, all six of designs/. Every
figure is called modelled (the cost model's, for the FPGA) or measured (a CPU's, on the machine this runs on,
in one run). C-simulation is a CPU's work: its time says nothing about the FPGA's. The two compute in types of
their own: hlsgen in those of the design, hls4ml in fixed<16,6> throughout.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import peers
from conv import DESIGNS, machine, reason
from numpy.typing import NDArray
from peers import Hls4mlNetwork, Metered, Missing, Use
from rich.console import Console
from rich.markup import escape
from rich.table import Table

import hlsgen
from hlsgen.csim.compiler import compile_testbench, find_compiler
from hlsgen.csim.dataflow import DataflowRun, simulate
from hlsgen.csim.simulation import compare
from hlsgen.document import Document
from hlsgen.errors import HlsgenError, MismatchError
from hlsgen.graph_design import MOST_FRAME_ELEMENTS
from hlsgen.layers.base import Codes
from hlsgen.network import NetworkDesign
from hlsgen.project import build

NETWORKS = ("digits", "raider", "vgg_cifar", "resnet18", "mobilenet_v2", "yolov3_tiny")
JSON = Path("build/benchmarks/networks.json")
CSIM_NOTE = (
    "C-simulation runs on a CPU: its time is never the FPGA's. One core: by the CPU time of the process, "
    "files included; all cores: by the wall time of a process for each. Memory: the most that one process "
    "holds, in MB of 10^6 bytes. SNR: of the outputs to the network in floating point, on the samples."
)
PEER_NOTE = (
    "hls4ml: PyTorch frontend, Vitis backend, io_stream, fixed<16,6>; M MAC/s by CPU time of predict(). "
    "Compile: its compilers alone; writing the project has a column of its own. Memory of its process: with "
    "its frameworks."
)


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


# ---------------------------------------------------------------- what is found


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


# ---------------------------------------------------------------- hlsgen, in a process of its own


def _work(path: Path, folder: Path, effort: Effort) -> None:
    """Loads, builds and C-simulates the design in `folder`; found.json says what that took.

    frames.npy [N, C, H, W] gets the sample frames and outputs.npy [N, -1] what the network gives for them.
    """
    found: dict[str, Any] = {}

    def note(**more: Any) -> None:
        found.update(more)
        (folder / "found.json").write_text(json.dumps(found), encoding="utf-8")

    try:
        start = time.perf_counter()
        _import_framework(path)
        imported = time.perf_counter()
        design = hlsgen.load(path)
        assert isinstance(design, NetworkDesign)
        loaded, cpu = time.perf_counter(), time.process_time()
        report = build(design, folder / "build", csim=False).report
        built = Built(
            framework_s=imported - start,
            load_s=loaded - imported,
            build_s=time.perf_counter() - loaded,
            build_cpu_s=time.process_time() - cpu,
            python_mb=peers.own_peak_mb(),
        )
        note(built=asdict(built), modelled=asdict(_modelled(report)))
        note(simulated=asdict(_csim(design, folder, effort)))
    except HlsgenError as failure:
        note(reason=str(failure).split("\nfix:")[0].removeprefix("error: "))


def _import_framework(path: Path) -> None:
    """Imports what reads the model; PyTorch imports a part of itself when it exports the first module."""
    wanted = Document.read(path).data["model"]
    if "torch" in wanted:
        import torch

        hlsgen.from_torch(torch.nn.ReLU(), (1, 1, 1))
    elif "qkeras" in wanted:
        from hlsgen.frontends.qkeras_load import tensorflow_packages

        tensorflow_packages()
    else:
        import onnx  # noqa: F401


def _modelled(report: Mapping[str, Any]) -> Modelled:
    total, performance = report["total"], report["performance"]
    return Modelled(
        board=report["board"],
        clock_mhz=report["clock_mhz"],
        **{key: total[key] for key in ("macs", "instances", "interval_cycles", "latency_cycles")},
        **{key: value for key, value in performance.items() if key != "kind"},
    )


def _csim(design: NetworkDesign, folder: Path, effort: Effort) -> Simulated:
    """Compiles what was built, checks it on the samples and measures it. Raises HlsgenError."""
    compiler = Metered(find_compiler(), folder, "compiler")
    os.environ["CXX"] = str(compiler.script)
    executable = folder / "testbench"
    compile_testbench(folder / "build", design.name, executable, streaming=True)
    assert compiler.use is not None
    inputs = design.sample_inputs()
    golden = design.golden_codes(inputs)
    (port, *_) = design.graph.inputs
    np.save(folder / "frames.npy", port.tensor.type.decode(inputs[port.name]))
    outputs = design.outputs_of(golden)
    shown = outputs if isinstance(outputs, list) else [outputs]
    np.save(folder / "outputs.npy", peers.flat(shown))
    pipeline = design.balanced.pipeline
    kept = Metered(executable, folder, "build_like")
    run = simulate(pipeline, kept.script, inputs, folder)
    tensors = design.graph.tensors()
    checked = _checked(run, golden, {layer.name: tensors[layer.name] for layer in design.graph.layers})

    elements = sum(math.prod(tensor.shape) for tensor in tensors.values())
    frames = max(1, min(effort.macs // max(1, design.macs), MOST_FRAME_ELEMENTS // elements))
    index = np.arange(frames) % len(golden[design.graph.outputs[0].source])
    batch = {name: codes[index] for name, codes in inputs.items()}
    wanted = {port.source: golden[port.source][index] for port in design.graph.outputs}
    one, every = Metered(executable, folder, "one_core"), Metered(executable, folder, "all_cores")
    runs = [simulate(pipeline, one.script, batch, folder, keep=False) for _ in range(effort.repeats)]
    cores = peers.cores()
    start = time.perf_counter()
    with ThreadPoolExecutor(max_workers=cores) as pool:
        together = [
            pool.submit(simulate, pipeline, every.script, batch, folder, keep=False) for _ in range(cores)
        ]
        runs += [future.result() for future in together]
    wall = time.perf_counter() - start
    for run in runs:
        _checked(run, wanted, {name: tensors[name] for name in wanted})
    assert kept.use is not None and one.use is not None and every.use is not None
    macs = design.macs * frames
    return Simulated(
        compiler=compiler.use,
        core_rate=macs / one.use.least_cpu_s,
        kernel_rate=macs / min(run.seconds for run in runs[: effort.repeats]),
        all_rate=macs * cores / wall,
        cores=cores,
        frames=frames,
        checked=checked,
        build_mb=kept.use.peak_mb,
        batch_mb=max(one.use.peak_mb, every.use.peak_mb),
    )


def _checked(run: DataflowRun, golden: Mapping[str, Codes], tensors: Mapping[str, Any]) -> int:
    """How many results were compared. Raises MismatchError: one is not golden's."""
    for name, tensor in tensors.items():
        differing = compare(run.tensors[name], golden[name], tensor.type).mismatches
        if differing:
            raise MismatchError(f"error: {differing} results of {name} differ from golden")
    return sum(int(golden[name].size) for name in tensors)


# ---------------------------------------------------------------- measuring


def measure(path: Path, effort: Effort, progress: Callable[[str], None] = lambda _: None) -> Finding:
    """Everything of the network in the design file `path`: hlsgen in a process of its own, then hls4ml."""
    name = path.stem
    progress(f"{name}: hlsgen")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        missing = Missing(what="hlsgen", reason=_run_worker(path, folder, effort) or "it is not known why")
        found: dict[str, Any] = {}
        if (folder / "found.json").exists():
            found = json.loads((folder / "found.json").read_text(encoding="utf-8"))
        if "reason" in found:
            missing = Missing(what="hlsgen", reason=found["reason"])
        frames, ours = (_array(folder / f"{key}.npy") for key in ("frames", "outputs"))
    modelled = Modelled(**found["modelled"]) if "modelled" in found else missing
    simulated: Simulated | Missing = missing
    if "simulated" in found:
        compiler = Use(**found["simulated"].pop("compiler"))
        simulated = Simulated(compiler=compiler, **found["simulated"])
    hls4ml: Hls4mlNetwork | Missing = Missing(what="hls4ml", reason="left out")
    if effort.peer_macs and isinstance(modelled, Modelled) and frames is not None:
        progress(f"{name}: hls4ml")
        count = max(1, effort.peer_macs // max(1, modelled.macs))
        hls4ml = peers.hls4ml_network(path, modelled.macs, frames, count, effort.peer_seconds)
    reference = None if isinstance(hls4ml, Missing) else hls4ml.reference
    return Finding(
        name=name,
        modelled=modelled,
        built=Built(**found["built"]) if "built" in found else missing,
        simulated=simulated,
        hls4ml=hls4ml,
        snr_db=snr_db(ours, reference),
        hls4ml_snr_db=None if isinstance(hls4ml, Missing) else snr_db(hls4ml.outputs, reference),
    )


def _run_worker(path: Path, folder: Path, effort: Effort) -> str | None:
    """Why the worker failed, if it did. In this session: an interrupt ends it and the compiler it started."""
    command = [sys.executable, str(Path(__file__).resolve()), str(path.resolve()), "--worker", str(folder)]
    given = json.dumps(asdict(effort))
    done = subprocess.run(command, input=given, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode == 0:
        return None
    lines = done.stderr.strip().splitlines() or ["it printed nothing"]
    return f"ended with status {done.returncode}: {lines[-1]}"


def _array(path: Path) -> NDArray[np.float64] | None:
    return np.load(path).astype(np.float64) if path.exists() else None


def snr_db(got: peers.Floats | None, reference: peers.Floats | None) -> float | None:
    """10 log10(signal / error) of the frames both have, [N, -1]; None: one is missing, or they are equal."""
    if got is None or reference is None:
        return None
    frames = min(len(got), len(reference))
    wanted = reference[:frames].astype(np.float64)
    signal, error = float((wanted**2).sum()), float(((got[:frames] - wanted) ** 2).sum())
    return 10 * math.log10(signal / error) if signal and error else None


# ---------------------------------------------------------------- the report


def document(findings: Sequence[Finding]) -> dict[str, Any]:
    """Everything as JSON."""
    return {
        "hlsgen": hlsgen.__version__,
        "machine": machine(),
        "notes": [CSIM_NOTE, PEER_NOTE],
        "targets": [{"what": one.what, "bound": one.bounds, "only": one.only} for one in TARGETS],
        "networks": [_network(found) for found in findings],
    }


def _network(found: Finding) -> dict[str, Any]:
    hls4ml = _json(found.hls4ml, "measured")
    if isinstance(found.hls4ml, Hls4mlNetwork):
        hls4ml = {key: value for key, value in hls4ml.items() if key not in ("outputs", "reference")}
        hls4ml |= {"reason": _why(found.hls4ml.reason), "snr_db": found.hls4ml_snr_db}
    return {
        "name": found.name,
        "modelled": _json(found.modelled, "modelled"),
        "built": _json(found.built, "measured"),
        "simulated": _json(found.simulated, "measured") | {"snr_db": found.snr_db},
        "memory_mb": found.memory_mb,
        "hls4ml": hls4ml,
        "ratios": ratios(found),
        "met": {target.what: target.met(found) for target in TARGETS},
    }


def _json(found: Any, kind: str) -> dict[str, Any]:
    if isinstance(found, Missing):
        return {"kind": "missing", "what": found.what, "reason": reason(found)}
    return {"kind": kind, **asdict(found)}


def _why(text: str | None) -> str | None:
    """In one line and without folders."""
    return None if text is None else reason(Missing(what="", reason=text))


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


# ---------------------------------------------------------------- printing


def modelled_table(findings: Sequence[Finding]) -> Table:
    table = _table(
        "Modelled",
        ("design", "board"),
        (
            "MHz",
            "M MAC\na frame",
            "instances",
            "interval\ncycles",
            "latency\ncycles",
            "frames/s",
            "GOPS",
            "GOPS\nbatch",
        ),
    )
    table.add_column("what binds")
    for found in findings:
        row = found.modelled
        if isinstance(row, Missing):
            continue
        table.add_row(
            found.name,
            row.board,
            f"{row.clock_mhz:g}",
            f"{row.macs / 1e6:,.3f}",
            str(row.instances),
            *(f"{number:,}" for number in (row.interval_cycles, row.latency_cycles)),
            *(f"{number:,.0f}" for number in (row.frames_per_s, row.gops, row.batch_gops)),
            row.binds,
        )
    return table


def measured_table(findings: Sequence[Finding]) -> Table:
    table = _table(
        "Measured here: hlsgen",
        ("design",),
        (
            "framework\nimport s",
            "load\ns",
            "build\ns",
            "Python\nMB",
            "compile\nCPU s",
            "compile\nMB",
            "M MAC/s\none core",
            "M MAC/s\nall cores",
            "frames\na process",
            "C-sim\nMB",
            "SNR\ndB",
        ),
    )
    table.caption = CSIM_NOTE
    for found in findings:
        built, run = found.built, found.simulated
        if isinstance(built, Missing):
            continue
        cells = [f"{seconds:.2f}" for seconds in (built.framework_s, built.load_s, built.build_s)]
        cells.append(f"{built.python_mb:,.0f}")
        if isinstance(run, Simulated):
            cells += [f"{run.compiler.cpu_s:.1f}", f"{run.compiler.peak_mb:,.0f}"]
            cells += [f"{run.core_rate / 1e6:,.1f}", f"{run.all_rate / 1e6:,.1f} ({run.cores})"]
            cells += [str(run.frames), f"{run.csim_mb:,.0f}", _number(found.snr_db, ".1f")]
        table.add_row(found.name, *cells)
    return table


def target_table(findings: Sequence[Finding]) -> Table:
    heads = [f"{one.what}\n{one.bounds}" for one in TARGETS]
    table = _table("Measured here: targets", ("design",), heads)
    for found in findings:
        cells = []
        for target in TARGETS:
            value, met = target.of(found), target.met(found)
            said = {True: "[green]met[/]", False: "[red]not met[/]", None: ""}[met]
            cells.append(said if value is None or met is None else f"{value:,.1f} {said}")
        table.add_row(found.name, *cells)
    return table


def peer_table(findings: Sequence[Finding]) -> Table:
    table = _table(
        "Measured here: hls4ml on the same networks",
        ("design",),
        (
            "convert\ns",
            "write\ns",
            "compile\nCPU s",
            "x hlsgen",
            "compile\nMB",
            "x hlsgen",
            "M MAC/s\none core",
            "hlsgen\nby this",
            "frames",
            "process\nMB",
            "SNR\ndB",
        ),
    )
    table.caption = PEER_NOTE
    for found in findings:
        peer = found.hls4ml
        if isinstance(peer, Missing):
            continue
        by, compiler = ratios(found), peer.compiler
        table.add_row(
            found.name,
            _number(peer.convert_s, ".2f"),
            _number(peer.write_s, ".1f"),
            _number(compiler.cpu_s if compiler else None, ".1f"),
            _number(by["compile CPU s, hls4ml to hlsgen"], ".2f"),
            _number(compiler.peak_mb if compiler else None, ",.0f"),
            _number(by["compile MB, hls4ml to hlsgen"], ".2f"),
            _number(peer.rate / 1e6 if peer.rate else None, ",.1f"),
            _number(by["M MAC/s a core, hlsgen to hls4ml"], ".2f"),
            _number(peer.frames, "d"),
            _number(peer.peak_mb, ",.0f"),
            _number(found.hls4ml_snr_db, ".1f"),
        )
    return table


def remarks(findings: Sequence[Finding]) -> list[str]:
    """What could not be measured, and why; what was written otherwise for hls4ml. A line each."""
    lines = []
    for found in findings:
        if isinstance(found.simulated, Missing):
            lines.append(f"hlsgen on {found.name}: not measured: {reason(found.simulated)}")
        peer = found.hls4ml
        if isinstance(peer, Missing):
            lines.append(f"hls4ml on {found.name}: not measured: {reason(peer)}")
            continue
        if peer.respelled:
            lines.append(f"hls4ml on {found.name}: refused as it is; tried with {peer.respelled}")
        if peer.reason:
            lines.append(f"hls4ml on {found.name}: not measured further: {_why(peer.reason)}")
    return lines


def _table(title: str, left: Sequence[str], right: Sequence[str]) -> Table:
    table = Table(title=title)
    for name in left:
        table.add_column(name, no_wrap=True)
    for name in right:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _number(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)


def report(findings: Sequence[Finding], out: Console) -> None:
    tables = (modelled_table, measured_table, target_table, peer_table)
    for table in tables:
        out.print(table(findings))
        out.print()
    for line in remarks(findings):
        out.print(escape(line))
    here = machine()
    on = f"{here['cpu']}, {here['cores']} {'core' if here['cores'] == 1 else 'cores'}"
    out.print(f"Measured on: {on}; {here['compiler']}.")


def main() -> None:
    """Measure network by network, print; write the JSON anew after each."""
    parser = argparse.ArgumentParser(description="Networks: build, C-simulation and hls4ml, measured here.")
    parser.add_argument("designs", nargs="*", metavar="DESIGN", help=f"[{' '.join(NETWORKS)}]")
    parser.add_argument("--quick", action="store_true", help="measure with fewer frames")
    parser.add_argument("--no-hls4ml", action="store_true", help="leave hls4ml out")
    parser.add_argument("--json", type=Path, default=JSON, metavar="PATH", help=f"write JSON here [{JSON}]")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        _work(Path(arguments.designs[0]), arguments.worker, Effort(**json.loads(sys.stdin.read())))
        return
    paths = [_design(given, parser) for given in arguments.designs or NETWORKS]
    effort = QUICK if arguments.quick else FULL
    if arguments.no_hls4ml:
        effort = replace(effort, peer_macs=0)
    # what goes to a file is not cut to a terminal's 80 columns
    out, err = Console(highlight=False), Console(stderr=True, highlight=False)
    if not out.is_terminal:
        out = Console(highlight=False, width=160)
    # ended from outside, it ends what it started
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    findings: list[Finding] = []
    for path in paths:
        findings.append(measure(path, effort, lambda text: err.print(f"{text} ...")))
        arguments.json.write_text(json.dumps(document(findings), indent=2) + "\n", encoding="utf-8")
    report(findings, out)
    err.print(f"wrote {arguments.json}")


def _design(given: str, parser: argparse.ArgumentParser) -> Path:
    """The design file of a network; anything else is a usage error."""
    path = Path(given) if given.endswith((".yaml", ".yml")) else DESIGNS / f"{given}.yaml"
    if not path.is_file():
        parser.error(f"there is no design {given}; of designs/: {', '.join(NETWORKS)}")
    try:
        if "model" not in Document.read(path).data:
            parser.error(f"{given} is no network: it names no model")
    except HlsgenError as failure:
        parser.error(str(failure))
    return path


if __name__ == "__main__":
    main()
