"""What the program of a network needs to know of it: tensors by number, parts, how long kernels take."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.version import VERSION
from hlsgen.emit.environment import render, safe_comment, source_text
from hlsgen.layers.base import Shape

MOST_TENSORS = 8
"""That a task of StarPU reads and gives: STARPU_NMAXBUFS of Debian's."""


@dataclass(frozen=True, kw_only=True)
class TaskPart:
    """reads, gives: tensors by name. symbol: of its performance model. fpga_us: microseconds of a request on
    the FPGA, modelled; 0: no kernel. types, shown: of a part with a kernel, its inputs' number types, and
    the tensor that each output of its build shows.
    """

    name: str
    reads: tuple[str, ...]
    gives: tuple[str, ...]
    symbol: str
    on_cpu: bool
    on_fpga: bool
    fpga_us: float
    types: Mapping[str, str]
    shown: tuple[str, ...]

    @property
    def folder(self) -> str:
        return f"parts/{self.name}"


@dataclass(frozen=True, kw_only=True)
class TaskNetwork:
    """tensors: shapes [C, H, W] by name, the inputs first. outputs: by name. cpus: workers, unless said."""

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    tensors: Mapping[str, Shape]
    parts: tuple[TaskPart, ...]
    cpus: int

    def check(self) -> None:
        """Raises DesignError: a part has more tensors than a task may have."""
        for part in self.parts:
            count = len(part.reads) + len(part.gives)
            if count > MOST_TENSORS:
                message = (
                    f"part {part.name} reads and gives {count} tensors; a task of StarPU has {MOST_TENSORS}"
                )
                raise DesignError(Problem(message=message, fix="cut where fewer tensors cross"))

    def files(self) -> dict[str, str]:
        """The program: {path: text}."""
        files = {name: source_text(f"starpu/{name}") for name in ("tasks.cpp", "run.py")}
        for name in ("network.h", "Makefile"):
            files[name] = render(f"starpu/{name}.j2", n=self._numbered(), version=VERSION)
        return files | {"network.json": json.dumps(self._as_json(), indent=1) + "\n"}

    def _numbered(self) -> dict[str, Any]:
        number = {name: at for at, name in enumerate(self.tensors)}
        tensors = [
            {"name": safe_comment(name), "floats": shape[0] * shape[1] * shape[2]}
            for name, shape in self.tensors.items()
        ]
        parts = [
            {
                "name": part.name,
                "symbol": part.symbol,
                "reads": [number[name] for name in part.reads],
                "gives": [number[name] for name in part.gives],
                "on_cpu": str(part.on_cpu),
                "on_fpga": str(part.on_fpga),
                "fpga_us": f"{part.fpga_us:.3f}",
            }
            for part in self.parts
        ]
        return {
            "name": safe_comment(self.name),
            "comment": safe_comment(self.name),
            "inputs": list(self.inputs),
            "outputs": [number[name] for name in self.outputs],
            "tensors": tensors,
            "parts": parts,
            "most_tensors": max(len(part.reads) + len(part.gives) for part in self.parts),
            "needs_hlsgen": any(part.on_fpga for part in self.parts),
        }

    def _as_json(self) -> dict[str, Any]:
        parts = [
            {
                "name": part.name,
                "folder": part.folder,
                "reads": list(part.reads),
                "gives": list(part.gives),
                "on_cpu": part.on_cpu,
                "on_fpga": part.on_fpga,
                "fpga_us": part.fpga_us,
                "types": dict(part.types),
                "shown": list(part.shown),
            }
            for part in self.parts
        ]
        return {
            "name": self.name,
            "inputs": list(self.inputs),
            "outputs": list(self.outputs),
            "tensors": {name: list(shape) for name, shape in self.tensors.items()},
            "parts": parts,
            "cpus": self.cpus,
            "exact": not any(part.on_fpga for part in self.parts),
        }


def symbol_of(network: str, part: str, contents: Sequence[bytes]) -> str:
    """A performance model's name: one of another network, or of the same one changed, is another's."""
    check = 0
    for content in contents:
        check = zlib.crc32(content, check)
    return f"{re.sub(r'[^A-Za-z0-9_]', '_', network):.60}_{part}_{check:08x}"
