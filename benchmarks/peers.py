"""What others reach on the layer of figure 3.8, measured on this machine in one run, and the figure itself.

The layer: 16 channels of 64 x 64, 16 output channels, 3 x 3, no padding, with bias. Three peers: listing 3.1
as straight C++ on one core, PyTorch on all cores (both float32), and the C simulation of hls4ml in
fixed<16,6>. Nothing here asserts on time; every result is compared with a float64 convolution, and a wrong
one is no measurement. A multiply-accumulate counts as two operations; the bias is not counted.

And hls4ml on whole networks, for networks.py, with the means to say what a program took that another started.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from hlsgen.fixed import FixedType

if TYPE_CHECKING:
    import torch

Floats = NDArray[np.floating[Any]]

CHANNELS, HEIGHT, WIDTH = 16, 64, 64
FILTERS, KERNEL = 16, 3
OUT_HEIGHT, OUT_WIDTH = HEIGHT - KERNEL + 1, WIDTH - KERNEL + 1
MACS = FILTERS * OUT_HEIGHT * OUT_WIDTH * CHANNELS * KERNEL * KERNEL
"""Multiply-accumulates of one frame."""
REPEATS = 5
"""Timed repeats after a warm-up; the best one counts."""
HLS4ML_TYPE = FixedType(16, 6)
CPP_TIMEOUT, HLS4ML_TIMEOUT = 300.0, 900.0
"""Seconds until a subprocess is ended."""
HLS4ML_MEMORY = 8 << 30
"""Bytes of address space that each process of hls4ml's gets for a network."""


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """One number measured here: `value` in `unit`, from `seconds` of computing `frames` frames.

    `detail` says how it was measured and holds what else was measured on the way.
    """

    what: str
    value: float
    unit: str
    seconds: float
    frames: int
    detail: dict[str, float | int | str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Missing:
    """A number that could not be measured here, and why."""

    what: str
    reason: str


# ---------------------------------------------------------------- the problem


def layer_data(frames: int) -> tuple[Floats, Floats, Floats]:
    """(weights [M, C, K, K], bias [M], x [frames, C, H, W]) in float32: He-scaled weights, uniform input."""
    generator = np.random.default_rng(0)
    fan_in = CHANNELS * KERNEL * KERNEL
    weights = generator.normal(0.0, np.sqrt(2 / fan_in), (FILTERS, CHANNELS, KERNEL, KERNEL))
    bias = generator.uniform(-0.5, 0.5, FILTERS)
    x = generator.uniform(-1.0, 1.0, (frames, CHANNELS, HEIGHT, WIDTH))
    return weights.astype(np.float32), bias.astype(np.float32), x.astype(np.float32)


def convolution(weights: Floats, bias: Floats, x: Floats) -> NDArray[np.float64]:
    """The reference: float64, by einsum over windows. [N, C, H, W] -> [N, M, H - K + 1, W - K + 1]."""
    windows = np.lib.stride_tricks.sliding_window_view(x.astype(np.float64), weights.shape[2:], axis=(2, 3))
    sums = np.einsum("nchwij,mcij->nmhw", windows, weights.astype(np.float64), optimize=True)
    total: NDArray[np.float64] = sums + bias.astype(np.float64)[:, None, None]
    return total


def largest_difference(result: Floats, reference: Floats) -> float:
    """max |result - reference|; infinite if anything in `result` is NaN."""
    return float(np.nan_to_num(np.abs(result.astype(np.float64) - reference), nan=np.inf).max())


FLOAT_TOLERANCE = 1e-4
"""Above the rounding of a float32 sum of 145 terms of this size, far below what a wrong algorithm gives."""


def _float_peer(
    what: str, frames: int, seconds: float, error: float, detail: dict[str, float | int | str]
) -> Measurement | Missing:
    """The measurement of a float32 peer, or Missing if what it computed is not the convolution."""
    if error > FLOAT_TOLERANCE:
        return Missing(what=what, reason=f"its result is wrong by {error:.3g}")
    return Measurement(
        what=what,
        value=_gflops(frames, seconds),
        unit="GFLOPS",
        seconds=seconds,
        frames=frames,
        detail={**detail, "max error of frame 0": error},
    )


def _gflops(frames: int, seconds: float) -> float:
    return 2 * MACS * frames / seconds / 1e9


# ---------------------------------------------------------------- straight C++

NAIVE_CPP = """\
// Listing 3.1 as it stands: one core, float, sizes known only at run time.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

__attribute__((noinline)) void conv2d(int batch, const float *input, int in_channels, int in_h, int in_w,
                                      const float *kernel, int k_h, int k_w, float *output, int out_channels,
                                      const float *bias) {
    const int out_h = in_h - k_h + 1, out_w = in_w - k_w + 1;
    for (int im = 0; im < batch; ++im)
        for (int oc = 0; oc < out_channels; ++oc)
            for (int h = 0; h < out_h; ++h)
                for (int w = 0; w < out_w; ++w) {
                    float &result = output[((im * out_channels + oc) * out_h + h) * out_w + w];
                    result = bias[oc];
                    for (int ic = 0; ic < in_channels; ++ic)
                        for (int y = 0; y < k_h; ++y)
                            for (int x = 0; x < k_w; ++x)
                                result += input[((im * in_channels + ic) * in_h + h + y) * in_w + w + x] *
                                          kernel[((oc * in_channels + ic) * k_h + y) * k_w + x];
                }
}

static std::vector<float> read(const char *path, std::size_t count) {
    std::vector<float> values(count);
    std::FILE *file = std::fopen(path, "rb");
    if (!file || std::fread(values.data(), sizeof(float), count, file) != count) std::exit(2);
    std::fclose(file);
    return values;
}

int main(int argc, char **argv) {
    if (argc != 8) return 2;
    const int frames = std::atoi(argv[1]), channels = std::atoi(argv[2]), height = std::atoi(argv[3]);
    const int width = std::atoi(argv[4]), filters = std::atoi(argv[5]), k = std::atoi(argv[6]);
    const int repeats = std::atoi(argv[7]);
    const auto input = read("input", std::size_t(frames) * channels * height * width);
    const auto kernel = read("kernel", std::size_t(filters) * channels * k * k);
    const auto bias = read("bias", filters);
    std::vector<float> output(std::size_t(frames) * filters * (height - k + 1) * (width - k + 1));
    for (int repeat = 0; repeat < repeats; ++repeat) {
        const auto start = std::chrono::steady_clock::now();
        conv2d(frames, input.data(), channels, height, width, kernel.data(), k, k, output.data(), filters,
               bias.data());
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
        std::printf("%.9f\\n", taken.count());
    }
    std::FILE *file = std::fopen("output", "wb");
    if (!file || std::fwrite(output.data(), sizeof(float), output.size(), file) != output.size()) return 2;
    return std::fclose(file) ? 2 : 0;
}
"""


def naive_cpp(frames: int) -> Measurement | Missing:
    """GFLOPS of listing 3.1 in C++, g++ -O2, one core: the best of three passes over `frames` frames."""
    what = "CPU naive (listing 3.1 in C++, 1 core)"
    weights, bias, x = layer_data(frames)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "naive.cpp").write_text(NAIVE_CPP, encoding="utf-8")
        for file, array in (("input", x), ("kernel", weights), ("bias", bias)):
            array.tofile(folder / file)
        sizes = (frames, CHANNELS, HEIGHT, WIDTH, FILTERS, KERNEL, 3)
        try:
            _run(["g++", "-O2", "-o", "naive", "naive.cpp"], folder, CPP_TIMEOUT)
            log = _run(["./naive", *map(str, sizes)], folder, CPP_TIMEOUT)
        except Failed as failure:
            return Missing(what=what, reason=str(failure))
        result = np.fromfile(folder / "output", np.float32)
    seconds = min(float(line) for line in log.split())
    reference = convolution(weights, bias, x[:1])
    error = largest_difference(result.reshape(frames, *reference.shape[1:])[:1], reference)
    detail: dict[str, float | int | str] = {
        "compiler": first_line(["g++", "--version"]),
        "flags": "-O2",
        "cores": 1,
        "repeats": 3,
    }
    return _float_peer(what, frames, seconds, error, detail)


