"""Runs the network of this folder as StarPU tasks: make run, or python run.py --help.

libnetwork.so (tasks.cpp) submits the tasks; here is what computes them: a session of ONNX Runtime for each
part on CPUs, a kernel for each part on the FPGA. First every frame goes through once and is checked,
then as many requests as are wished are timed.

Without a card (--xclbin) a kernel is its C-simulation, whose time says nothing of an FPGA's. It runs while
frames are checked. Timed requests bring the same frames again: the worker that stands for the FPGA then waits
the modelled time of the kernel and gives what the C-simulation found. Such times are marked `stand-in`:
a task there takes some 0.1 ms at the least, however short the kernel's time is.
"""

from __future__ import annotations

import argparse
import csv
import ctypes
import json
import os
import sys
import time
import traceback
from pathlib import Path

import numpy as np
import onnxruntime

HERE = Path(__file__).resolve().parent
POLICIES = ("eager", "prio", "random", "ws", "lws", "dm", "dmda", "dmdar", "dmdas", "heteroprio")
COMPUTE = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.POINTER(ctypes.POINTER(ctypes.c_float))
)
FLOAT = ctypes.POINTER(ctypes.c_float)


class Row(ctypes.Structure):
    """A task that ran, as tasks.cpp has it: microseconds since the run began."""

    _fields_ = [(name, ctypes.c_int32) for name in ("request", "part", "worker", "on_fpga")]
    _fields_ += [(name, ctypes.c_double) for name in ("submitted", "begun", "ended")]


HOW = {
    "": "measured",
    "measured": "measured",
    "modelled": "of this machine with a stand-in for the kernel: no FPGA's speed",
    "emulated": "of this machine with an emulation of the kernel: no FPGA's speed",
}
"""What is said of requests a second, by where the time of kernels comes from."""
FUSED = 1e-4
"""Of the largest value: what ONNX Runtime's fusions may change in the answers of timed requests."""


class Session:
    """A part on a CPU: ONNX Runtime, which reads and writes where StarPU says, without copies.

    One thread computes a task, as a worker has one core; workers share the session and its weights.
    """

    def __init__(self, model: Path, reads: dict, gives: dict) -> None:
        self.model = str(model)
        self.open(fused=False)
        self.reads, self.gives = reads, gives

    def open(self, fused: bool) -> None:
        self.session = opened(self.model, fused)

    def __call__(self, tensors: list[np.ndarray]) -> None:
        binding = self.session.io_binding()
        for at, array in enumerate(tensors):
            if at < len(self.reads):
                name, bind = f"in_{list(self.reads)[at]}", binding.bind_input
            else:
                name, bind = f"out_{list(self.gives)[at - len(self.reads)]}", binding.bind_output
            bind(name, "cpu", 0, np.float32, array.shape, array.ctypes.data)
        self.session.run_with_iobinding(binding)


class Kernel:
    """A part on the FPGA: its build folder, on a card or in C-simulation. paced: see the top of this file.

    refusals: errors of hlsgen, which say what is wrong with the card or its xclbin.
    """

    refusals: tuple = ()

    def __init__(self, part: dict, reads: dict, gives: dict, xclbin: Path | None) -> None:
        from hlsgen.base.errors import HlsgenError
        from hlsgen.pipelining.computing import OnFpga
        from hlsgen.pipelining.part import Input

        Kernel.refusals = (HlsgenError,)
        inputs = [Input(part["name"], name, shape, part["types"][name]) for name, shape in reads.items()]
        try:
            self.compute = OnFpga(HERE / part["folder"] / "build", inputs, part["shown"], xclbin)
        except HlsgenError as error:
            sys.exit(str(error))
        self.is_fpga = self.compute.runtime.backend.fpga  # and no emulation
        self.reads, self.gives = list(reads), list(gives)
        self.seconds = part["fpga_us"] * 1e-6
        self.is_card = xclbin is not None
        self.paced = False
        self.known: dict[tuple[bytes, ...], list[np.ndarray]] = {}

    def __call__(self, tensors: list[np.ndarray]) -> None:
        begun = time.perf_counter()
        given = tensors[: len(self.reads)]
        key = tuple(array.tobytes() for array in given)
        if self.is_card or key not in self.known:
            found = self.compute(dict(zip(self.reads, given, strict=True)))
            self.known[key] = [np.asarray(found[name], np.float32) for name in self.gives]
        for place, result in zip(tensors[len(self.reads) :], self.known[key], strict=True):
            place[...] = result
        if self.is_card:
            self.known.clear()
        elif self.paced:
            time.sleep(max(0.0, self.seconds - (time.perf_counter() - begun)))


