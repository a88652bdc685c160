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
    Expression,
    FloatType,
    Function,
    Global,
    GlobalVariable,
    Instruction,
    IntType,
    Local,
    Module,
    Operand,
    OtherType,
    StructType,
    Type,
)
from hlsgen.schedule.places import loop_names_of, places_of

_TOKEN = re.compile(
    r"""[%@](?:"[^"]*"|[-a-zA-Z$._0-9]+) | c?"[^"]*" | ![0-9a-zA-Z._]+ | 0x[KMLHR]?[0-9A-Fa-f]+
    | -?[0-9]+(?:\.[0-9]*(?:e[+-]?[0-9]+)?)? | [a-zA-Z_][\w.]* | \.\.\. | [#\S]""",
    re.VERBOSE,
)
_FLOATS = {"half": 16, "bfloat": 16, "float": 32, "double": 64, "x86_fp80": 80, "fp128": 128}
_OTHERS = {"void", "label", "metadata", "token", "opaque"}
_LABEL = re.compile(r'^("[^"]*"|[-a-zA-Z$._0-9]+):')
_NO_FLAGS: frozenset[str] = frozenset()
_BINARY = frozenset(
    [
        "add",
        "sub",
        "mul",
        "udiv",
        "sdiv",
        "urem",
        "srem",
        "shl",
        "lshr",
        "ashr",
        "and",
        "or",
        "xor",
        "fadd",
        "fsub",
        "fmul",
        "fdiv",
        "frem",
    ]
)
_CONVERSIONS = frozenset(
    [
        "trunc",
        "zext",
        "sext",
        "fptrunc",
        "fpext",
        "fptoui",
        "fptosi",
        "uitofp",
        "sitofp",
        "ptrtoint",
        "inttoptr",
        "bitcast",
        "addrspacecast",
    ]
)
_SUBPROGRAM = re.compile(r"!dbg !(\d+)")


class _Tokens:
    """The tokens of one line, with types and values read from where one stands."""

    def __init__(self, text: str, structs: dict[str, Type]) -> None:
        self.words = _TOKEN.findall(text)
        self.at = 0
        self.structs = structs

    def peek(self) -> str:
        return self.words[self.at] if self.at < len(self.words) else ""

    def take(self) -> str:
        word = self.peek()
        self.at += 1
        return word

    def skip(self, word: str) -> bool:
        if self.peek() != word:
            return False
        self.at += 1
        return True

    def until_type(self) -> frozenset[str]:
        """The flags that stand before a type, such as nsw and inbounds."""
        if self.at_type():
            return _NO_FLAGS
        flags = []
        while self.at < len(self.words) and not self.at_type():
            flags.append(self.take())
            if flags[-1] == "(":
                self.closing()
        return frozenset(flags)

    def closing(self) -> None:
        """Skip to behind the bracket that closes the one just taken."""
        depth = 1
        while depth and self.at < len(self.words):
            word = self.take()
            depth += (word in "([{<") - (word in ")]}>") if len(word) == 1 else 0

    def at_type(self) -> bool:
        word = self.peek()
        return (
            word in _FLOATS
            or word in _OTHERS
            or word in ("ptr", "[", "{", "<")
            or (word[:1] == "i" and word[1:].isdigit())
            or (word[:1] == "%" and _bare(word) in self.structs)
        )

    def type(self) -> Type:
        word = self.take()
        if word[0] == "i" and word[1:].isdigit():
            return IntType(int(word[1:]))
        if word == "ptr":
            if self.skip("addrspace"):
                self.at += 3
            return POINTER
        if word in _FLOATS:
            return FloatType(_FLOATS[word])
        if word == "[":
            return self._array("]")
        if word == "<":
            if self.peek() == "{":
                self.take()
                struct = self._struct(packed=True)
                self.take()
                return struct
            return self._array(">")
        if word == "{":
            return self._struct(packed=False)
        if word[0] == "%":
            return self.structs.get(_bare(word), OtherType(word))
        return VOID if word == "void" else OtherType(word)

    def _array(self, closing: str) -> Type:
        count = int(self.take())
        self.take()  # x
        array = ArrayType(count, self.type())
        self.skip(closing)
        return array

    def _struct(self, packed: bool) -> Type:
        elements = []
        while not self.skip("}"):
            elements.append(self.type())
            self.skip(",")
        return StructType(tuple(elements), packed)

    def value(self) -> Operand:
        word = self.take()
        first = word[:1]
        if first == "%":
            return Local(_bare(word))
        if first == "@":
            return Global(_bare(word))
        if first == "-" or first.isdigit():
            if word.lstrip("-").isdigit():
                return Constant(int(word))
            return Constant(hash(word) | 1 << 70)
        if word in ("true", "false"):
            return Constant(int(word == "true"))
        if word in ("null", "zeroinitializer"):
            return Constant(0)
        if first in ("[", "{", "<"):
            self.closing()
            return Constant(None)
        if word == "getelementptr":
            return self._address()
        if self.peek() == "(" or word in _CONVERSIONS or word in _BINARY or word == "splat":
            return self._expression(word)
        return Constant(None)

    def _address(self) -> Operand:
        while self.peek() != "(":
            if self.take() == "inrange":
                self.take()
                self.closing()
        self.take()
        source = self.type()
        operands, types = [], []
        while not self.skip(")"):
            self.skip(",")
            self.until_type()
            types.append(self.type())
            operands.append(self.value())
        return Expression("getelementptr", tuple(operands), tuple(types), source)

    def _expression(self, opcode: str) -> Operand:
        while self.peek() not in ("(", ""):
            self.take()
        self.take()
        operands, types = [], []
        while self.peek() and not self.skip(")"):
            if self.skip(",") or self.skip("to"):
                continue
            types.append(self.type())
            if self.peek() not in (")", ""):
                operands.append(self.value())
        return Expression(opcode, tuple(operands), tuple(types))

    def typed(self) -> tuple[Type, Operand]:
        type_ = self.type()
        return type_, self.value()