# ---------------------------------------------------------------- PyTorch


def pytorch(frames: int) -> Measurement | Missing:
    """GFLOPS of torch's conv2d in float32 on all cores: warmed up, the best of REPEATS."""
    threads = cores()
    what = f"PyTorch (CPU, {threads} {'core' if threads == 1 else 'cores'})"
    try:
        import torch
    except ImportError as failure:
        return Missing(what=what, reason=f"torch cannot be imported: {failure}")
    weights, bias, x = layer_data(frames)
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        with torch.inference_mode():
            image, kernel, offset = (torch.from_numpy(array) for array in (x, weights, bias))
            seconds, result = _best(lambda: torch.nn.functional.conv2d(image, kernel, offset), REPEATS)
    finally:
        torch.set_num_threads(before)
    detail: dict[str, float | int | str] = {
        "torch": str(torch.__version__),
        "threads": threads,
        "repeats": REPEATS,
    }
    error = largest_difference(result[:1].numpy(), convolution(weights, bias, x[:1]))
    return _float_peer(what, frames, seconds, error, detail)


def _best(work: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """The shortest of `repeats` runs after two that warm up, in seconds, and the last result."""
    result = [work() for _ in range(2)][-1]
    taken = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        taken.append(time.perf_counter() - start)
    return min(taken), result


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# ---------------------------------------------------------------- hls4ml


def hls4ml_csim(weights: Floats, bias: Floats, x: Floats) -> Measurement | Missing:
    """Multiply-accumulates per second and core of hls4ml's C simulation, io_stream, fixed<16,6> throughout.

    weights [M, C, K, K], bias [M], x [N, C, H, W]. The model goes in as a PyTorch module; hls4ml's data are
    channels last, so x is transposed before and the result after. `detail` has the compile time, the largest
    error against the float64 convolution of the same values truncated to fixed<16,6>, and the most that
    truncating each product to fixed<16,6>, as this model does, may cost. Missing if the error is larger than
    that, if a step fails or if it takes longer than HLS4ML_TIMEOUT.
    """
    what = "hls4ml C simulation (io_stream, fixed<16,6>)"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.savez(folder / "problem.npz", weights=weights, bias=bias, x=x)
        try:
            _run(_worker("hls4ml-worker", folder), folder, HLS4ML_TIMEOUT, _environment())
        except Failed as failure:
            return Missing(what=what, reason=str(failure))
        figures = json.loads((folder / "figures.json").read_text(encoding="utf-8"))
        result = np.load(folder / "result.npy", allow_pickle=False)
    given = [HLS4ML_TYPE.decode(HLS4ML_TYPE.encode(array)) for array in (weights, bias, x)]
    reference = convolution(*given)
    error = largest_difference(result, reference)
    # each product is truncated once, and the values given were truncated before
    bound = weights[0].size * HLS4ML_TYPE.resolution
    if error > bound:
        return Missing(what=what, reason=f"its result is wrong by {error:.3g}, rounding explains {bound:.3g}")
    figures |= {
        "max error": error,
        "max error explained": bound,
        "max output": float(np.abs(reference).max()),
    }
    macs = reference.size * weights[0].size
    return Measurement(
        what=what,
        value=macs / figures["predict CPU s"],
        unit="MAC/s per core",
        seconds=figures["predict wall s"],
        frames=x.shape[0],
        detail=figures,
    )


def _worker(*arguments: object) -> list[str]:
    """The command that runs a worker of this file."""
    return [sys.executable, str(Path(__file__).resolve()), *map(str, arguments)]


def _environment(**changes: str) -> dict[str, str]:
    """This process's environment for a worker, which finds the same modules."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path), **changes}


def _hls4ml_worker(folder: Path) -> None:
    """Convert, compile and predict in `folder`; write result.npy [N, M, OH, OW] and figures.json there."""
    import hls4ml  # type: ignore[import-untyped,unused-ignore]
    import torch

    problem = np.load(folder / "problem.npz", allow_pickle=False)
    weights, bias, x = (problem[key] for key in ("weights", "bias", "x"))
    filters, channels, *kernel = weights.shape
    layer = torch.nn.Conv2d(channels, filters, tuple(kernel))
    assert layer.bias is not None
    with torch.no_grad():
        layer.weight.copy_(torch.from_numpy(weights))
        layer.bias.copy_(torch.from_numpy(bias))
    module = torch.nn.Sequential(layer).eval()
    start = time.perf_counter()
    config = hls4ml.utils.config_from_pytorch_model(
        module,
        input_shape=x.shape[1:],
        default_precision=f"ap_{HLS4ML_TYPE}",
        # io_stream cannot transpose: the weights are converted, the input is ours to transpose.
        channels_last_conversion="internal",
        transpose_outputs=False,
        backend="Vitis",
    )
    model = hls4ml.converters.convert_from_pytorch_model(
        module,
        hls_config=config,
        io_type="io_stream",
        backend="Vitis",
        output_dir=str(folder / "project"),
        project_name="peer",
    )
    converted = time.perf_counter() - start
    wall, cpu = time.perf_counter(), children_cpu()
    model.compile()
    wall, cpu = time.perf_counter() - wall, children_cpu() - cpu
    last = np.ascontiguousarray(x.transpose(0, 2, 3, 1), dtype=np.float32)
    start, own = time.perf_counter(), time.process_time()
    out = np.asarray(model.predict(last))
    taken, own = time.perf_counter() - start, time.process_time() - own
    rows, columns = x.shape[2] - kernel[0] + 1, x.shape[3] - kernel[1] + 1
    result = out.reshape(x.shape[0], rows, columns, filters).transpose(0, 3, 1, 2)
    np.save(folder / "result.npy", result)
    figures = {
        "hls4ml": hls4ml.__version__,
        "precision": str(HLS4ML_TYPE),
        "strategy": str(config["Model"].get("Strategy", "default")),
        "convert wall s": converted,
        "compile wall s": wall,
        "compile CPU s": cpu,
        "predict wall s": taken,
        "predict CPU s": own,
    }
    (folder / "figures.json").write_text(json.dumps(figures), encoding="utf-8")


def children_cpu() -> float:
    """CPU seconds of all ended child processes."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


# ---------------------------------------------------------------- hls4ml on a network


@dataclass(frozen=True, kw_only=True)
class Hls4mlNetwork:
    """What was measured of hls4ml on a network, None where it did not come so far; then `reason` says why.

    convert_s: wall, reading the model. write_s: wall, writing the project (compiling apart). compiler: of all
    its processes. rate: multiply-accumulates a second of predict(), by its CPU time. peak_mb: of the process
    that converts and predicts, with its frameworks. outputs [N, -1]: what it gives for the sample frames;
    reference: what the PyTorch module gives for them. respelled: modules it refuses and what stood for them.
    """

    version: str | None = None
    respelled: str | None = None
    convert_s: float | None = None
    write_s: float | None = None
    compiler: Use | None = None
    rate: float | None = None
    frames: int | None = None
    peak_mb: float | None = None
    outputs: Floats | None = None
    reference: Floats | None = None
    reason: str | None = None


def hls4ml_network(design: Path, macs: int, x: Floats, frames: int, seconds: float) -> Hls4mlNetwork:
    """hls4ml (PyTorch frontend, Vitis backend, io_stream, fixed<16,6>) on the network of a design file.

    macs: of a frame. x [N, C, H, W]: sample frames; predict() gets them over and over as `frames` frames.
    seconds: it is stopped after so many; each of its processes gets HLS4ML_MEMORY of address space.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "bin").mkdir()
        # its build script calls the compiler by this name
        compiler = Metered(shutil.which("g++") or "g++", folder / "bin", "g++")
        path = os.pathsep.join([str(folder / "bin"), os.environ.get("PATH", os.defpath)])
        np.save(folder / "x.npy", x)
        found: dict[str, Any] = {"doing": "start"}
        reason = None
        command = _worker("hls4ml-network-worker", folder, design.resolve(), frames)
        try:
            _run(command, folder, seconds, _environment(PATH=path, TF_CPP_MIN_LOG_LEVEL="3"))
        except TookTooLong:
            reason = f"stopped after {seconds:g} s"
        except Failed as failure:
            reason = _said(str(failure))
        if (folder / "found.json").exists():
            found = json.loads((folder / "found.json").read_text(encoding="utf-8"))
        doing, predict_s = found.pop("doing"), found.pop("predict_s", None)
        raised = found.pop("reason", None)
        reason = f"{doing}: {raised or reason}" if raised or reason else None
        arrays = {
            key: np.load(folder / f"{key}.npy") if (folder / f"{key}.npy").exists() else None
            for key in ("outputs", "reference")
        }
        compile_s, use = found.pop("compile_s", None), compiler.use
    compiled = compile_s is not None and use is not None
    return Hls4mlNetwork(
        **found,
        **arrays,
        write_s=compile_s - use.wall_s if compiled else None,
        compiler=use if compiled else None,  # of a compilation that did not end, it would be a part
        rate=macs * frames / predict_s if predict_s else None,
        frames=frames if predict_s else None,
        reason=reason,
    )


def _said(failure: str) -> str:
    """An assertion of hls4ml's C++ without the template arguments of its function."""
    found = re.search(r"(\w+\.h):\d+: .*(Assertion .* failed)", failure)
    return f"{found[1]}: {found[2]}" if found else failure


def _hls4ml_network_worker(folder: Path, design: Path, frames: int) -> None:
    """Convert, compile and predict; found.json says how far it came, whatever becomes of this process."""
    resource.setrlimit(resource.RLIMIT_AS, (HLS4ML_MEMORY, resource.RLIM_INFINITY))
    found: dict[str, Any] = {}

    def note(**more: Any) -> None:
        found.update(more)
        (folder / "found.json").write_text(json.dumps(found), encoding="utf-8")

    try:
        _hls4ml_steps(folder, design, frames, note)
    except (Exception, SystemExit) as error:
        lines = str(error).strip().splitlines()
        note(reason=lines[0] if lines else type(error).__name__, peak_mb=own_peak_mb())


def _hls4ml_steps(folder: Path, design: Path, frames: int, note: Callable[..., None]) -> None:
    note(doing="load")
    import torch

    module = torch_form(design)
    x = np.load(folder / "x.npy").astype(np.float32)
    with torch.inference_mode():
        results = module(torch.from_numpy(x))
    references = [one.numpy() for one in (results if isinstance(results, tuple | list) else [results])]
    np.save(folder / "reference.npy", flat(references))
    import hls4ml  # type: ignore[import-untyped,unused-ignore]

    with contextlib.suppress(ImportError):
        import keras  # noqa: F401  # hls4ml would when it writes the project, where it is installed

    note(doing="convert", version=hls4ml.__version__)
    start = time.perf_counter()
    try:
        model = _hls4ml_model(module, x.shape[1:], folder / "project")
    except Exception:
        changes = respelled(module, x[:1])
        if not changes:
            raise
        note(respelled=changes)
        model = _hls4ml_model(module, x.shape[1:], folder / "project")
    note(doing="compile", convert_s=time.perf_counter() - start)
    start = time.perf_counter()
    model.compile()
    note(doing="predict", compile_s=time.perf_counter() - start)
    last = np.ascontiguousarray(np.moveaxis(x, 1, -1))
    batch = last[np.arange(frames) % len(last)]
    own = time.process_time()
    predicted = model.predict(batch)
    note(predict_s=time.process_time() - own, peak_mb=own_peak_mb())
    outputs = [np.asarray(one) for one in (predicted if isinstance(predicted, list) else [predicted])]
    shown = min(frames, len(x))
    placed = []
    for one, wanted in zip(outputs, references, strict=True):
        channels, *pixels = wanted.shape[1:]
        placed.append(np.moveaxis(one.reshape(frames, *pixels, channels)[:shown], -1, 1))
    np.save(folder / "outputs.npy", flat(placed))


def flat(arrays: Sequence[Floats]) -> Floats:
    """All outputs of a frame as one row: [N, ...] each -> [N, -1]."""
    return np.concatenate([array.reshape(len(array), -1) for array in arrays], axis=1)


def _hls4ml_model(module: torch.nn.Module, shape: tuple[int, ...], project: Path) -> Any:
    """hls4ml's model of a module that takes [N, *shape]; what it raises is its own."""
    import hls4ml

    config = hls4ml.utils.config_from_pytorch_model(
        module,
        input_shape=shape,
        default_precision=f"ap_{HLS4ML_TYPE}",
        channels_last_conversion="internal",
        transpose_outputs=False,
        backend="Vitis",
    )
    return hls4ml.converters.convert_from_pytorch_model(
        module,
        hls_config=config,
        io_type="io_stream",
        backend="Vitis",
        output_dir=str(project),
        project_name="peer",
    )


def torch_form(design: Path) -> torch.nn.Module:
    """The network of a design file as a PyTorch module; RAIDER's is made from the weights of its QKeras file.

    hls4ml cannot read QKeras models beside Keras 3. Raises ValueError: another network that is no PyTorch.
    """
    from hlsgen.document import Document
    from hlsgen.frontends.torch import load_module
    from hlsgen.model_schema import ModelFile

    document = Document.read(design)
    file = document.validate(ModelFile)
    if file.model.torch is not None:
        weights = document.beside(file.model.weights) if file.model.weights else None
        return load_module(document.beside(file.model.torch.path), file.model.torch.function, weights)
    if file.model.qkeras is not None and file.name == "raider":
        return _raider(document.beside(file.model.qkeras))
    raise ValueError("there is no PyTorch form of this network")


def _raider(path: Path) -> torch.nn.Module:
    """The RAIDER network in floating point, channels first: without the limits of its activations' types."""
    import h5py
    import torch
    from torch import nn

    net = nn.Sequential(
        OrderedDict(
            conv1=nn.Conv2d(1, 8, 3, padding=1),
            relu1=nn.ReLU(),
            pool1=nn.MaxPool2d(2),
            conv2=nn.Conv2d(8, 8, 3, padding=1),
            relu2=nn.ReLU(),
            pool2=nn.MaxPool2d(2),
            flatten=nn.Flatten(),
            dense1=nn.Linear(8 * 4 * 4, 16),
            relu3=nn.ReLU(),
            dense2=nn.Linear(16, 4),
        )
    )
    state = {}
    with h5py.File(path) as file:
        for name in ("conv1", "conv2", "dense1", "dense2"):
            group = file["model_weights"][name][name]
            kernel, bias = np.asarray(group["kernel:0"]), np.asarray(group["bias:0"])
            if name == "dense1":  # Keras flattens [4, 4, channels], PyTorch [channels, 4, 4]
                kernel = kernel.reshape(4, 4, 8, -1).transpose(2, 0, 1, 3).reshape(kernel.shape)
            weights = kernel.transpose(3, 2, 0, 1) if kernel.ndim == 4 else kernel.T
            state[f"{name}.weight"] = torch.from_numpy(weights.copy())
            state[f"{name}.bias"] = torch.from_numpy(bias)
    net.load_state_dict(state)
    return net.eval()


def respelled(module: torch.nn.Module, x: Floats) -> str:
    """Puts modules that hls4ml knows in place of equal ones that it does not, and says which.

    An adaptive average over the whole picture is an average of its size, a zero padding a constant one.
    """
    import torch

    sizes: dict[torch.nn.Module, tuple[int, int]] = {}

    def note_size(one: torch.nn.Module, given: Any) -> None:
        sizes[one] = tuple(given[0].shape[2:])

    wholes = [
        one
        for one in module.modules()
        if isinstance(one, torch.nn.AdaptiveAvgPool2d) and one.output_size in (1, (1, 1))
    ]
    hooks = [one.register_forward_pre_hook(note_size) for one in wholes]
    with torch.inference_mode():
        module(torch.from_numpy(x))
    for hook in hooks:
        hook.remove()
    done = []
    for parent in list(module.modules()):
        for name, child in list(parent.named_children()):
            other: torch.nn.Module
            if child in sizes:
                other = torch.nn.AvgPool2d(sizes[child])
            elif isinstance(child, torch.nn.ZeroPad2d):
                other = torch.nn.ConstantPad2d(child.padding, 0.0)
            else:
                continue
            setattr(parent, name, other)
            done.append(f"{type(other).__name__} for {type(child).__name__}")
    return ", ".join(done)


# ---------------------------------------------------------------- processes


class Failed(Exception):
    """A command that could not start, failed or took too long; says which and why."""


class TookTooLong(Failed):
    """A command that was stopped."""


def _run(
    command: Sequence[str], folder: Path, timeout: float, environment: dict[str, str] | None = None
) -> str:
    """The output of `command`, run in `folder`. Raises Failed; then nothing it started is left running."""
    # no folders: the reason may stand in a report
    name = " ".join(Path(part).name for part in command[:2])
    try:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,  # so that a compiler it started can be ended with it
        )
    except OSError as error:
        raise Failed(f"{name} cannot be started: {error.strerror}") from None
    try:
        output, _ = process.communicate(timeout=timeout)
    except BaseException as error:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        if isinstance(error, subprocess.TimeoutExpired):
            raise TookTooLong(f"{name} took more than {timeout:g} s") from None
        raise
    if process.returncode:
        end = (output.strip().splitlines() or ["no output"])[-1]
        raise Failed(f"{name} ended with status {process.returncode}: {end}")
    return output


