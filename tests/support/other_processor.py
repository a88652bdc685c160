"""Another processor's floating-point arithmetic, as far as this one can be made to show it.

`pytest --processor=other` runs the tests with it, and `make test-machines` those that use a framework: what
they expect may not hang on the bits of one processor. Frameworks and BLAS choose their kernels by the
processor, and these differ in fused multiply-adds, in the order of sums, and in estimates of roots.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import os
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

ENVIRONMENT = {
    "ATEN_CPU_CAPABILITY": "default",  # PyTorch without AVX
    "ONEDNN_MAX_CPU_ISA": "SSE41",  # oneDNN in PyTorch and TensorFlow
    "MKL_CBWR": "COMPATIBLE",
    "TF_ENABLE_ONEDNN_OPTS": "0",
    "OPENBLAS_CORETYPE": "Prescott",  # NumPy's matrix products: SSE3, other blocks
    "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR",
}
"""Read by the libraries when they are loaded; what this processor or version has not is ignored."""
OPERATIONS = "tensorflow.python.ops.gen_math_ops"
ESTIMATED = frozenset(
    {"Rsqrt", "Log", "Log1p", "Exp", "Expm1", "Tanh", "Sigmoid", "Softplus", "Erf", "Reciprocal"}
)
"""Of TensorFlow, whose kernels cannot be chosen: float32 results of these operations, outside of tf.function,
become about the next ones towards zero. The AVX-512 kernel of Rsqrt gives 0.49999994 for 4.
"""


def install() -> None:
    """To be called before any framework is imported; processes that are started inherit the environment."""
    assert "numpy" not in sys.modules, "NumPy has chosen its kernels already"
    os.environ.update(ENVIRONMENT)
    sys.meta_path.insert(0, _WithEstimates())


class _WithEstimates(importlib.abc.MetaPathFinder):
    """Puts `_Estimating` between TensorFlow's operations and what executes them, when they are imported."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != OPERATIONS:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        assert spec is not None and spec.loader is not None
        load = spec.loader.exec_module

        def load_and_replace(module: ModuleType) -> None:
            load(module)
            vars(module)["pywrap_tfe"] = _Estimating(vars(module)["pywrap_tfe"])
            vars(module)["_execute"] = _Estimating(vars(module)["_execute"])

        vars(spec.loader)["exec_module"] = load_and_replace
        return spec


class _Estimating:
    """What executes operations, with results of the estimated ones an ulp off."""

    def __init__(self, executing: ModuleType) -> None:
        self._executing = executing

    def __getattr__(self, name: str) -> Any:
        return getattr(self._executing, name)

    def TFE_Py_FastPathExecute(self, context: Any, operation: str, *rest: Any) -> Any:  # noqa: N802
        """Of tensors."""
        return _off(operation, self._executing.TFE_Py_FastPathExecute(context, operation, *rest))

    def execute(self, operation: bytes, outputs: int, **rest: Any) -> Any:
        """Of arrays."""
        results = self._executing.execute(operation, outputs, **rest)
        return [_off(operation.decode(), result) for result in results]


def _off(operation: str, result: Any) -> Any:
    return result - result * 2.0**-24 if operation in ESTIMATED and result.dtype == "float32" else result
