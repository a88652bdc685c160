"""hls4ml's C simulation of the layer of figure 3.8, in a process of its own."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from layer import Floats, Measurement, Missing, convolution, largest_difference
from processes import Failed, children_cpu, environment, run, worker

from hlsgen.base.fixed import FixedType

if TYPE_CHECKING:
    import torch

HLS4ML_TYPE = FixedType(16, 6)
HLS4ML_SECONDS = 900.0
"""Until it is ended."""


def hls4ml_csim(weights: Floats, bias: Floats, x: Floats) -> Measurement | Missing:
    """Multiply-accumulates per second and core of hls4ml's C simulation, io_stream, fixed<16,6> throughout.

    weights [M, C, K, K], bias [M], x [N, C, H, W]. The model goes in as a PyTorch module; hls4ml's data are
    channels last, so x is transposed before and the result after. `detail` has the compile time, the largest
    error against the float64 convolution of the same values truncated to fixed<16,6>, and the most that
    truncating each product to fixed<16,6>, as this model does, may cost. Missing if the error is larger than
    that, if a step fails or if it takes longer than HLS4ML_SECONDS.
    """
    what = "hls4ml C simulation (io_stream, fixed<16,6>)"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.savez(folder / "problem.npz", weights=weights, bias=bias, x=x)
        try:
            run(worker(__file__, folder), folder, HLS4ML_SECONDS, environment())
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


def _work(folder: Path) -> None:
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
    model = hls4ml_model(module, x.shape[1:], folder / "project")
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
        "strategy": str(model.config.config["HLSConfig"]["Model"].get("Strategy", "default")),
        "convert wall s": converted,
        "compile wall s": wall,
        "compile CPU s": cpu,
        "predict wall s": taken,
        "predict CPU s": own,
    }
    (folder / "figures.json").write_text(json.dumps(figures), encoding="utf-8")


def hls4ml_model(module: torch.nn.Module, shape: tuple[int, ...], project: Path) -> Any:
    """hls4ml's model of a module that takes [N, *shape]; what it raises is its own."""
    import hls4ml

    config = hls4ml.utils.config_from_pytorch_model(
        module,
        input_shape=shape,
        default_precision=f"ap_{HLS4ML_TYPE}",
        # io_stream cannot transpose: the weights are converted, the input is the caller's to transpose
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


if __name__ == "__main__":
    _work(Path(sys.argv[1]))
