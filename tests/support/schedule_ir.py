"""LLVM IR of the front end, optimised far enough to be read by tests."""

from __future__ import annotations

import importlib.util
import multiprocessing
import re
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from hlsgen.schedule.front_end import FrontEnd, compile_to_ir
from tests.support.schedule_headers import HAS_CLANG

HAS_LLVM = HAS_CLANG and importlib.util.find_spec("llvmlite") is not None
needs_llvm = pytest.mark.skipif(not HAS_LLVM, reason="the packages ziglang and llvmlite are not installed")


def front_end_of(folder: Path, source: str, **options: Any) -> FrontEnd:
    """What the front end makes of a file `kernel.cpp` in `folder`."""
    path = folder / "kernel.cpp"
    path.write_text(source, encoding="utf-8")
    return compile_to_ir([path], **options)


def optimised(ir: str) -> str:
    """The module with everything inlined into what is called from outside, without variables in memory.

    In a process of its own: what hlsgen.schedule.optimise sets of LLVM counts for all passes of a process.
    """
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(run_passes, ir).result()


def run_passes(ir: str) -> str:
    """The passes of `optimised`, in this process."""
    from llvmlite import binding

    binding.initialize_native_target()
    module = binding.parse_assembly(ir)
    module.verify()
    machine = binding.Target.from_default_triple().create_target_machine()
    builder = binding.create_pass_builder(machine, binding.create_pipeline_tuning_options(speed_level=1))
    for passes in ("always_inliner", "sroa instruction_combine simplify_cfg new_gvn instruction_combine"):
        manager = binding.create_new_module_pass_manager()
        for name in passes.split():
            getattr(manager, f"add_{name}_pass")()
        manager.run(module, builder)
    return str(module)


def body(ir: str, function: str) -> str:
    """The instructions of a function, by its name in C++ without its parameters."""
    found = re.search(rf"^define [^\n]*@(?:_Z\d+)?{function}\w*\(.*?^}}", ir, re.MULTILINE | re.DOTALL)
    assert found is not None, function
    return found[0]


def marks(ir: str) -> list[tuple[int, bool, list[int]]]:
    """Every mark: its index, whether it names a variable, its numbers behind index and address."""
    found = []
    for call in re.finditer(
        r"call void [^@\n]*@__hls_mark(_variable)?\(([^\n]*?)\)(?:,| #|$)", ir, re.MULTILINE
    ):
        arguments = [part.split()[-1] for part in call[2].split(", ")]
        numbers = [int(one) for one in arguments[2 if call[1] else 1 :]]
        found.append((int(arguments[0]), call[1] is not None, numbers))
    return found
