"""The layer of figure 3.8 in float32 on this machine: listing 3.1 as C++ on one core, PyTorch on all cores.

Every result is compared with a float64 convolution; a wrong one is no measurement.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from layer import (
    CHANNELS,
    FILTERS,
    HEIGHT,
    KERNEL,
    MACS,
    WIDTH,
    Measurement,
    Missing,
    convolution,
    largest_difference,
    layer_data,
)
from processes import Failed, cores, first_line, run

CPP_SECONDS = 300.0
"""Until the compiler or the program is ended."""
REPEATS = 5
"""Timed repeats after a warm-up; the best one counts."""
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
            run(["g++", "-O2", "-o", "naive", "naive.cpp"], folder, CPP_SECONDS)
            log = run(["./naive", *map(str, sizes)], folder, CPP_SECONDS)
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