def read_module(text: str) -> Module:
    """The module whose IR is `text`. Raises ValueError where the text is not LLVM's."""
    structs = _structs(text)
    functions: dict[str, Function] = {}
    variables: dict[str, GlobalVariable] = {}
    nodes: dict[int, str] = {}
    lines = iter(text.splitlines())
    for line in lines:
        first = line[:1]
        if first == "@":
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
    bodies = {_bare(name): body for name, body in _STRUCT.findall(text)}
    structs: dict[str, Type] = dict.fromkeys(bodies, OtherType("opaque"))
    done: set[str] = set()

    def resolve(name: str) -> None:
        if name not in done:
            done.add(name)
            for used in re.findall(r'%(?:"[^"]*"|[-a-zA-Z$._0-9]+)', bodies[name]):
                if _bare(used) in bodies:
                    resolve(_bare(used))
            structs[name] = _Tokens(bodies[name], structs).type()

    for name in bodies:
        resolve(name)
    return structs


def _bare(name: str) -> str:
    return name[1:].strip('"')


def _variable(line: str, structs: dict[str, Type]) -> GlobalVariable:
    name, _, body = line.partition(" = ")
    tokens = _Tokens(body[:4000], structs)
    constant = False
    while tokens.peek() and not tokens.at_type():
        word = tokens.take()
        if word == "(":
            tokens.closing()
        constant = constant or word == "constant"
    return GlobalVariable(_bare(name), tokens.type() if tokens.peek() else VOID, constant)


def _function(line: str, lines: object, structs: dict[str, Type]) -> Function:
    head = line[: line.index("@")]
    tokens = _Tokens(line[len(head) :], structs)
    name = _bare(tokens.take())
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
                argument = _bare(word)
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
    tokens = _Tokens(body, structs)
    name = ""
    if tokens.peek()[:1] == "%" and len(tokens.words) > 1 and tokens.words[1] == "=":
        name = _bare(tokens.take())
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


def _binary(name: str, opcode: str, tokens: _Tokens) -> Instruction:
    flags = tokens.until_type()
    type_, first = tokens.typed()
    tokens.skip(",")
    return Instruction(name, opcode, type_, (first, tokens.value()), (type_, type_), flags=flags)


def _unary(name: str, opcode: str, tokens: _Tokens) -> Instruction:
    tokens.until_type()
    type_, first = tokens.typed()
    return Instruction(name, opcode, type_, (first,), (type_,))


def _compare(name: str, opcode: str, tokens: _Tokens) -> Instruction:
    predicate = ""
    while not tokens.at_type():
        predicate = tokens.take()
    type_, first = tokens.typed()
    tokens.skip(",")
    return Instruction(name, opcode, IntType(1), (first, tokens.value()), (type_, type_), predicate=predicate)


