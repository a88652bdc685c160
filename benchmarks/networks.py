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
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from hls4ml_networks import Hls4mlNetwork, hls4ml_network
from layer import Floats, Missing
from machine import DESIGNS, machine, reason
from network_findings import FULL, QUICK, TARGETS, Built, Effort, Finding, Modelled, Simulated, ratios
from network_tables import CSIM_NOTE, PEER_NOTE, report, without_folders
from numpy.typing import NDArray
from processes import Use
from rich.console import Console

import hlsgen
from hlsgen.base.errors import HlsgenError
from hlsgen.designfile.document import Document

NETWORKS = ("digits", "raider", "vgg_cifar", "resnet18", "mobilenet_v2", "yolov3_tiny")
JSON = Path("build/benchmarks/networks.json")
WORKER = Path(__file__).resolve().with_name("network_worker.py")


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
        hls4ml = hls4ml_network(path, modelled.macs, frames, count, effort.peer_seconds)
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
    command = [sys.executable, str(WORKER), str(path.resolve()), str(folder)]
    given = json.dumps(asdict(effort))
    done = subprocess.run(command, input=given, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode == 0:
        return None
    lines = done.stderr.strip().splitlines() or ["it printed nothing"]
    return f"ended with status {done.returncode}: {lines[-1]}"


def _array(path: Path) -> NDArray[np.float64] | None:
    return np.load(path).astype(np.float64) if path.exists() else None


def snr_db(got: Floats | None, reference: Floats | None) -> float | None:
    """10 log10(signal / error) of the frames both have, [N, -1]; None: one is missing, or they are equal."""
    if got is None or reference is None:
        return None
    frames = min(len(got), len(reference))
    wanted = reference[:frames].astype(np.float64)
    signal, error = float((wanted**2).sum()), float(((got[:frames] - wanted) ** 2).sum())
    return 10 * math.log10(signal / error) if signal and error else None


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
        hls4ml |= {"reason": without_folders(found.hls4ml.reason), "snr_db": found.hls4ml_snr_db}
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


def main() -> None:
    """Measure network by network, print; write the JSON anew after each."""
    parser = argparse.ArgumentParser(description="Networks: build, C-simulation and hls4ml, measured here.")
    parser.add_argument("designs", nargs="*", metavar="DESIGN", help=f"[{' '.join(NETWORKS)}]")
    parser.add_argument("--quick", action="store_true", help="measure with fewer frames")
    parser.add_argument("--no-hls4ml", action="store_true", help="leave hls4ml out")
    parser.add_argument("--json", type=Path, default=JSON, metavar="PATH", help=f"write JSON here [{JSON}]")
    arguments = parser.parse_args()
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
