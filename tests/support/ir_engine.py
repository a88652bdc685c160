"""LLVM IR, executed: what a kernel `run(const long long *in, long long *out)` computes."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any


def runner(text: str, results: int) -> Callable[[Sequence[int]], list[int]]:
    """A function of the kernel's inputs that gives its `results` outputs."""
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    machine = binding.Target.from_default_triple().create_target_machine()
    module = binding.parse_assembly(text.replace("define hidden", "define"))
    module.data_layout = str(machine.target_data)
    engine: Any = binding.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    numbers = ctypes.POINTER(ctypes.c_longlong)
    run = ctypes.CFUNCTYPE(None, numbers, numbers)(engine.get_function_address("run"))

    def of(given: Sequence[int]) -> list[int]:
        found = (ctypes.c_longlong * results)()
        run((ctypes.c_longlong * len(given))(*given), found)
        assert engine is not None  # its code lives as long as it does
        return list(found)

    return of
