"""A stand-in for the clang++ of OmpSs-2@FPGA: writes what that writes for AIT, and starts AIT as it does.

For tests. The accelerators come from the pragmas of the sources; their code is empty. What a test wants to be
wrong is said in the environment: HLSGEN_SAME_TYPE, HLSGEN_MORE_ACCELERATORS=N, HLSGEN_NAME=NAME.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from hlsgen.ompss.parsing import Directive, directives, plain

WRAPPER_VERSION = "14"
FPGA = 0x100000000


def type_of(file: str, function: str) -> int:
    """The compiler's hash of "<file> <function>" (OmpSsFpgaWrapperGen.cpp)."""
    value = 0
    for byte in f"{file} {function}".encode():
        value = (33 * value + byte) & 0xFFFFFFFF
    return FPGA | (value + (value >> 5)) & 0xFFFFFFFF


def accelerators(source: Path, headers: str) -> dict[str, dict[str, Any]]:
    """The entries of ait_*.json for the tasks in a source file."""
    tasks = [one for one in directives(plain(source.read_text())) if one.argument("device") == "fpga"]
    return {one.function.name: entry(source.name, one, headers) for one in tasks if one.function is not None}


def entry(file: str, task: Directive, headers: str) -> dict[str, Any]:
    assert task.function is not None
    name = task.function.name
    path = Path(f"{name}_hls_automatic_clang.cpp").resolve()
    path.write_text(f"void {name}_wrapper() {{}}\n")
    creates = "taskwait" in (task.function.body or "")
    return {
        "full_path": str(path),
        "filename": path.name,
        "name": name,
        "type": type_of(file, name),
        "num_instances": instances(task.argument("num_instances"), headers),
        "task_creation": creates,
        "instrumentation": False,
        "periodic": False,
        "lock": False,
        "deps": creates,
        "ompif": False,
        "imp": False,
    }


def instances(argument: str | None, headers: str) -> int:
    """The value of a clause that names a constant of a header."""
    if argument is None:
        return 1
    found = re.search(rf"constexpr unsigned {argument.split('::')[-1]} = (\d+);", headers)
    assert found is not None, argument
    return int(found.group(1))


def spoiled(found: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """With what the test wants to be wrong."""
    first = next(iter(found.values()))
    if "HLSGEN_SAME_TYPE" in os.environ:
        for one in found.values():
            one["type"] = first["type"]
    if "HLSGEN_NAME" in os.environ:
        first["name"] = os.environ["HLSGEN_NAME"]
    for number in range(int(os.environ.get("HLSGEN_MORE_ACCELERATORS", "0"))):
        found[f"more{number}"] = {**first, "name": f"more{number}", "type": FPGA | number}
    return found


def main(arguments: list[str]) -> int:
    if "-fsyntax-only" in arguments:
        return 0
    flags = [
        word
        for option, value in zip(arguments, arguments[1:], strict=False)
        if option == "-fompss-fpga-ait-flags"
        for word in value.split()
    ]
    headers = "".join(path.read_text() for path in sorted(Path().glob("*.fpga.h")))
    for source in (Path(one) for one in arguments if one.endswith("_tasks.cpp")):
        text = json.dumps(spoiled(accelerators(source, headers)))
        Path(f"ait_{source.stem}.json").write_text(text)
    ait = ["ait", *flags, "--wrapper_version", WRAPPER_VERSION]
    return subprocess.run(ait, check=False).returncode if flags else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
