"""hlsgen on a network, in a process of its own: loaded, built and C-simulated; networks.py starts it."""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from hls4ml_networks import flat
from network_findings import Built, Effort, Modelled, Simulated
from processes import Metered, cores, own_peak_mb

import hlsgen
from hlsgen.api.project import build
from hlsgen.base.errors import HlsgenError, MismatchError
from hlsgen.base.fixed import Codes
from hlsgen.csim.compiler import Headers, find_compiler
from hlsgen.csim.streaming import StreamingRun, simulate
from hlsgen.csim.verification import compare
from hlsgen.designfile.document import Document
from hlsgen.styles.network_style import MOST_FRAME_ELEMENTS
from hlsgen.styles.streaming import StreamingNetwork


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
        network = design.style
        assert isinstance(network, StreamingNetwork)
        loaded, cpu = time.perf_counter(), time.process_time()
        report = build(design, folder / "build", csim=False).report
        built = Built(
            framework_s=imported - start,
            load_s=loaded - imported,
            build_s=time.perf_counter() - loaded,
            build_cpu_s=time.process_time() - cpu,
            python_mb=own_peak_mb(),
        )
        note(built=asdict(built), modelled=asdict(_modelled(report)))
        note(simulated=asdict(_csim(network, folder, effort)))
    except HlsgenError as failure:
        note(reason=str(failure).split("\nfix:")[0].removeprefix("error: "))


def _import_framework(path: Path) -> None:
    """Imports what reads the model; PyTorch imports a part of itself when it exports the first module."""
    wanted = Document.read(path).data["model"]
    if "torch" in wanted:
        import torch

        hlsgen.from_torch(torch.nn.ReLU(), (1, 1, 1))
    elif "qkeras" in wanted:
        from hlsgen.frontends.qkeras.load import tensorflow_packages

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


def _csim(design: StreamingNetwork, folder: Path, effort: Effort) -> Simulated:
    """Compiles what was built, checks it on the samples and measures it. Raises HlsgenError."""
    compiler = Metered(find_compiler(), folder, "compiler")
    os.environ["CXX"] = str(compiler.script)
    executable = folder / "testbench"
    design.compiled(folder / "build", executable, Headers.FAST)
    assert compiler.use is not None
    inputs = design.sample_inputs()
    golden = design.golden_codes(inputs)
    (port, *_) = design.graph.inputs
    np.save(folder / "frames.npy", port.tensor.type.decode(inputs[port.name]))
    outputs = design.outputs_of(golden)
    shown = outputs if isinstance(outputs, list) else [outputs]
    np.save(folder / "outputs.npy", flat(shown))
    pipeline = design.hardware.pipeline
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
    count = cores()
    start = time.perf_counter()
    with ThreadPoolExecutor(max_workers=count) as pool:
        together = [
            pool.submit(simulate, pipeline, every.script, batch, folder, keep=False) for _ in range(count)
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
        all_rate=macs * count / wall,
        cores=count,
        frames=frames,
        checked=checked,
        build_mb=kept.use.peak_mb,
        batch_mb=max(one.use.peak_mb, every.use.peak_mb),
    )


def _checked(run: StreamingRun, golden: Mapping[str, Codes], tensors: Mapping[str, Any]) -> int:
    """How many results were compared. Raises MismatchError: one is not golden's."""
    for name, tensor in tensors.items():
        differing = compare(run.tensors[name], golden[name], tensor.type).mismatches
        if differing:
            raise MismatchError(f"error: {differing} results of {name} differ from golden")
    return sum(int(golden[name].size) for name in tensors)


def main() -> None:
    """network_worker.py DESIGN FOLDER; the effort, as JSON, comes from the standard input."""
    parser = argparse.ArgumentParser(description="Load, build and C-simulate a network; for networks.py.")
    parser.add_argument("design", type=Path)
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    _work(arguments.design, arguments.folder, Effort(**json.loads(sys.stdin.read())))


if __name__ == "__main__":
    main()
