"""What an OmpSs-2@FPGA application has beside its sources: its Makefile, and where accelerators lie."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hlsgen.designfile.clock import DEFAULT_UNCERTAINTY, Clock
from hlsgen.emit.environment import render, safe_comment
from hlsgen.emit.host_cpus import HOST_CPUS
from hlsgen.emit.vitis import plain_word
from hlsgen.targets.board import Board

CROSS = {"alveo": "", **{flow: one.triple for flow, one in HOST_CPUS.items()}}
"""Target of the host's compiler, by the board's flow; empty: the machine itself."""
INTERLEAVING = {"alveo": "4K"}
"""Bytes after which AIT goes on to the next DDR bank; it knows that on Alveo boards only."""
CREATOR_SLR = "SLR1"
"""Where AIT's own hardware runtime and memory lie on boards with several SLRs (board_info.json, AIT 8.1)."""


@dataclass(frozen=True, kw_only=True)
class Accelerator:
    """A task of the FPGA. slrs: of each instance, as the board names them; empty: not placed."""

    name: str
    instances: int
    slrs: tuple[str, ...] = ()


def tool_files(
    board: Board,
    clock: Clock,
    k: Mapping[str, Any],
    accelerators: Sequence[Accelerator],
    version: str,
    *,
    port_bits: int | None,
    arguments: bool,
) -> dict[str, str]:
    """{"ompss/Makefile": text, ...}; k: the application's name, and where the design was written.

    port_bits: width of the port that copies frames, if the tasks copy. arguments: whether their type can be
    chosen.
    """
    placement = placed(board, accelerators)
    context = {
        "k": k,
        "version": version,
        "source": safe_comment(k["source"]),
        "cross": CROSS[board.flow],
        "ait_name": ait_name(k["name"]),
        "ait_board": "" if board.ait_board is None else plain_word(board.ait_board),
        "board_name": board.name,
        "whole_mhz": int(clock.mhz),
        "uncertainty_notes": uncertainty_notes(clock),
        "port_bits": port_bits,
        "interleaving": INTERLEAVING.get(board.flow, "") if len(board.memory.banks) > 1 else "",
        "placed": bool(placement),
        "arguments": arguments,
    }
    files = {"ompss/Makefile": render("ompss/Makefile.j2", **context)}
    if arguments:
        files[f"ompss/{k['name']}_arguments.fpga.h"] = "// Written by make: ARGUMENTS=codes\n"
    if placement:
        files["ompss/placement.json"] = json.dumps(placement, indent=2) + "\n"
    return files


def uncertainty_notes(clock: Clock) -> list[str]:
    """What becomes of the clock's uncertainty under AIT, whose script of HLS sets none; empty: nothing."""
    if clock.uncertainty == DEFAULT_UNCERTAINTY:
        return []
    theirs = Clock(mhz=clock.mhz).percent
    return [
        f"AIT 8 has no option for the clock's uncertainty: HLS keeps back its own {theirs} there, not the "
        f"design's {clock.percent}"
    ]


def placed(board: Board, accelerators: Sequence[Accelerator]) -> dict[str, Any]:
    """AIT's user configuration: the SLR of every instance. Empty on a board of one SLR."""
    if len(board.slrs) < 2:
        return {}
    number = {slr.name: index for index, slr in enumerate(board.slrs)}
    found = {
        one.name: {"instances": {str(i): {"placement": number[slr]} for i, slr in enumerate(one.slrs)}}
        for one in accelerators
        if one.slrs
    }
    return {"accs": found} if found else {}


def creator(board: Board, name: str) -> Accelerator:
    """The task that creates the others: beside AIT's hardware runtime."""
    here = tuple(slr.name for slr in board.slrs if slr.name == CREATOR_SLR)
    return Accelerator(name=name, instances=1, slrs=here)


def ait_name(kernel: str) -> str:
    """The kernel's name as AIT takes it: single underscores, a letter first, a letter or digit last."""
    name = re.sub("_+", "_", kernel).strip("_")
    return name if name[:1].isalpha() else f"kernel_{name}".rstrip("_")


def function_name(name: str) -> str:
    """A task's function, which AIT calls the accelerator by: a letter first."""
    return name if name[:1].isalpha() else f"task{name}"
