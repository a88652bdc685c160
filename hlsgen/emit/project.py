"""The build folder's Makefile with its scripts, and the C-simulation headers that the folder carries."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import hlsgen
from hlsgen.emit.conv2d import COSIM_FRAMES
from hlsgen.emit.environment import render, safe_comment
from hlsgen.emit.host_cpus import HOST_CPUS
from hlsgen.emit.vitis import plain_word
from hlsgen.search.placement import Deployment
from hlsgen.targets.board import Board

FLOW = "vitis/flow.json"
"""What `hlsgen synth` has to know of a build folder: its kernels and its board."""
SCRIPTS = ("check.sh", "tools.sh")
INCLUDE = Path(hlsgen.__file__).resolve().parent / "csim" / "include"


def project_files(deployment: Deployment, ks: Sequence[dict[str, Any]], version: str) -> dict[str, str]:
    """The Makefile and what it runs; ks: what the templates use of each kernel."""
    names = [k["name"] for k in ks] if len(ks) > 1 else []
    line = _layer_line(ks[0])
    return makefile(
        deployment.board, ks[0], line, version, streaming=False, kernels=names, alike=True, ompss=True
    )


def makefile(
    board: Board,
    k: dict[str, Any],
    layer_line: str,
    version: str,
    *,
    streaming: bool,
    kernels: Sequence[str] = (),
    alike: bool = False,
    ompss: bool = False,
    host: bool = True,
    free_running: bool = False,
    no_cosim: str = "",
    front: tuple[str, str] | None = None,
) -> dict[str, str]:
    """The Makefile and what it runs; k: the kernel's name and where the design was written; kernels: those of
    tasks, or `alike`: of foldings that do the same; ompss, host: whether there is an application of
    OmpSs-2@FPGA, and a host program. free_running: whether the kernel runs by itself, without an end.
    no_cosim: why RTL co-simulation is not possible; empty: it is. front: the folder and the name of a
    streaming kernel that is linked with this one, with a Makefile of its own.
    """
    context = {
        "k": k,
        "version": version,
        "source": safe_comment(k["source"]),
        "layer_line": layer_line,
        "streaming": streaming,
        "kernels": kernels,
        "alike": alike and bool(kernels),
        "ompss": ompss,
        "host": host,
        "free_running": free_running,
        "no_cosim": no_cosim,
        "front": front,
        "board": plain_word(board.title),
        "platform": plain_word(board.platform),
        "vitis_max": plain_word(board.vitis_max or ""),
        "alveo": board.flow == "alveo",
        "cpu": HOST_CPUS.get(board.flow),
        "family": plain_word("_".join(board.platform.split("_")[:2])),
        "cosim_frames": COSIM_FRAMES,
    }
    scripts = SCRIPTS if board.flow == "alveo" else (*SCRIPTS, "run_app.sh")
    files = {f"vitis/{name}": render(f"vitis/{name}.j2", **context) for name in scripts}
    files["Makefile"] = render("project/Makefile.j2", **context)
    files[FLOW] = _flow_text(
        board, k["name"], kernels, host=host, free_running=free_running, no_cosim=no_cosim
    )
    return files


def _flow_text(
    board: Board, name: str, kernels: Sequence[str], *, host: bool, free_running: bool, no_cosim: str
) -> str:
    flow = {
        "design": name,
        "kernels": list(kernels) or [name],
        "flow": board.flow,
        "platform": plain_word(board.platform),
        "host": host,
        "free_running": free_running,
    }
    if no_cosim:
        flow["no_cosim"] = no_cosim
    return json.dumps(flow, indent=2) + "\n"


def csim_header_files() -> dict[str, str]:
    """{"csim/include/fast/ap_int.h": text, ...}: every header of hlsgen/csim/include."""
    return {
        f"csim/include/{path.relative_to(INCLUDE).as_posix()}": path.read_text(encoding="utf-8")
        for path in sorted(INCLUDE.rglob("*.h"))
    }


def _layer_line(k: dict[str, Any]) -> str:
    return f"convolution {k['KERNEL_H']}x{k['KERNEL_W']}, {k['IN_CHANNELS']} to {k['OUT_CHANNELS']} channels"
