"""What measurements were made on, and how a report says why one is missing."""

from __future__ import annotations

import platform
import re
from pathlib import Path

from layer import Missing
from processes import Failed, cores, first_line

from hlsgen.base.errors import ToolError
from hlsgen.csim.compiler import find_compiler

DESIGNS = Path(__file__).resolve().parent.parent / "designs"


def machine() -> dict[str, str | int]:
    """What the measurements were made on; neither its name nor where anything lies."""
    try:
        compiler = first_line([find_compiler(), "--version"])
    except (ToolError, Failed):
        compiler = "no compiler found"
    return {
        "cpu": _cpu_model(),
        "architecture": platform.machine(),
        "cores": cores(),
        "compiler": compiler,
        "python": platform.python_version(),
        "system": platform.system(),
    }


def _cpu_model() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    found = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return found[1].strip() if found else platform.processor() or "unknown"


def reason(missing: Missing) -> str:
    """In one line and without folders."""
    return re.sub(r"(?<![\w.])/(?:[^\s/:'\"]+/)+", "", " ".join(missing.reason.split()))
