"""hlsgen: from a convolution or a trained CNN to a verified Vitis HLS and OmpSs-2@FPGA project.

import hlsgen
design = hlsgen.load("designs/conv.yaml")
design = hlsgen.from_torch(model, input_shape=(3, 32, 32), calibration=x, board="u200")
project = design.build("build/conv")      # emits, C-simulates, reports
y = project.csim(x)                       # the emitted C++, compiled
"""

from typing import TYPE_CHECKING

from hlsgen.errors import DesignError, HlsgenError, MismatchError, ToolError
from hlsgen.version import VERSION as __version__

if TYPE_CHECKING:
    from hlsgen.design import Design, load
    from hlsgen.from_model import from_onnx, from_qkeras, from_torch
    from hlsgen.project import Project

__all__ = [
    "Design",
    "DesignError",
    "HlsgenError",
    "MismatchError",
    "Project",
    "ToolError",
    "__version__",
    "from_onnx",
    "from_qkeras",
    "from_torch",
    "load",
]


def __getattr__(name: str) -> object:
    """What needs NumPy is imported when first used: `hlsgen --help` need not wait for NumPy."""
    if name in ("Design", "load"):
        from hlsgen import design

        return getattr(design, name)
    if name in ("from_onnx", "from_qkeras", "from_torch"):
        from hlsgen import from_model

        return getattr(from_model, name)
    if name == "Project":
        from hlsgen import project

        return project.Project
    raise AttributeError(f"module 'hlsgen' has no attribute {name!r}")
