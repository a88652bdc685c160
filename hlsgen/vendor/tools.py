"""Which of the vendor's tools a request needs at least: said before anything takes long."""

from __future__ import annotations

import shutil

from hlsgen.base.errors import Problem
from hlsgen.vendor.vitis import MachineError

SETTINGS = "source the settings64.sh of Vitis"


def check_tools(to: str) -> None:
    """to: as of `hlsgen synth --to`. What else is missing (the platform, XRT), vitis/check.sh says then.

    Raises MachineError: the tools that are not on the PATH.
    """
    lacking = []
    if not (shutil.which("vitis_hls") or shutil.which("vitis-run")):
        lacking.append(Problem(message="neither vitis_hls nor vitis-run was found", fix=SETTINGS))
    if to in ("xclbin", "all") and not shutil.which("v++"):
        lacking.append(Problem(message="v++ was not found", fix=SETTINGS))
    if lacking:
        raise MachineError(lacking)
