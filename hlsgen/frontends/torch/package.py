"""PyTorch itself, for the modules that read its models: the one place that imports it.

Importing this raises ToolError where PyTorch is missing or broken.
"""

from __future__ import annotations

from hlsgen.base.errors import ToolError

try:
    import torch
    from torch import fx, nn
except ImportError as missing:
    text = f"reading a PyTorch model needs the package torch, which cannot be imported ({missing})"
    raise ToolError(f"{text}\nfix: pip install 'hlsgen[torch]'") from missing

__all__ = ["fx", "nn", "torch"]
