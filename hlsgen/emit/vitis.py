"""The files that Vitis takes: settings and a Tcl script for HLS, and how the kernels are linked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hlsgen.designfile.clock import Clock
from hlsgen.emit.conv2d import COSIM_FRAMES
from hlsgen.emit.environment import render, safe_comment
from hlsgen.search.placement import Deployment, PlacedKernel
from hlsgen.targets.board import Board

FILES = ("hls_config.cfg", "run_hls.tcl", "link.cfg")
PORTS = ("gmem_input", "gmem_weights", "gmem_output")
"""The kernel's m_axi bundles, as kernel.cpp.j2 names them."""


@dataclass(frozen=True, kw_only=True)
class LinkedKernel:
    """A kernel as it is linked: `ports` are its m_axi bundles; an instance has a name, an SLR, a DDR bank.

    The SLR is empty if the instance needs several. inputs, outputs: its AXI streams. port_banks: by
    INSTANCE.PORT the bank of ports that reach another one than their instance's.
    """

    name: str
    ports: Sequence[str]
    instances: Sequence[Mapping[str, str]]
    inputs: Sequence[str] = ()
    outputs: Sequence[str] = ()
    port_banks: Mapping[str, str] = field(default_factory=dict)


def spread_ports(
    ports: Sequence[str], instances: Sequence[Mapping[str, str]], board: Board
) -> dict[str, str]:
    """`port_banks` of instances with more ports than their bank takes, whose buffers lie apart: the ports
    that come last go to the banks that have the fewest."""
    most, taken, found = board.memory.masters, Counter[str](), dict[str, str]()
    for instance in instances if most is not None else ():
        for port in ports:
            bank = instance["bank"]
            if taken[bank] >= (most or 0):
                bank = min((plain_word(one.name) for one in board.memory.banks), key=lambda name: taken[name])
                found[f"{instance['name']}.{port}"] = bank
            taken[bank] += 1
    return found


_UNUSUAL = re.compile(r"[^\w .:+/\[\]-]", re.ASCII)


def vitis_files(
    deployment: Deployment, clock: Clock, ks: Sequence[dict[str, Any]], version: str
) -> dict[str, str]:
    """{"vitis/hls_config.cfg": text, ...}; ks: what the templates use of each kernel."""
    named = [named_instances(kernel, k["name"]) for kernel, k in zip(deployment.kernels, ks, strict=True)]
    port_banks = spread_ports(PORTS, [one for each in named for one in each], deployment.board)
    kernels = [
        LinkedKernel(name=k["name"], ports=PORTS, instances=instances, port_banks=port_banks)
        for instances, k in zip(named, ks, strict=True)
    ]
    board, files = deployment.board, data_files(ks[0])
    if len(kernels) == 1:
        return tool_files(board, clock, ks[0], version, files=files, linked=kernels[0])
    return task_tool_files(board, clock, ks[0], version, files=files, kernels=kernels, alike=True)


def tool_files(
    board: Board,
    clock: Clock,
    k: dict[str, Any],
    version: str,
    *,
    files: Sequence[str],
    linked: LinkedKernel,
) -> dict[str, str]:
    """{"vitis/hls_config.cfg": text, ...}; `files` of the testbench."""
    context = _context(board, clock, k, version, files=files, kernels=[linked])
    return {f"vitis/{name}": render(f"vitis/{name}.j2", **context) for name in FILES}


def link_file(
    board: Board, clock: Clock, k: dict[str, Any], version: str, *, kernels: Sequence[LinkedKernel]
) -> str:
    """The text of vitis/link.cfg for kernels that do not do the same."""
    return render("vitis/link.cfg.j2", **_context(board, clock, k, version, files=(), kernels=kernels))


def task_tool_files(
    board: Board,
    clock: Clock,
    k: dict[str, Any],
    version: str,
    *,
    files: Sequence[str],
    kernels: Sequence[LinkedKernel],
    alike: bool = False,
) -> dict[str, str]:
    """The same for several kernels: settings for each, one script for all, one linking.

    They are called in turn by one testbench, or `alike`: do the same, and each has a testbench of its own.
    """
    context = _context(board, clock, k, version, files=files, kernels=kernels) | {"alike": alike}
    names = [kernel.name for kernel in kernels]
    found = {
        "vitis/run_hls.tcl": render("vitis/run_hls_tasks.tcl.j2", **context),
        "vitis/link.cfg": render("vitis/link.cfg.j2", **context),
    }
    for name in names:
        others = [] if alike else [k["name"], *(other for other in names if other != name)]
        settings = {**context, "k": {**context["k"], "name": name}, "config": f"{name}.cfg", "others": others}
        settings["testbench"] = name if alike else k["name"]
        found[f"vitis/{name}.cfg"] = render("vitis/hls_config.cfg.j2", **settings)
    return found


def _context(
    board: Board,
    clock: Clock,
    k: dict[str, Any],
    version: str,
    *,
    files: Sequence[str],
    kernels: Sequence[LinkedKernel],
) -> dict[str, Any]:
    """What the templates name."""
    return {
        "k": {"COSIM_FRAMES": COSIM_FRAMES, **k},
        "version": version,
        "source": safe_comment(k["source"]),
        "board": plain_word(board.title),
        "part": plain_word(board.part),
        "alveo": board.flow == "alveo",
        "clock": f"{clock.mhz:g}",
        "period": f"{clock.period_ns:.3f}",
        "uncertainty": clock.percent,
        "whole_mhz": int(clock.mhz),
        "hertz": round(clock.mhz * 1e6),
        "cosim_frames": COSIM_FRAMES,
        "data_files": list(files),
        "kernels": kernels,
        "testbench": k["name"],
        "others": [],
        "config": "hls_config.cfg",
        "alike": False,
    }


def data_files(k: dict[str, Any]) -> list[str]:
    """The testbench's data in tb/."""
    return ["input.npy", "weights.npy", *(["biases.npy"] if k["has_bias"] else []), "golden.npy"]


def plain_word(text: str) -> str:
    """A board file's value as it may stand in a Tcl script, a .cfg file or a Makefile: nothing expands it."""
    return _UNUSUAL.sub("_", text)


def named_instances(placed: PlacedKernel, kernel: str) -> list[dict[str, str]]:
    """The compute units of a kernel as link.cfg has them."""
    return [
        {"name": f"{kernel}_{number}", "slr": plain_word(instance.slr), "bank": plain_word(instance.bank)}
        for number, instance in enumerate(placed.instances, start=1)
    ]
