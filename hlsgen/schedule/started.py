"""Global variables with the values that constructors give them before a kernel is called.

`const int STAGES = int(log2(N));` is no constant expression of C++, so that Clang writes a function that
computes it when the program starts. The vendor's compiler evaluates such functions, and takes what is const
for the constant that it is: as a loop's bound, an index, a shift.
"""

from __future__ import annotations

import re

from hlsgen.schedule.ir_text import ModuleText, module_text

_STARTS = re.compile(r"^@llvm\.global_ctors = .*$", re.MULTILINE)
_STARTER = re.compile(r"ptr @(\"[^\"]+\"|[-\w$.]+), ptr")
_CALL = re.compile(r"^  (?:tail |notail )?call void @(\"[^\"]+\"|[-\w$.]+)\(\)", re.MULTILINE)
_VARIABLE = re.compile(r"^(@(?!llvm\.)(?:\"[^\"]+\"|[-\w$.]+)) = (?:[\w()]+ )*?(?:global|constant) ")
_KIND = re.compile(r"(?<= )(?:global|constant)(?= )")
_FIXED = re.compile(r"@llvm\.invariant\.start\.p0\(i64 [^,]*, ptr (?:nonnull )?(@(?:\"[^\"]+\"|[-\w$.]+))\)")
_PASSES = ("always_inliner", "sroa", "instruction_combine", "simplify_cfg", "global_opt")


def with_started_values(ir: str) -> str:
    """The module with the values of global variables that constructors compute from constants alone, those
    that are const as constants. Raises ValueError."""
    starts = _STARTS.search(ir)
    if starts is None:
        return ir
    text = module_text(ir)
    starters = _starters(text, starts[0])
    evaluated = _evaluated(text, starters)
    fixed = {name for starter in starters for name in _FIXED.findall(text.functions[starter])}
    lines = ir.splitlines()
    for at, line in enumerate(lines):
        found = _VARIABLE.match(line)
        if found and found[1] in evaluated:
            kind = "constant" if found[1] in fixed else "global"
            lines[at] = _with_value(line, evaluated[found[1]], kind)
    return "\n".join([*lines, ""])


def _starters(text: ModuleText, starts: str) -> list[str]:
    """The functions that run before all others, each for one variable where Clang wrote one for each."""
    found: list[str] = []
    for name in (one.strip('"') for one in _STARTER.findall(starts)):
        calls = [one.strip('"') for one in _CALL.findall(text.functions.get(name, ""))]
        found += [one for one in calls if one in text.functions] or ([name] if name in text.functions else [])
    return found


def _evaluated(text: ModuleText, starters: list[str]) -> dict[str, str]:
    """The lines of the variables that only constructors of known values write, after these have run."""
    from llvmlite import binding
    from llvmlite.binding.context import create_context

    from hlsgen.schedule.optimise import run_passes

    if not starters:
        return {}
    calls = "".join(f'  call void @"{name}"()\n' for name in starters)
    root = "__hls_starts"
    entries = ", ".join(f'{{ i32, ptr, ptr }} {{ i32 65535, ptr @"{name}", ptr null }}' for name in starters)
    part = text.part(root, f"define void @{root}() {{\n{calls}  ret void\n}}", {})
    part += f"@llvm.global_ctors = appending global [{len(starters)} x {{ i32, ptr, ptr }}] [{entries}]\n"
    module = binding.parse_assembly(part, create_context())
    for variable in module.global_variables:
        if not (variable.is_declaration or variable.name.startswith("llvm.")):
            variable.linkage = "external"  # whatever nothing reads here would go
    for function in module.functions:
        if not (function.is_declaration or function.name in starters):
            function.linkage = "internal"
            function.add_function_attribute("alwaysinline")
    before = _lines_of_variables(str(module))
    after = _lines_of_variables(run_passes(str(module), _PASSES))
    return {name: line for name, line in after.items() if line != before.get(name)}


def _lines_of_variables(text: str) -> dict[str, str]:
    return {found[1]: line for line in text.splitlines() if (found := _VARIABLE.match(line))}


def _with_value(line: str, evaluated: str, kind: str) -> str:
    """A variable's line with the type and value of another, as `kind`: global or constant."""
    head, value = _KIND.split(line, maxsplit=1)[0], _KIND.split(evaluated, maxsplit=1)[1]
    comdat = re.search(r", comdat(?:\([^)]*\))?", line)
    if comdat and "comdat" not in value:
        value = re.sub(r"(, align \d+)?$", lambda found: f"{comdat[0]}{found[0]}", value, count=1)
    return f"{head}{kind}{value}"
