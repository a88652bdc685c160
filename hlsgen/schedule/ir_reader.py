"""Reads the text of LLVM IR (LLVM 15 to 22: opaque pointers) into hlsgen.schedule.ir.

A reader of our own: llvmlite shows neither predicates, nor types of elements, nor places without printing
each instruction, which takes longer than this.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from hlsgen.schedule.ir import (
    POINTER,
    VOID,
    ArrayType,
    Block,
    Constant,
    Function,
    Global,
    GlobalVariable,
    Instruction,
    IntType,
    Module,
    Operand,
    OtherType,
    StructType,
    Type,
)
from hlsgen.schedule.ir_tokens import BINARY, CONVERSIONS, Tokens, bare
from hlsgen.schedule.places import loop_names_of, places_of

_LABEL = re.compile(r'^("[^"]*"|[-a-zA-Z$._0-9]+):')
_SUBPROGRAM = re.compile(r"!dbg !(\d+)")


def read_module(text: str) -> Module:
    """The module whose IR is `text`. Raises ValueError where the text is not LLVM's."""
    structs = _structs(text)
    functions: dict[str, Function] = {}
    variables: dict[str, GlobalVariable] = {}
    nodes: dict[int, str] = {}
    lines = iter(text.splitlines())
    for line in lines:
        first = line[:1]
        if first == "@" and " alias " not in line:
            variable = _variable(line, structs)
            variables[variable.name] = variable
        elif first == "!" and line[1:2].isdigit():
            number, _, body = line.partition(" = ")
            nodes[int(number[1:])] = body
        elif line.startswith("define "):
            function = _function(line, lines, structs)
            functions[function.name] = function
    places, loop_places = places_of(nodes)
    return Module(functions, variables, places, loop_places, loop_names_of(nodes))


_STRUCT = re.compile(r'^(%(?:"[^"]*"|\S+)) = type (.*)$', re.MULTILINE)


def _structs(text: str) -> dict[str, Type]:
    """The named types of a module, which may name each other in any order."""
    bodies = {bare(name): body for name, body in _STRUCT.findall(text)}
    structs: dict[str, Type] = dict.fromkeys(bodies, OtherType("opaque"))
    done: set[str] = set()

    def resolve(name: str) -> None:
        if name not in done:
            done.add(name)
            for used in re.findall(r'%(?:"[^"]*"|[-a-zA-Z$._0-9]+)', bodies[name]):
                if bare(used) in bodies:
                    resolve(bare(used))
            structs[name] = Tokens(bodies[name], structs).type()

    for name in bodies:
        resolve(name)
    return structs


def _variable(line: str, structs: dict[str, Type]) -> GlobalVariable:
    name, _, body = line.partition(" = ")
    tokens = Tokens(_without_values(body), structs)
    constant = False
    while tokens.peek() and not tokens.at_type():
        word = tokens.take()
        if word == "(":
            tokens.closing()
        constant = constant or word == "constant"
    type_ = tokens.type() if tokens.peek() else VOID
    return GlobalVariable(bare(name), type_, constant, _values(body) if constant else None)


_BRACKET = re.compile(r"[\[\]{}<>]")
MOST_WITHOUT_BRACKETS = 4000


def _without_values(body: str) -> str:
    """The beginning of a variable's text, to the end of its type: tables have megabytes of values behind it,
    and the type of a table that ends in zeros has thousands of characters itself.
    """
    depth = 0
    for found in _BRACKET.finditer(body):
        depth += 1 if found[0] in "[{<" else -1
        if depth == 0:
            return body[: max(found.end(), MOST_WITHOUT_BRACKETS)]
    return body[:MOST_WITHOUT_BRACKETS]


_INTEGER = re.compile(r"\bi(\d+) (-?\d+)")


def _values(body: str) -> tuple[int, int, int] | None:
    """The bits, the least and the greatest of the integers that a constant is made of."""
    found = [(int(bits), int(value)) for bits, value in _INTEGER.findall(body)]
    if not found or ' c"' in body or len({bits for bits, _ in found}) > 1:
        return None
    values = [value for _, value in found] + [0] * ("zeroinitializer" in body)
    return found[0][0], min(values), max(values)


def _function(line: str, lines: object, structs: dict[str, Type]) -> Function:
    head = line[: line.index("@")]
    tokens = Tokens(line[len(head) :], structs)
    name = bare(tokens.take())
    tokens.take()  # (
    arguments: list[tuple[str, Type]] = []
    while tokens.peek() and not tokens.skip(")"):
        if tokens.skip(",") or tokens.skip("..."):
            continue
        type_ = tokens.type()
        argument = str(len(arguments))
        while tokens.peek() not in (",", ")", ""):
            word = tokens.take()
            if word == "(":
                tokens.closing()
            elif word[0] == "%":
                argument = bare(word)
        arguments.append((argument, type_))
    found = _SUBPROGRAM.search(line)
    function = Function(name, arguments, {}, int(found[1]) if found else -1)
    _body(function, lines, structs)
    return function