class Network:
    """The parts at work in StarPU. `run` takes frames by input and gives results by output."""

    def __init__(self, about: dict, policy: str | None, cpus: int, xclbin: Path | None) -> None:
        self.about = about
        self.shapes = {name: (1, *shape) for name, shape in about["tensors"].items()}
        self.order = list(about["tensors"])
        self.cpu, self.fpga = {}, {}
        for at, part in enumerate(about["parts"]):
            reads, gives = self._shapes(part["reads"]), self._shapes(part["gives"])
            if part["on_cpu"]:
                self.cpu[at] = Session(HERE / part["folder"] / "model.onnx", reads, gives)
            if part["on_fpga"]:
                self.fpga[at] = Kernel(part, reads, gives, xclbin)
        self.error = ""
        self.callback = COMPUTE(self._compute)  # kept: C++ calls it as long as the network runs
        self.library = ctypes.CDLL(str(HERE / "libnetwork.so"))
        self.library.network_run.restype = ctypes.c_double
        self.library.network_pinned.restype = FLOAT
        self.library.network_pinned.argtypes = [ctypes.c_size_t]
        self.library.network_release.argtypes = [FLOAT, ctypes.c_size_t]
        wanted = policy.encode() if policy else None
        status = self.library.network_start(wanted, cpus, bool(self.fpga), self.callback)
        if status:
            workers = cpus + bool(self.fpga)
            sys.exit(f"StarPU does not start with {workers} workers on {os.cpu_count()} cores: fewer --cpus")
        self.pinned: list[tuple[object, int]] = []

    def _shapes(self, names: list[str]) -> dict[str, tuple[int, ...]]:
        return {name: self.shapes[name] for name in names}

    def _compute(self, part: int, on_fpga: int, worker: int, places: object) -> int:
        """A task, in the thread of StarPU's worker."""
        try:
            saved = self.about["parts"][part]
            names = saved["reads"] + saved["gives"]
            arrays = [np.ctypeslib.as_array(places[at], self.shapes[name]) for at, name in enumerate(names)]
            (self.fpga if on_fpga else self.cpu)[part](arrays)
        except Exception as error:
            self.error = str(error) if isinstance(error, Kernel.refusals) else traceback.format_exc()
            return 1
        return 0

    def _buffer(self, name: str) -> np.ndarray:
        """Pinned memory for a tensor of one frame."""
        size = 4 * int(np.prod(self.shapes[name]))
        place = self.library.network_pinned(size)
        if not place:
            sys.exit(f"StarPU has no {size} bytes of pinned memory")
        self.pinned.append((place, size))
        return np.ctypeslib.as_array(place, self.shapes[name])

    def run(self, frames: dict, requests: int) -> tuple[dict, list[Row], float]:
        """Results by output, rows of the trace, seconds. Request r brings frame r modulo their number."""
        count = len(next(iter(frames.values())))
        given = [[self._buffer(name) for name in self.about["inputs"]] for _ in range(min(count, requests))]
        for at, buffers in enumerate(given):
            for name, buffer in zip(self.about["inputs"], buffers, strict=True):
                buffer[...] = frames[name][at]
        found = [[self._buffer(name) for name in self.about["outputs"]] for _ in range(requests)]
        rows = (Row * (requests * len(self.about["parts"])))()
        inputs = [array for at in range(requests) for array in given[at % count]]
        took = self.library.network_run(
            requests, _places(inputs), _places([array for one in found for array in one]), rows
        )
        if took < 0:
            sys.exit(self.error or "StarPU refused a task")
        outputs = {
            name: np.concatenate([one[at] for one in found]) for at, name in enumerate(self.about["outputs"])
        }
        for place, size in self.pinned:
            self.library.network_release(place, size)
        self.pinned.clear()
        return outputs, list(rows), took * 1e-6

    def close(self) -> None:
        self.library.network_stop()
        for kernel in self.fpga.values():
            kernel.compute.close()


def _places(arrays: list[np.ndarray]) -> object:
    return (FLOAT * len(arrays))(*(array.ctypes.data_as(FLOAT) for array in arrays))


