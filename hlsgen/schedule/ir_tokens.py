"""Words of a line of LLVM IR: types and values read from where one stands."""

from __future__ import annotations

import re

from hlsgen.schedule.ir import (
    POINTER,
    VOID,
    ArrayType,
    Constant,
    Expression,
    FloatType,
    Global,
    IntType,
    Local,
    Operand,
    OtherType,
    StructType,
    Type,
)

_TOKEN = re.compile(
    r"""[%@](?:"[^"]*"|[-a-zA-Z$._0-9]+) | c?"[^"]*" | ![0-9a-zA-Z._]+ | 0x[KMLHR]?[0-9A-Fa-f]+
    | -?[0-9]+(?:\.[0-9]*(?:e[+-]?[0-9]+)?)? | [a-zA-Z_][\w.]* | \.\.\. | [#\S]""",
    re.VERBOSE,
)
_FLOATS = {"half": 16, "bfloat": 16, "float": 32, "double": 64, "x86_fp80": 80, "fp128": 128}
_OTHERS = {"void", "label", "metadata", "token", "opaque"}
_NO_FLAGS: frozenset[str] = frozenset()


def _float_constant(word: str) -> Constant:
    """A number that is no integer: its text tells it from others."""
    return Constant(hash(word) | 1 << 70)


FLOAT_ZERO = _float_constant("0.000000e+00")
BINARY = frozenset(
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
CONVERSIONS = frozenset(
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


class Tokens:
    """The tokens of one line, with types and values read from where one stands."""

    def __init__(self, text: str, structs: dict[str, Type]) -> None:
        self.words: list[str] = _TOKEN.findall(text)
        self.at = 0
        self.structs = structs

    def peek(self) -> str:
        """The next token; nothing behind the last one."""
        try:  # asked for ten million times of a large kernel
            return self.words[self.at]
        except IndexError:
            return ""

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
            or (word[:1] == "%" and bare(word) in self.structs)
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
            return self.structs.get(bare(word), OtherType(word))
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
            return Local(bare(word))
        if first == "@":
            return Global(bare(word))
        if first == "-" or first.isdigit():
            if word.lstrip("-").isdigit():
                return Constant(int(word))
            return _float_constant(word)
        if word in ("true", "false"):
            return Constant(int(word == "true"))
        if word in ("null", "zeroinitializer"):
            return Constant(0)
        if first in ("[", "{", "<"):
            self.closing()
            return Constant(None)
        if word == "getelementptr":
            return self._address()
        if self.peek() == "(" or word in CONVERSIONS or word in BINARY or word == "splat":
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


def bare(name: str) -> str:
    """A name without its `%` or `@`, and without quotes."""
    return name[1:].strip('"')
