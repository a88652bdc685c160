"""LLVM IR read as data: every kind of instruction, and whole kernels held against llvmlite."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hlsgen.schedule.ir import (
    POINTER,
    VOID,
    ArrayType,
    Constant,
    Expression,
    FloatType,
    Function,
    Global,
    Instruction,
    IntType,
    Local,
    StructType,
    Type,
    alignment_of,
    bits_of,
    bytes_of,
)
from hlsgen.schedule.ir_reader import read_module
from tests.support.schedule_ir import HAS_LLVM, needs_llvm

I1, I8, I32, I64, FLOAT = IntType(1), IntType(8), IntType(32), IntType(64), FloatType(32)

HEAD = """
%outer = type { i32, %inner, [2 x %"quoted name"] }
%inner = type { i7, double }
%"quoted name" = type <{ i8, i24 }>
%hidden = type opaque
@table = internal unnamed_addr constant [4 x i16] [i16 1, i16 -2, i16 3, i16 4], align 2
@"a table" = global [2 x %inner] zeroinitializer, align 16
@state = internal global i37 -5, align 8
declare i32 @other(i32, ptr, ...)
declare float @llvm.fma.f32(float, float, float)
declare void @"odd name"(ptr)
"""


def instructions(body: str, arguments: str = "i32 %x, i32 %y, ptr %p, float %f, i1 %c") -> list[Instruction]:
    """The instructions of a function's body; llvmlite, where it is there, says that it is IR."""
    text = f"{HEAD}\ndefine void @top({arguments}) {{\n{body}\n}}\n"
    if HAS_LLVM:
        from llvmlite import binding

        binding.parse_assembly(text)
    (function,) = read_module(text).functions.values()
    return [one for _, one in function.instructions()]


def one(line: str) -> Instruction:
    """The instruction of a line."""
    return instructions(f"entry:\n  {line}\n  ret void")[0]


X, Y, P, F, C = (Local(name) for name in "xypfc")