def _conversion(name: str, opcode: str, tokens: _Tokens) -> Instruction:
    flags = tokens.until_type()
    type_, first = tokens.typed()
    tokens.skip("to")
    return Instruction(name, opcode, tokens.type(), (first,), (type_,), flags=flags)


def _select(name: str, opcode: str, tokens: _Tokens) -> Instruction:
    tokens.until_type()
    parts = []
    for _ in range(3):
        parts.append(tokens.typed())
        tokens.skip(",")
    return Instruction(
        name, opcode, parts[1][0], tuple(one for _, one in parts), tuple(type_ for type_, _ in parts)
    )


def _phi(name: str, opcode: str, tokens: _Tokens) -> Instruction:
    tokens.until_type()
    type_ = tokens.type()
    values, labels = [], []
    while tokens.skip("["):
        values.append(tokens.value())
        tokens.skip(",")
        labels.append(_bare(tokens.take()))
        tokens.skip("]")
        tokens.skip(",")
    return Instruction(name, opcode, type_, tuple(values), (type_,) * len(values), tuple(labels))


def _alloca(name: str, opcode: str, tokens: _Tokens) -> Instruction:
    tokens.until_type()
    return Instruction(name, opcode, POINTER, source=tokens.type())


def _load(name: str, opcode: str, tokens: _Tokens) -> Instruction:
    tokens.until_type()
    type_ = tokens.type()
    tokens.skip(",")
    pointer, operand = tokens.typed()
    return Instruction(name, opcode, type_, (operand,), (pointer,))


def _store(name: str, opcode: str, tokens: _Tokens) -> Instruction:
    tokens.until_type()
    type_, value = tokens.typed()
    tokens.skip(",")
    pointer, operand = tokens.typed()
    return Instruction(name, opcode, VOID, (value, operand), (type_, pointer))


def _element(name: str, opcode: str, tokens: _Tokens) -> Instruction:
    tokens.until_type()
    source = tokens.type()
    operands, types = [], []
    while tokens.skip(","):
        tokens.skip("inrange")
        type_, operand = tokens.typed()
        operands.append(operand)
        types.append(type_)
    return Instruction(name, opcode, POINTER, tuple(operands), tuple(types), source=source)


def _branch(name: str, opcode: str, tokens: _Tokens) -> Instruction:
    if tokens.skip("label"):
        return Instruction(name, opcode, VOID, labels=(_bare(tokens.take()),))
    type_, condition = tokens.typed()
    labels = []
    while tokens.skip(","):
        tokens.skip("label")
        labels.append(_bare(tokens.take()))
    return Instruction(name, opcode, VOID, (condition,), (type_,), tuple(labels))


def _switch(name: str, opcode: str, tokens: _Tokens) -> Instruction:
    type_, value = tokens.typed()
    labels: list[str] = []
    cases: list[Operand] = []
    while tokens.peek():
        word = tokens.take()
        if word == "label":
            labels.append(_bare(tokens.take()))
        elif word.lstrip("-").isdigit():
            cases.append(Constant(int(word)))
    return Instruction(name, opcode, VOID, (value, *cases), (type_,) * (1 + len(cases)), tuple(labels))


def _return(name: str, opcode: str, tokens: _Tokens) -> Instruction:
    type_ = tokens.type()
    if type_ == VOID:
        return Instruction(name, opcode, VOID)
    return Instruction(name, opcode, VOID, (tokens.value(),), (type_,))


def _call(name: str, opcode: str, tokens: _Tokens) -> Instruction:
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
        while tokens.peek() and tokens.peek()[0].islower() and not _is_value(tokens.peek()):
            tokens.take()  # attributes: noundef, align 4, dereferenceable(8)
            if tokens.skip("("):
                tokens.closing()
            elif tokens.words[tokens.at - 1] == "align":
                tokens.take()
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
    | _CONVERSIONS
    | _BINARY
)


def _is_value(word: str) -> bool:
    return word in _VALUES


def _aggregate(name: str, opcode: str, tokens: _Tokens) -> Instruction:
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


def _other(name: str, opcode: str, tokens: _Tokens) -> Instruction:
    return Instruction(name, opcode, VOID)


_Reader = Callable[[str, str, _Tokens], Instruction]
_READERS: dict[str, _Reader] = {
    **dict.fromkeys(_BINARY, _binary),
    **dict.fromkeys(_CONVERSIONS, _conversion),
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
