"""LLVM's passes, as far as a schedule needs them: everything inlined, registers instead of memory, loops
unrolled.

The vendor's compiler is LLVM too; what it does before it schedules is what these passes do, but for a
widening of narrow integers that it has not, which is why the module's native widths are taken out.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Collection, Sequence

import llvmlite.binding as llvm
from llvmlite.binding.context import ContextRef, create_context

from hlsgen.schedule.equal_ends import with_equal_ends

_LOOP = re.compile(r"!llvm\.loop (!\d+)")
_NATIVE_WIDTHS = re.compile(r"-n8:16:32:64")
_INLINE = ("always_inliner", "sroa", "sccp", "global_dead_code_eliminate")
_UNROLL = ("simplify_cfg", "instruction_combine", "loop_unroll")
_TIDY = ("simplify_cfg", "sroa", "sccp")
_SIMPLIFY = (
    "simplify_cfg",
    "instruction_combine",
    "sccp",
    "new_gvn",
    "dead_store_elimination",
    "instruction_combine",
    "simplify_cfg",
) + ("dead_code_elimination",)
CALLS_BY_POINTER = 3
"""How deep functions that are given to others are looked for: which one a pointer is, inlining shows."""
ROUNDS = 4
"""An inner loop whose bound is a variable of the outer one can be unrolled only after the outer one was."""


@functools.cache
def _target() -> llvm.TargetMachine:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    # unrolled where a pragma asks for it, whatever its size, and nowhere else
    llvm.set_option("", "-pragma-unroll-threshold=1000000000")
    llvm.set_option("", "-unroll-threshold=1")
    # blocks are merged, but nothing moves out from under its condition: what is exclusive stays so
    llvm.set_option("", "-two-entry-phi-node-folding-threshold=0")
    llvm.set_option("", "-phi-node-folding-threshold=0")
    llvm.set_option("", "-speculate-one-expensive-inst=0")
    # how far a load looks back for the store that it reads: unrolled loops store a lot in between
    llvm.set_option("", "-memssa-check-limit=1000")
    # r - 1 is no register of its own beside a counter r: what both count would be forgotten
    llvm.set_option("", "-enable-phi-of-ops=false")
    return llvm.Target.from_default_triple().create_target_machine(opt=1)


def inline(text: str, kept: Collection[str]) -> str:
    """The module with all functions inlined but those `kept`, and scalars in registers. Raises ValueError."""
    target = _target()
    module = _parse(_NATIVE_WIDTHS.sub("", text))
    for function in module.functions:
        if function.is_declaration:
            continue
        if function.name in kept:
            function.linkage = "external"
            function.add_function_attribute("noinline")
        else:
            function.linkage = "internal"
            function.add_function_attribute("alwaysinline")
    _run(module, _INLINE, target)
    for _ in range(CALLS_BY_POINTER):
        if all(one.is_declaration or one.name in kept for one in module.functions):
            break
        _run(module, ("instruction_combine", *_INLINE), target)
    return str(module)


def unroll(text: str, *, careful: bool = False) -> str:
    """The module with the loops unrolled whose metadata asks for it, simplified. Raises ValueError.

    `careful` goes without NewGVN, whose assertions fail on some code, and end the process.
    """
    target = _target()
    module = _parse(text)
    for _ in range(ROUNDS):
        before = _loops(module)
        _run(module, _UNROLL, target)
        _run(module, _TIDY, target)
        if _loops(module) == before:
            break
    text = str(module)
    if (shorter := with_equal_ends(text)) != text:
        module = _parse(shorter)
    _run(module, [name for name in _SIMPLIFY if not (careful and name == "new_gvn")], target)
    return str(module)


def simplify(text: str) -> str:
    """The module with simpler arithmetic, and the same loops. Raises ValueError."""
    return run_passes(text, ("instruction_combine",))


def run_passes(text: str, names: Sequence[str]) -> str:
    """The module after some of LLVM's passes. Raises ValueError."""
    target = _target()
    # in a context of its own types keep their names
    module = _parse(text, create_context())
    _run(module, names, target)
    return str(module)


def _loops(module: llvm.ModuleRef) -> list[int]:
    """How many loops each of the loops in the source has become: the attachments of its metadata.

    Their sum would not tell: an outer loop that is gone may leave as many copies of its inner one.
    """
    return sorted(Counter(_LOOP.findall(str(module))).values())


def _parse(text: str, context: ContextRef | None = None) -> llvm.ModuleRef:
    try:
        return llvm.parse_assembly(text, context)
    except RuntimeError as error:
        raise ValueError(str(error)) from error


def _run(module: llvm.ModuleRef, names: Sequence[str], target: llvm.TargetMachine) -> None:
    builder = llvm.create_pass_builder(target, llvm.create_pipeline_tuning_options(speed_level=1))
    passes = llvm.create_new_module_pass_manager()
    for name in names:
        getattr(passes, f"add_{name}_pass")()
    passes.run(module, builder)
