"""PyTorch and Brevitas, for the modules that train: the one place of this room that imports them.

Importing this raises ToolError where one is missing or broken.
"""

from __future__ import annotations

import warnings

from hlsgen.base.errors import ToolError

try:
    import torch
    from torch import nn

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import brevitas.nn as qnn
        from brevitas.core.scaling import PowerOfTwoIntScaling
        from brevitas.function.ops_ste import ceil_ste, floor_ste, round_ste, round_to_zero_ste
        from brevitas.inject.enum import QuantType, RestrictValueType, ScalingImplType
        from brevitas.quant.fixed_point import (
            Int8ActPerTensorFixedPoint,
            Int8BiasPerTensorFixedPointInternalScaling,
            Int8WeightPerTensorFixedPoint,
        )
except ImportError as missing:
    text = f"training needs the packages torch and brevitas, which cannot be imported ({missing})"
    raise ToolError(f"{text}\nfix: pip install 'hlsgen[train]'") from missing

__all__ = [
    "Int8ActPerTensorFixedPoint",
    "Int8BiasPerTensorFixedPointInternalScaling",
    "Int8WeightPerTensorFixedPoint",
    "PowerOfTwoIntScaling",
    "QuantType",
    "RestrictValueType",
    "ScalingImplType",
    "ceil_ste",
    "floor_ste",
    "nn",
    "qnn",
    "round_ste",
    "round_to_zero_ste",
    "torch",
]
