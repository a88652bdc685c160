"""What pointer arguments point to, where no pragma says it: by how the code addresses them."""

from __future__ import annotations

from collections.abc import Mapping

from hlsgen.schedule.ir import ArrayType, Constant, Local, Module, PointerType, StructType, Type

Shapes = Mapping[tuple[str, str], Type]
"""What pointer arguments point to, by function and argument."""


def shapes_of(module: Module) -> dict[tuple[str, str], Type]:
    """What pointer arguments point to, by how it is addressed: a struct, or arrays (the first extent
    unknown)."""
    shapes: dict[tuple[str, str], Type] = {}
    for function in module.functions.values():
        arguments = {name for name, type_ in function.arguments if isinstance(type_, PointerType)}
        for _, one in function.instructions():
            if one.opcode != "getelementptr" or not isinstance(one.source, StructType | ArrayType):
                continue
            base = one.operands[0]
            if isinstance(base, Local) and base.name in arguments:
                first = one.operands[1]
                several = not (isinstance(first, Constant) and first.value == 0)
                known = shapes.get((function.name, base.name))
                if isinstance(one.source, ArrayType) or several:
                    whole: Type = ArrayType(0, one.source)
                    replaces = known is None or (several and isinstance(known, StructType))
                else:
                    whole, replaces = one.source, known is None
                if replaces:
                    shapes[function.name, base.name] = whole
    return shapes
