"""hlsgen: from a convolution or a trained CNN to a verified Vitis HLS and OmpSs-2@FPGA project.

A design comes from a file (load) or from a framework (from_torch, from_qkeras, from_onnx); each has an
example in its own help, such as help(hlsgen.from_torch):

    design = hlsgen.load("designs/conv.yaml")
    design = hlsgen.from_torch(model, input_shape=(3, 32, 32), calibration=x, board="u200")
    design = hlsgen.from_qkeras(model, board="zcu102")        # or from_qkeras("net.h5")
    design = hlsgen.from_onnx("net.onnx", calibration=x)

What a design does:

    design.estimate()                      # speed and resources, modelled
    design.golden(x)                       # what the hardware computes, in NumPy
    project = design.build("build/net")    # emits, C-simulates, reports
    y = project.csim(x)                    # the emitted C++, compiled, on x
    design.explore()                       # the best mapping, with its proof

Designs, estimates, projects and explorations show themselves in notebooks. What goes on is logged, by the
loggers hlsgen.steps (INFO) and hlsgen.commands (DEBUG); nothing is printed:

    logging.basicConfig(level=logging.INFO)

Errors are HlsgenErrors with a message and a remedy; what users should know of is a HlsgenWarning.
"""

import logging
from importlib import import_module
from typing import TYPE_CHECKING

from hlsgen.base.errors import (
    BudgetWarning,
    CalibrationWarning,
    ClippingWarning,
    DesignError,
    EmissionError,
    HlsgenError,
    HlsgenWarning,
    HostLayersWarning,
    JudgeError,
    MismatchError,
    OutputError,
    ToolError,
)
from hlsgen.base.version import VERSION as __version__

# a library says nothing by itself: handlers are the user's
logging.getLogger("hlsgen").addHandler(logging.NullHandler())

if TYPE_CHECKING:
    from hlsgen.api.design import Design, load
    from hlsgen.api.from_model import from_onnx, from_qkeras, from_torch
    from hlsgen.api.program import NetworkProgram, program_for
    from hlsgen.api.project import Project
    from hlsgen.model.precision import Bits, LayerPrecision, Precision
    from hlsgen.partitioning.partition import partition
    from hlsgen.pipelining.pipeline import Pipeline
    from hlsgen.pipelining.split import split
    from hlsgen.rematerialising.module import rematerialise
    from hlsgen.training.train import train
    from hlsgen.widths.by_precision import accuracy
    from hlsgen.widths.search import quantise

__all__ = [
    "Bits",
    "BudgetWarning",
    "CalibrationWarning",
    "ClippingWarning",
    "Design",
    "DesignError",
    "EmissionError",
    "HlsgenError",
    "HlsgenWarning",
    "HostLayersWarning",
    "JudgeError",
    "LayerPrecision",
    "MismatchError",
    "NetworkProgram",
    "OutputError",
    "Pipeline",
    "Precision",
    "Project",
    "ToolError",
    "__version__",
    "accuracy",
    "from_onnx",
    "from_qkeras",
    "from_torch",
    "load",
    "partition",
    "program_for",
    "quantise",
    "rematerialise",
    "split",
    "train",
]

_LATER = {
    "accuracy": "widths.by_precision",
    "Pipeline": "pipelining.pipeline",
    "partition": "partitioning.partition",
    "split": "pipelining.split",
    "quantise": "widths.search",
    "rematerialise": "rematerialising.module",
    "train": "training.train",
    "Design": "api.design",
    "load": "api.design",
    "from_onnx": "api.from_model",
    "from_qkeras": "api.from_model",
    "from_torch": "api.from_model",
    "Bits": "model.precision",
    "LayerPrecision": "model.precision",
    "Precision": "model.precision",
    "NetworkProgram": "api.program",
    "Project": "api.project",
    "program_for": "api.program",
}
"""Public names by module; these need NumPy, for which `hlsgen --help` need not wait: imported when used."""


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module 'hlsgen' has no attribute {name!r}")
    return getattr(import_module(f"hlsgen.{_LATER[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