def opened(model: str, fused: bool) -> onnxruntime.InferenceSession:
    """A session of one thread. fused: with ONNX Runtime's own fusions and layouts, which change with what
    surrounds a layer, and with them the last bits of sums.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    if not fused:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def whole(about: dict, frames: dict) -> dict:
    """What the whole network gives in ONNX Runtime, frame by frame, without fusions."""
    session = opened(str(HERE / "whole.onnx"), fused=False)
    names = [f"out_{name}" for name in about["outputs"]]
    count = len(next(iter(frames.values())))
    rows = [
        session.run(names, {f"in_{name}": array[at : at + 1] for name, array in frames.items()})
        for at in range(count)
    ]
    return {name: np.concatenate([row[at] for row in rows]) for at, name in enumerate(about["outputs"])}


def check(network: Network, frames: dict) -> dict:
    """Every frame once. Ends the program where an answer is wrong; says what was compared."""
    count = len(next(iter(frames.values())))
    found, _, _ = network.run(frames, count)
    told = {"frames": count}
    for at, kernel in network.fpga.items():
        told[f"golden_{network.about['parts'][at]['name']}"] = _equals_golden(network, at, kernel)
    wanted = whole(network.about, frames)
    exact = all(np.array_equal(found[name], wanted[name]) for name in wanted)
    told["equal_to_whole"] = exact
    told["largest_difference"] = max(float(np.abs(found[name] - wanted[name]).max()) for name in wanted)
    told["largest_value"] = max(float(np.abs(array).max()) for array in wanted.values())
    if network.about["exact"] and not exact:
        far = told["largest_difference"]
        sys.exit(f"answers differ from the whole network in ONNX Runtime by up to {far:g}")
    for session in network.cpu.values():
        session.open(fused=True)
    timed, _, _ = network.run(frames, count)
    told["largest_change_by_fusions"] = max(float(np.abs(timed[name] - found[name]).max()) for name in found)
    if told["largest_change_by_fusions"] > FUSED * told["largest_value"]:
        sys.exit(f"ONNX Runtime's fusions change answers by up to {told['largest_change_by_fusions']:g}")
    return told


def _equals_golden(network: Network, at: int, kernel: Kernel) -> int:
    """The frames on which a kernel, and the CPUs if they compute its part too, give what golden gives."""
    part = network.about["parts"][at]
    folder = HERE / part["folder"]
    given = [np.load(folder / f"golden_in_{number}.npy") for number in range(len(part["reads"]))]
    wanted = [np.load(folder / f"golden_out_{number}.npy") for number in range(len(part["gives"]))]
    for frame in range(len(given[0])):
        places = [array[frame : frame + 1].copy() for array in given]
        places += [np.empty((1, *array.shape[1:]), np.float32) for array in wanted]
        for how, compute in (("kernel gives", kernel), ("CPUs give", network.cpu.get(at))):
            if compute is None:
                continue
            compute(places)
            pairs = zip(places[len(given) :], wanted, strict=True)
            if not all(np.array_equal(one, other[frame : frame + 1]) for one, other in pairs):
                sys.exit(f"part {part['name']}: what the {how} for frame {frame} differs from golden")
    return len(given[0])


def fpga_time(kernels: list[Kernel]) -> str:
    """Where kernels' time comes from: measured on a card, emulated or modelled; empty: there are none."""
    if not kernels:
        return ""
    if not all(kernel.is_card for kernel in kernels):
        return "modelled"
    return "measured" if all(kernel.is_fpga for kernel in kernels) else "emulated"


def write_trace(path: Path, about: dict, rows: list[Row], fpga: str) -> None:
    """A line for each task. fpga: as of `fpga_time`; what is modelled is waited for by a stand-in."""
    with path.open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["request", "part", "worker", "on", "time", "submitted_us", "begun_us", "ended_us"])
        for row in sorted(rows, key=lambda row: row.begun):
            on = "fpga" if row.on_fpga else "cpu"
            kind = {"modelled": "stand-in"}.get(fpga, fpga) if row.on_fpga else "measured"
            times = [f"{value:.1f}" for value in (row.submitted, row.begun, row.ended)]
            lines.writerow([row.request, about["parts"][row.part]["name"], row.worker, on, kind, *times])