def _body(function: Function, lines: object, structs: dict[str, Type]) -> None:
    block = Block("")
    for line in lines:  # type: ignore[attr-defined]
        if line == "}":
            break
        if line[:1] != " ":
            label = _LABEL.match(line)
            if label:
                block = function.blocks[label[1].strip('"')] = Block(label[1].strip('"'))
            continue
        if line.lstrip().startswith("#dbg_"):
            continue
        if line.endswith("["):  # a switch, whose cases stand on lines of their own
            for more in lines:  # type: ignore[attr-defined]
                line += more
                if more.strip().startswith("]"):
                    break
        if not function.blocks:
            block = function.blocks[str(len(function.arguments))] = Block(str(len(function.arguments)))
        block.instructions.append(_instruction(line, structs))


def _instruction(line: str, structs: dict[str, Type]) -> Instruction:
    body, place, loop = _metadata(line)
    tokens = Tokens(body, structs)
    name = ""
    if tokens.peek()[:1] == "%" and len(tokens.words) > 1 and tokens.words[1] == "=":
        name = bare(tokens.take())
        tokens.take()
    opcode = tokens.take()
    while opcode in ("tail", "musttail", "notail"):
        opcode = tokens.take()
    read = _READERS.get(opcode, _other)
    instruction = read(name, opcode, tokens)
    instruction.place, instruction.loop = place, loop
    return instruction


_DBG = re.compile(r", !dbg !(\d+)")
_LOOP = re.compile(r", !llvm\.loop !(\d+)")


def _metadata(line: str) -> tuple[str, int, int]:
    at = line.find(", !")
    if at < 0:
        return line, -1, -1
    tail = line[at:]
    dbg, loop = _DBG.search(tail), _LOOP.search(tail)
    return line[:at], int(dbg[1]) if dbg else -1, int(loop[1]) if loop else -1


def _binary(name: str, opcode: str, tokens: Tokens) -> Instruction:
    flags = tokens.until_type()
    type_, first = tokens.typed()
    tokens.skip(",")
    return Instruction(name, opcode, type_, (first, tokens.value()), (type_, type_), flags=flags)


def _unary(name: str, opcode: str, tokens: Tokens) -> Instruction:
    tokens.until_type()
    type_, first = tokens.typed()
    return Instruction(name, opcode, type_, (first,), (type_,))


def _compare(name: str, opcode: str, tokens: Tokens) -> Instruction:
    predicate = ""
    while not tokens.at_type():
        predicate = tokens.take()
    type_, first = tokens.typed()
    tokens.skip(",")
    return Instruction(name, opcode, IntType(1), (first, tokens.value()), (type_, type_), predicate=predicate)


def _conversion(name: str, opcode: str, tokens: Tokens) -> Instruction:
    flags = tokens.until_type()
    type_, first = tokens.typed()
    tokens.skip("to")
    return Instruction(name, opcode, tokens.type(), (first,), (type_,), flags=flags)


def _select(name: str, opcode: str, tokens: Tokens) -> Instruction:
    tokens.until_type()
    parts = []
    for _ in range(3):
        parts.append(tokens.typed())
        tokens.skip(",")
    return Instruction(
        name, opcode, parts[1][0], tuple(one for _, one in parts), tuple(type_ for type_, _ in parts)
    )


def _phi(name: str, opcode: str, tokens: Tokens) -> Instruction:
    tokens.until_type()
    type_ = tokens.type()
    values, labels = [], []
    while tokens.skip("["):
        values.append(tokens.value())
        tokens.skip(",")
        labels.append(bare(tokens.take()))
        tokens.skip("]")
        tokens.skip(",")
    return Instruction(name, opcode, type_, tuple(values), (type_,) * len(values), tuple(labels))


def _alloca(name: str, opcode: str, tokens: Tokens) -> Instruction:
    tokens.until_type()
    return Instruction(name, opcode, POINTER, source=tokens.type())


def _load(name: str, opcode: str, tokens: Tokens) -> Instruction:
    flags = tokens.until_type()
    type_ = tokens.type()
    tokens.skip(",")
    pointer, operand = tokens.typed()
    return Instruction(name, opcode, type_, (operand,), (pointer,), flags=flags)