@pytest.mark.parametrize(
    "opcode",
    ["add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "shl", "lshr", "ashr", "and", "or", "xor"],
)
def test_integer_operations(opcode: str) -> None:
    found = one(f"%r = {opcode} i32 %x, -7")
    assert (found.name, found.opcode, found.type) == ("r", opcode, I32)
    assert (found.operands, found.types) == ((X, Constant(-7)), (I32, I32))


def test_flags_stand_before_types() -> None:
    assert one("%r = add nuw nsw i32 %x, %y").flags == {"nuw", "nsw"}
    assert one("%r = or disjoint i32 %x, %y").flags == {"disjoint"}
    assert one("%r = udiv exact i32 %x, 4").flags == {"exact"}
    assert one("%r = zext nneg i32 %x to i64").flags == {"nneg"}
    assert one("%r = sub i32 %x, %y").flags == frozenset()
    found = one("%r = fmul reassign nnan float %f, 0x3FF8000000000000".replace("reassign", "reassoc"))
    assert (found.opcode, found.type, found.operands[0]) == ("fmul", FLOAT, F)


@pytest.mark.parametrize("opcode", ["fadd", "fsub", "fmul", "fdiv", "frem"])
def test_floating_point_operations(opcode: str) -> None:
    found = one(f"%r = {opcode} float %f, 1.500000e+00")
    assert (found.opcode, found.type, found.types) == (opcode, FLOAT, (FLOAT, FLOAT))
    assert isinstance(found.operands[1], Constant)
    assert one(f"%r = {opcode} float %f, 2.500000e+00").operands[1] != found.operands[1]


def test_unary_operations() -> None:
    assert one("%r = fneg float %f").operands == (F,)
    assert one("%r = freeze i32 %x").type == I32


@pytest.mark.parametrize(
    ("line", "before", "after"),
    [
        ("trunc i32 %x to i5", I32, IntType(5)),
        ("zext i32 %x to i1000", I32, IntType(1000)),
        ("sext i32 %x to i33", I32, IntType(33)),
        ("fptrunc float %f to half", FLOAT, FloatType(16)),
        ("fpext float %f to double", FLOAT, FloatType(64)),
        ("fptosi float %f to i9", FLOAT, IntType(9)),
        ("fptoui float %f to i9", FLOAT, IntType(9)),
        ("sitofp i32 %x to float", I32, FLOAT),
        ("uitofp i32 %x to double", I32, FloatType(64)),
        ("ptrtoint ptr %p to i64", POINTER, I64),
        ("inttoptr i32 %x to ptr", I32, POINTER),
        ("bitcast float %f to i32", FLOAT, I32),
        ("addrspacecast ptr %p to ptr addrspace(1)", POINTER, POINTER),
    ],
)
def test_conversions(line: str, before: Type, after: Type) -> None:
    found = one(f"%r = {line}")
    assert (found.opcode, found.types, found.type) == (line.split()[0], (before,), after)


def test_comparisons_and_choices() -> None:
    found = one("%r = icmp samesign ult i32 %x, 64")
    assert (found.opcode, found.predicate, found.type, found.types) == ("icmp", "ult", I1, (I32, I32))
    assert one("%r = fcmp une float %f, 0.000000e+00").predicate == "une"
    assert one("%r = icmp eq ptr %p, null").operands == (P, Constant(0))
    found = one("%r = select i1 %c, i32 %x, i32 0")
    assert (found.type, found.operands, found.types) == (I32, (C, X, Constant(0)), (I1, I32, I32))
    assert one("%r = select i1 true, i32 poison, i32 undef").operands == (
        Constant(1),
        Constant(None),
        Constant(None),
    )


def test_memory() -> None:
    found = one("%r = alloca [4 x [3 x %inner]], align 16")
    inner = StructType((IntType(7), FloatType(64)))
    assert (found.type, found.source) == (POINTER, ArrayType(4, ArrayType(3, inner)))
    found = one("%r = load volatile i7, ptr %p, align 1")
    assert (found.type, found.operands, found.types) == (IntType(7), (P,), (POINTER,))
    found = one("store <2 x i8> zeroinitializer, ptr %p, align 2")
    assert (found.name, found.type, found.operands) == ("", VOID, (Constant(0), P))
    assert found.types == (ArrayType(2, I8), POINTER)
    found = one("%r = getelementptr inbounds nuw %outer, ptr %p, i64 0, i32 2, i32 %x")
    assert found.type == POINTER
    assert isinstance(found.source, StructType)
    assert (found.operands, found.types) == (
        (P, Constant(0), Constant(2), X),
        (POINTER, I64, I32, I32),
    )


def test_addresses_of_global_variables_are_expressions() -> None:
    element = Expression("getelementptr", (Global("table"), Constant(2)), (POINTER, I64), source=IntType(16))
    found = one("%r = load i16, ptr getelementptr inbounds nuw (i16, ptr @table, i64 2), align 2")
    assert found.operands == (element,)
    found = one("store ptr getelementptr (i16, ptr @table, i64 2), ptr %p, align 8")
    assert found.operands == (element, P)
    assert one('%r = load i7, ptr @"a table", align 1').operands == (Global("a table"),)
    found = one("%r = add i64 ptrtoint (ptr @table to i64), 1")
    assert found.operands == (
        Expression("ptrtoint", (Global("table"),), (POINTER, I64)),
        Constant(1),
    )


def test_calls() -> None:
    found = one("%r = tail call noundef i32 (i32, ptr, ...) @other(i32 noundef %x, ptr align 8 %p, i64 3) #4")
    assert (found.opcode, found.callee, found.type) == ("call", "other", I32)
    assert (found.operands, found.types) == ((X, P, Constant(3)), (I32, POINTER, I64))
    found = one(
        "call void @llvm.memset.p0.i64(ptr noundef align 8 dereferenceable(8) %p, i8 0, i64 64, i1 false)"
    )
    assert (found.callee, found.operands[1:]) == (
        "llvm.memset.p0.i64",
        (Constant(0), Constant(64), Constant(0)),
    )
    assert found.operands[0] == P
    found = one('call void @"odd name"(ptr getelementptr (i8, ptr @table, i64 2))')
    assert found.callee == "odd name"
    assert isinstance(found.operands[0], Expression)
    assert one("%r = call i32 %p(i32 1)").callee == ""
    assert one("%r = call fast float @llvm.fma.f32(float %f, float %f, float 1.0)").type == FLOAT


def test_aggregates() -> None:
    found = one("%r = extractvalue { i32, [2 x float] } poison, 1, 0")
    assert found.type == FLOAT
    found = one("%r = insertvalue { i32, float } poison, float %f, 1")
    assert found.type == StructType((I32, FLOAT))
    assert found.operands == (Constant(None), F, Constant(1))
    assert one("%r = extractelement <4 x i8> poison, i64 1").type == I8


def test_blocks_phis_and_branches() -> None:
    body = """entry:
  br i1 %c, label %"a b", label %next
"a b":                                          ; preds = %entry
  br label %next, !dbg !7, !llvm.loop !9
next:
  %r = phi i32 [ -1, %entry ], [ %x, %"a b" ]
  switch i32 %r, label %next [
    i32 1, label %"a b"
    i32 -5, label %end
  ]
end:
  unreachable"""
    text = f"{HEAD}\ndefine i32 @top(i1 %c, i32 %x) {{\n{body}\n}}\n"
    function = read_module(text).functions["top"]
    assert list(function.blocks) == ["entry", "a b", "next", "end"]
    assert function.blocks["entry"].successors == ("a b", "next")
    jump = function.blocks["a b"].instructions[0]
    assert (jump.labels, jump.operands, jump.place, jump.loop) == (("next",), (), 7, 9)
    phi, choice = function.blocks["next"].instructions
    assert (phi.operands, phi.labels) == ((Constant(-1), X), ("entry", "a b"))
    assert choice.operands == (Local("r"), Constant(1), Constant(-5))
    assert choice.labels == ("next", "a b", "end")
    assert function.blocks["end"].successors == ()


def test_an_entry_without_a_label_is_numbered_behind_the_arguments() -> None:
    text = """define i32 @top(i32 %0, i1 %1) {
  br i1 %1, label %3, label %4
3:                                                ; preds = %2
  br label %4
4:                                                ; preds = %3, %2
  %5 = phi i32 [ 0, %2 ], [ %0, %3 ]
  ret i32 %5
}
"""
    function = read_module(text).functions["top"]
    assert function.arguments == [("0", I32), ("1", I1)]
    assert list(function.blocks) == ["2", "3", "4"]
    assert function.blocks["4"].instructions[0].labels == ("2", "3")
    assert function.blocks["4"].instructions[1].operands == (Local("5"),)


def test_arguments_have_attributes() -> None:
    text = (
        "define internal noundef i32 @_Z3topv(ptr noundef nonnull align 8 dereferenceable(16) %this, "
        "ptr sret(%inner) align 8 %0, float noundef %f, ...) "
        "unnamed_addr #0 !dbg !12 {\nentry:\n  ret i32 0\n}\n"
    )
    function = read_module(HEAD + text).functions["_Z3topv"]
    assert function.arguments == [("this", POINTER), ("0", POINTER), ("f", FLOAT)]
    assert function.subprogram == 12


def test_types_may_name_later_ones() -> None:
    module = read_module(HEAD)
    inner = StructType((IntType(7), FloatType(64)))
    table, state = module.variables["table"], module.variables["state"]
    assert (table.type, table.constant) == (ArrayType(4, IntType(16)), True)
    assert (state.type, state.constant) == (IntType(37), False)
    assert module.variables["a table"].type == ArrayType(2, inner)
    found, _ = instructions("entry:\n  %r = alloca %outer, align 8\n  unreachable")
    packed = StructType((I8, IntType(24)), packed=True)
    assert found.source == StructType((I32, inner, ArrayType(2, packed)))


def test_places_follow_inlining() -> None:
    text = """define void @top() !dbg !3 {
entry:
  %r = add i32 1, 2, !dbg !7
  br label %entry, !dbg !6, !llvm.loop !9
}
!1 = !DIFile(filename: "src/a \\"b\\".cpp", directory: "/")
!2 = !DIFile(filename: "inner.h", directory: "/")
!3 = distinct !DISubprogram(name: "top", scope: !1, file: !1, line: 3)
!4 = distinct !DISubprogram(name: "inner", scope: !2, file: !2, line: 30)
!5 = distinct !DILexicalBlock(scope: !4, file: !2, line: 31, column: 2)
!6 = !DILocation(line: 5, column: 1, scope: !3)
!7 = !DILocation(line: 32, column: 1, scope: !5, inlinedAt: !6)
!8 = !{!"llvm.loop.mustprogress"}
!9 = distinct !{!9, !6, !7, !8, !10}
!10 = !{!"hlsgen.loop", i64 41}
"""
    module = read_module(text)
    add, jump = module.functions["top"].blocks["entry"].instructions
    place = module.places[add.place]
    assert (place.file, place.line, place.function) == ("inner.h", 32, "inner")
    assert place.inlined_at is not None
    assert (place.inlined_at.line, place.inlined_at.function) == (5, "top")
    assert module.loop_places[jump.loop] == module.places[6]
    assert module.loop_names == {9: 41}


@pytest.mark.parametrize(
    ("type_", "bits", "bytes_", "alignment"),
    [
        (IntType(1), 1, 1, 1),
        (IntType(7), 7, 1, 1),
        (IntType(9), 9, 2, 2),
        (IntType(24), 24, 4, 4),
        (IntType(33), 33, 8, 8),
        (IntType(64), 64, 8, 8),
        (FLOAT, 32, 4, 4),
        (POINTER, 64, 8, 8),
        (ArrayType(3, IntType(17)), 51, 12, 4),
        (StructType((I8, I32, I8)), 48, 12, 4),
        (StructType((I8, I32, I8), packed=True), 48, 6, 1),
        (StructType(()), 0, 0, 1),
    ],
)
def test_sizes_are_those_of_c(type_: Type, bits: int, bytes_: int, alignment: int) -> None:
    assert (bits_of(type_), bytes_of(type_), alignment_of(type_)) == (bits, bytes_, alignment)


def test_fields_are_aligned() -> None:
    assert StructType((I8, I32, I8)).offsets == (0, 4, 8, 9)
    assert StructType((I8, I32, I8), packed=True).offsets == (0, 1, 5, 6)


@needs_llvm
def test_kernels_are_read_as_llvm_reads_them() -> None:
    from llvmlite import binding

    from hlsgen.schedule.front_end import compile_to_ir
    from hlsgen.schedule.optimise import inline, unroll

    front = compile_to_ir([Path(__file__).with_name("kernels.cpp")])
    tops = ["histogram", "line_buffer", "until_last", "aggregated", "products", "rolled_inside", "exclusive"]
    inlined = inline(front.ir, tops)
    for text in (front.ir, inlined, unroll(inlined)):
        theirs = binding.parse_assembly(text)
        ours = read_module(text)
        names = {one.name for one in theirs.functions if not one.is_declaration}
        assert names == set(ours.functions)
        assert {one.name for one in theirs.global_variables} == set(ours.variables)
        for one in theirs.functions:
            if one.name in names:
                assert list(described(ours.functions[one.name])) == list(described_by_llvm(one))


def described(function: Function) -> Iterator[tuple[object, ...]]:
    """Each instruction as what llvmlite knows of it too."""
    for block in function.blocks.values():
        for one in block.instructions:
            values = one.operands
            names = [value.name for value in values if isinstance(value, Local) and not value.name.isdigit()]
            yield (
                one.opcode,
                "" if one.name.isdigit() else one.name,
                bits_of(one.type),
                sorted(names),
                one.callee,
            )


def described_by_llvm(function: Any) -> Iterator[tuple[object, ...]]:
    for block in function.blocks:
        for one in block.instructions:
            operands = list(one.operands)
            called = one.opcode == "call" and operands[-1].value_kind.name == "function"
            callee = operands[-1].name if called else ""
            names = [
                value.name
                for value in operands
                if value.value_kind.name in ("instruction", "argument") and value.name
            ]
            yield one.opcode, one.name, llvm_bits(one), sorted(names), callee


def llvm_bits(one: Any) -> int:
    """The bits of an instruction's result by its printed type."""
    module = read_module(f"@x = external global {one.type}\n") if str(one.type) != "void" else None
    return 0 if module is None else bits_of(module.variables["x"].type)


def test_a_type_may_be_longer_than_what_is_read_at_once() -> None:
    """Tables whose rows end in zeros: each row has a type of its own, and the text of all is long."""
    rows = ", ".join(f"<{{ [{row + 1} x i8], [{255 - row} x i8] }}>" for row in range(200))
    values = ", ".join("zeroinitializer" for _ in range(200))
    module = read_module(f"@table = internal constant <{{ {rows} }}> <{{ {values} }}>, align 1\n")
    type_ = module.variables["table"].type
    assert isinstance(type_, StructType) and len(type_.elements) == 200
    assert bytes_of(type_) == 200 * 256