def draw(path: Path, about: dict, rows: list[Row], title: str) -> None:
    """Workers over time, a colour for each part."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(11, 1.2 + 0.6 * len({row.worker for row in rows})))
    fpga = {row.worker for row in rows if row.on_fpga}
    workers = sorted({row.worker for row in rows})
    for at, part in enumerate(about["parts"]):
        mine = [row for row in rows if row.part == at]
        axes.barh(
            [workers.index(row.worker) for row in mine],
            [(row.ended - row.begun) * 1e-3 for row in mine],
            left=[row.begun * 1e-3 for row in mine],
            color=f"C{at % 10}",
            edgecolor="white",
            linewidth=0.3,
            label=part["name"],
        )
    axes.set_yticks(range(len(workers)), [f"{'FPGA' if one in fpga else 'CPU'} {one}" for one in workers])
    axes.set_xlabel("ms")
    axes.set_title(title)
    axes.legend(ncols=10, fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.25))
    figure.savefig(path, bbox_inches="tight")


def figures(about: dict, rows: list[Row], requests: int, seconds: float) -> dict:
    """Requests a second and, of each part, how often it ran where and how long a task took in the median."""
    parts = {}
    for at, part in enumerate(about["parts"]):
        own = {}
        for on_fpga, name in ((0, "cpu"), (1, "fpga")):
            took = [row.ended - row.begun for row in rows if row.part == at and row.on_fpga == on_fpga]
            if took:
                own[name] = {"tasks": len(took), "median_us": round(float(np.median(took)), 1)}
                if on_fpga:
                    own[name]["modelled_us"] = part["fpga_us"]
        parts[part["name"]] = own
    return {"requests": requests, "seconds": seconds, "requests_per_s": requests / seconds, "parts": parts}


def main() -> None:
    about = json.loads((HERE / "network.json").read_text())
    parser = argparse.ArgumentParser(description=f"{about['name']} as StarPU tasks")
    parser.add_argument("--requests", type=int, default=64, help="timed requests [64]")
    parser.add_argument("--policy", help=f"of StarPU: {', '.join(POLICIES)}, ... [STARPU_SCHED, or lws]")
    parser.add_argument("--cpus", type=int, default=about["cpus"], help="CPU workers [%(default)s]")
    parser.add_argument("--xclbin", type=Path, help="for the card: linked of every FPGA part's kernels")
    parser.add_argument("--gantt", type=Path, metavar="FILE.png", help="draws when tasks ran (matplotlib)")
    given = parser.parse_args()
    if given.requests < 1 or given.cpus < 0:
        parser.error("--requests takes 1 or more, --cpus 0 or more")
    if given.cpus == 0 and not all(part["on_fpga"] for part in about["parts"]):
        parser.error("--cpus 0: some parts run on CPUs alone")
    os.environ.setdefault("STARPU_HOME", str(HERE / "starpu"))
    frames = {name: np.load(HERE / f"frames_{at}.npy") for at, name in enumerate(about["inputs"])}
    network = Network(about, given.policy, given.cpus, given.xclbin)
    told = {"checked": check(network, frames)}
    for kernel in network.fpga.values():
        kernel.paced = True
    network.run(frames, min(given.requests, 16))  # the first tasks fill StarPU's performance models
    _, rows, seconds = network.run(frames, given.requests)
    policy = given.policy or os.environ.get("STARPU_SCHED") or "lws"
    fpga = fpga_time(list(network.fpga.values()))
    told |= {"policy": policy, "cpus": given.cpus, "fpga_time": fpga}
    told |= figures(about, rows, given.requests, seconds)
    network.close()
    write_trace(HERE / "trace.csv", about, rows, fpga)
    (HERE / "figures.json").write_text(json.dumps(told, indent=1) + "\n")
    if given.gantt:
        how = HOW[fpga].removeprefix("of this machine with ")
        draw(given.gantt, about, rows, f"{about['name']}, {policy}: {how}")
    report(told)


def report(told: dict) -> None:
    checked = told["checked"]
    if checked["equal_to_whole"]:
        print(f"{checked['frames']} frames: equal to the whole network in ONNX Runtime in every bit")
    else:
        print(
            f"{checked['frames']} frames: up to {checked['largest_difference']:.3g} from the whole network "
            f"in ONNX Runtime, whose values reach {checked['largest_value']:.3g}: the FPGA has fixed point"
        )
    for name, count in checked.items():
        if name.startswith("golden_"):
            print(f"part {name.removeprefix('golden_')}: equal to golden on {count} frames")
    print(
        f"{told['policy']}: {told['requests']} requests in {told['seconds']:.3f} s, "
        f"{told['requests_per_s']:.1f} requests/s ({HOW[told['fpga_time']]})"
    )
    for name, places in told["parts"].items():
        for place, one in places.items():
            kind = "measured"
            if place == "fpga" and told["fpga_time"] != "measured":
                who = "stand-in" if told["fpga_time"] == "modelled" else "emulation"
                kind = f"of the {who}; the kernel as modelled: {one['modelled_us']:.1f} us"
            print(f"  {name} on {place}: {one['tasks']} tasks, median {one['median_us']:.1f} us ({kind})")


if __name__ == "__main__":
    main()
