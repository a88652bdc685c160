"""ONNX, ONNX Runtime and PyTorch: the one place of this room that imports them."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from hlsgen.base.errors import ToolError

EXTRAS = {"onnx": "onnx", "onnxruntime": "onnx", "torch": "torch"}
"""Which extra of hlsgen brings a package."""


def package(name: str) -> Any:
    """The package. Raises ToolError: it is missing or broken."""
    try:
        return import_module(name)
    except ImportError as missing:
        text = f"running layers on the CPU needs the package {name}, which cannot be imported ({missing})"
        raise ToolError(f"{text}\nfix: pip install 'hlsgen[{EXTRAS[name]}]'") from missing


def installed(name: str) -> bool:
    """Whether the package is there, without importing it."""
    return find_spec(name) is not None