def first_line(command: Sequence[str]) -> str:
    return _run(command, Path.cwd(), CPP_TIMEOUT).splitlines()[0]


METER = """\
import json, os, sys, time

log, program, *arguments = sys.argv[1:]
start = time.perf_counter()
process = os.posix_spawn(program, [program, *arguments], os.environ)
_, status, used = os.wait4(process, 0)
line = {
    "cpu": used.ru_utime + used.ru_stime,
    "wall": time.perf_counter() - start,
    "peak": used.ru_maxrss * (1 if sys.platform == "darwin" else 1024),
}
with open(log, "a") as file:
    file.write(json.dumps(line) + chr(10))
code = os.waitstatus_to_exitcode(status)
if code < 0:
    os.kill(os.getpid(), -code)
sys.exit(code)
"""
"""Runs a program and writes down what it and what it started took.

A small process of its own: a child starts with the memory of the process that made it as its peak.
"""


@dataclass(frozen=True, kw_only=True)
class Use:
    """What the runs of a program took: seconds in all, and the most memory that one of its processes held.

    least_cpu_s: of the run that took least.
    """

    runs: int
    cpu_s: float
    least_cpu_s: float
    wall_s: float
    peak_mb: float


class Metered:
    """`script`, called as `name` in `folder`, stands for a program and measures every run of it.

    Peaks below 10 MB, which the measuring process itself takes, are not seen.
    """

    def __init__(self, program: str | Path, folder: Path, name: str) -> None:
        self.script = folder / name
        self._log = folder / f"{name}.use"
        meter = folder / f"{name}.py"
        meter.write_text(METER, encoding="utf-8")
        parts = [sys.executable, "-I", "-S", str(meter), str(self._log), str(program)]
        self.script.write_text(f'#!/bin/sh\nexec {shlex.join(parts)} "$@"\n', encoding="utf-8")
        self.script.chmod(0o755)

    @property
    def use(self) -> Use | None:
        """Of the runs that ended; None: there was none."""
        if not self._log.exists():
            return None
        lines = [json.loads(line) for line in self._log.read_text(encoding="utf-8").splitlines()]
        return Use(
            runs=len(lines),
            cpu_s=sum(line["cpu"] for line in lines),
            least_cpu_s=min(line["cpu"] for line in lines),
            wall_s=sum(line["wall"] for line in lines),
            peak_mb=max(line["peak"] for line in lines) / 1e6,
        )