def _store(name: str, opcode: str, tokens: Tokens) -> Instruction:
    flags = tokens.until_type()
    type_, value = tokens.typed()
    tokens.skip(",")
    pointer, operand = tokens.typed()
    return Instruction(name, opcode, VOID, (value, operand), (type_, pointer), flags=flags)


def _element(name: str, opcode: str, tokens: Tokens) -> Instruction:
    tokens.until_type()
    source = tokens.type()
    operands, types = [], []
    while tokens.skip(","):
        tokens.skip("inrange")
        type_, operand = tokens.typed()
        operands.append(operand)
        types.append(type_)
    return Instruction(name, opcode, POINTER, tuple(operands), tuple(types), source=source)


def _branch(name: str, opcode: str, tokens: Tokens) -> Instruction:
    if tokens.skip("label"):
        return Instruction(name, opcode, VOID, labels=(bare(tokens.take()),))
    type_, condition = tokens.typed()
    labels = []
    while tokens.skip(","):
        tokens.skip("label")
        labels.append(bare(tokens.take()))
    return Instruction(name, opcode, VOID, (condition,), (type_,), tuple(labels))


def _switch(name: str, opcode: str, tokens: Tokens) -> Instruction:
    type_, value = tokens.typed()
    labels: list[str] = []
    cases: list[Operand] = []
    while tokens.peek():
        word = tokens.take()
        if word == "label":
            labels.append(bare(tokens.take()))
        elif word.lstrip("-").isdigit():
            cases.append(Constant(int(word)))
    return Instruction(name, opcode, VOID, (value, *cases), (type_,) * (1 + len(cases)), tuple(labels))


def _return(name: str, opcode: str, tokens: Tokens) -> Instruction:
    type_ = tokens.type()
    if type_ == VOID:
        return Instruction(name, opcode, VOID)
    return Instruction(name, opcode, VOID, (tokens.value(),), (type_,))


def _call(name: str, opcode: str, tokens: Tokens) -> Instruction:
    tokens.until_type()
    type_ = tokens.type()
    if tokens.skip("("):  # the type of a variadic function
        tokens.closing()
    callee = tokens.value()
    operands, types = [], []
    tokens.skip("(")
    while tokens.peek() and not tokens.skip(")"):
        if tokens.skip(","):
            continue
        argument = tokens.type()
        while (word := tokens.peek()) and word[0].islower() and word not in _VALUES:
            tokens.at += 2 if word == "align" else 1  # attributes: noundef, align 4, dereferenceable(8)
            if tokens.skip("("):
                tokens.closing()
        operands.append(tokens.value())
        types.append(argument)
    called = callee.name if isinstance(callee, Global) else ""
    return Instruction(name, "call", type_, tuple(operands), tuple(types), callee=called)


_VALUES = (
    frozenset(
        [
            "true",
            "false",
            "null",
            "undef",
            "poison",
            "zeroinitializer",
            "none",
            "getelementptr",
            "splat",
            "c",
            "asm",
        ]
    )
    | CONVERSIONS
    | BINARY
)


def _aggregate(name: str, opcode: str, tokens: Tokens) -> Instruction:
    """extractvalue, insertvalue, extractelement, insertelement, shufflevector."""
    operands, types = [], []
    while tokens.peek():
        if tokens.at_type():
            type_, operand = tokens.typed()
        else:
            type_, operand = IntType(32), tokens.value()
        operands.append(operand)
        types.append(type_)
        tokens.skip(",")
    result = types[0]
    if opcode == "extractvalue":
        for index in operands[1:]:
            at = index.value if isinstance(index, Constant) and index.value is not None else 0
            if isinstance(result, StructType):
                result = result.elements[at]
            elif isinstance(result, ArrayType):
                result = result.element
    elif opcode == "extractelement" and isinstance(result, ArrayType):
        result = result.element
    return Instruction(name, opcode, result, tuple(operands), tuple(types))


def _other(name: str, opcode: str, tokens: Tokens) -> Instruction:
    return Instruction(name, opcode, VOID)


_Reader = Callable[[str, str, Tokens], Instruction]
_READERS: dict[str, _Reader] = {
    **dict.fromkeys(BINARY, _binary),
    **dict.fromkeys(CONVERSIONS, _conversion),
    **dict.fromkeys(
        ("extractvalue", "insertvalue", "extractelement", "insertelement", "shufflevector"), _aggregate
    ),
    "fneg": _unary,
    "freeze": _unary,
    "icmp": _compare,
    "fcmp": _compare,
    "select": _select,
    "phi": _phi,
    "alloca": _alloca,
    "load": _load,
    "store": _store,
    "getelementptr": _element,
    "br": _branch,
    "switch": _switch,
    "ret": _return,
    "call": _call,
    "invoke": _call,
}