def own_peak_mb() -> float:
    """The most memory that this process has held, in MB of 10**6 bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1 if sys.platform == "darwin" else 1024) / 1e6


# ---------------------------------------------------------------- the figure

Source = Literal["measured here", "modelled", "published (D4.8)"]
COLOURS: dict[Source, str] = {
    "measured here": "#0072B2",
    "modelled": "#E69F00",
    "published (D4.8)": "#8A8A8A",
}


@dataclass(frozen=True, kw_only=True)
class Row:
    """One bar of figure 3.8; `note` stands under the label. at_most: the value is a bound."""

    label: str
    gflops: float
    source: Source
    note: str = ""
    at_most: bool = False


def figure_3_8(rows: Sequence[Row], path: Path, *, note: str = "") -> tuple[Path, Path]:
    """Write the bar chart to `path` with .png and .svg; returns both. GFLOPS on a log axis, first row on top.

    `note` stands below the axis. The same arguments give the same SVG.
    Raises ValueError: no rows, or a value that a log axis cannot show.
    """
    if not rows or any(not (np.isfinite(row.gflops) and row.gflops > 0) for row in rows):
        raise ValueError("figure 3.8 needs at least one row, and positive values")
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.patches import Patch
    from matplotlib.ticker import FuncFormatter

    style: Any = {"svg.hashsalt": "hlsgen", "font.size": 10, "font.family": "DejaVu Sans"}
    with matplotlib.rc_context(style):
        figure, axes = pyplot.subplots(figsize=(9, 1.5 + 0.62 * len(rows)), layout="constrained")
        places = range(len(rows))
        values = [row.gflops for row in rows]
        axes.barh(places, values, height=0.62, color=[COLOURS[row.source] for row in rows])
        for place, row in zip(places, rows, strict=True):
            axes.annotate(
                f"{'≤ ' if row.at_most else ''}{_three_digits(row.gflops)}  {row.source}",
                (row.gflops, place),
                xytext=(5, 0),
                textcoords="offset points",
                va="center",
                fontsize=9,
            )
        axes.set_yticks(places, [f"{row.label}\n{row.note}" if row.note else row.label for row in rows])
        axes.invert_yaxis()
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
        # A bar of a log axis may begin anywhere: a little below the least, with room for words at the right.
        axes.set_xlim(min(values) / 3, max(values) * 40)
        axes.set_xlabel("GFLOPS (fixed point: GOPS), log scale" + (f"\n{note}" if note else ""))
        axes.set_title(
            f"Figure 3.8: 2D convolution, {CHANNELS} x {HEIGHT} x {WIDTH} to {FILTERS}, {KERNEL} x {KERNEL}",
            fontsize=11,
        )
        axes.grid(axis="x", which="major", color="#DDDDDD")
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        used = [source for source in COLOURS if any(row.source == source for row in rows)]
        handles = [Patch(color=COLOURS[source], label=source) for source in used]
        figure.legend(handles=handles, loc="outside lower center", ncols=len(used), frameon=False)
        png, svg = path.with_suffix(".png"), path.with_suffix(".svg")
        figure.savefig(png, dpi=150, metadata={"Software": None})
        figure.savefig(svg, metadata={"Date": None, "Creator": None})
        pyplot.close(figure)
    return png, svg


def _three_digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def main() -> None:
    """Measure the three peers and print what was found."""
    parser = argparse.ArgumentParser(description="Measure the peers of figure 3.8 on this machine.")
    commands = parser.add_subparsers(dest="command", required=True)
    measure = commands.add_parser("measure", help="measure all three and print them as JSON")
    measure.add_argument("--frames", type=int, default=64, help="frames of the float peers")
    measure.add_argument("--hls4ml-frames", type=int, default=4, help="frames of hls4ml's C simulation")
    worker = commands.add_parser("hls4ml-worker")
    worker.add_argument("folder", type=Path)
    network = commands.add_parser("hls4ml-network-worker")
    network.add_argument("folder", type=Path)
    network.add_argument("design", type=Path)
    network.add_argument("frames", type=int)
    arguments = parser.parse_args()
    if arguments.command == "hls4ml-worker":
        _hls4ml_worker(arguments.folder)
        return
    if arguments.command == "hls4ml-network-worker":
        _hls4ml_network_worker(arguments.folder, arguments.design, arguments.frames)
        return
    found = [
        naive_cpp(arguments.frames),
        pytorch(arguments.frames),
        hls4ml_csim(*layer_data(arguments.hls4ml_frames)),
    ]
    print(json.dumps([vars(one) for one in found], indent=2))


if __name__ == "__main__":
    main()
