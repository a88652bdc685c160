"""A module's text in pieces: functions, global variables, types, metadata; and what a few of them need."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

SYMBOL = r"(?:\"[^\"]+\"|[-\w$.]+)"
_DEFINE = re.compile(rf"define (?P<how>[^@\n]*)@(?P<name>{SYMBOL})\(")
_VARIABLE = re.compile(rf"(?P<name>[@$]{SYMBOL}) = ")
_DECLARE = re.compile(rf"declare [^@\n]*(?P<name>@{SYMBOL})\(")
_NODE = re.compile(r"!(?P<number>\d+) = ")
_SYMBOLS = re.compile(rf"[@$]{SYMBOL}")
_NODES = re.compile(r"!(\d+)\b")
_LINKAGE = re.compile(r"\b(?:internal|private|linkonce_odr|weak_odr|linkonce|weak|dso_local|hidden)\b ?")
_ALIAS = re.compile(r"^@([-\w$.]+) = [^\n]*\balias [^\n]*, ptr @([-\w$.]+)\n", re.MULTILINE)
_HEADER_END = re.compile(r"(?: comdat(?:\([^)]*\))?)?(?: align \d+)?(?: ![a-z]+ !\d+)* \{$")


@dataclass(frozen=True)
class ModuleText:
    """The pieces of a module, as the text has them; names without quotes.

    functions: bodies from `define` to the brace. symbols: lines of global variables and declarations by
    `@name`, of comdats by `$name`. nodes: lines of numbered metadata. always: all other lines (types,
    attributes, named metadata).
    """

    functions: Mapping[str, str]
    symbols: Mapping[str, str]
    nodes: Mapping[int, str]
    always: tuple[str, ...]

    @cached_property
    def types(self) -> str:
        """The lines that define types."""
        return "".join(f"{line}\n" for line in self.always if line.startswith("%"))

    def alone(self, name: str) -> str:
        """A text with one function's body only, for a reader that needs no more."""
        return self.types + self.functions[name]

    def callees(self, name: str) -> set[str]:
        """The functions with bodies that a function names, itself or through others, and the function."""
        found = {name}
        waiting = [name]
        while waiting:
            for symbol in set(_SYMBOLS.findall(self.functions[waiting.pop()])):
                one = symbol[1:].strip('"')
                if one in self.functions and one not in found:
                    found.add(one)
                    waiting.append(one)
        return found

    def callers_of(self, names: Collection[str]) -> set[str]:
        """The functions that name some of `names`, themselves or through others."""
        callers: dict[str, set[str]] = {}
        for caller, body in self.functions.items():
            for symbol in set(_SYMBOLS.findall(body)):
                callers.setdefault(symbol[1:].strip('"'), set()).add(caller)
        found: set[str] = set()
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            new = callers.get(name, set()) - found - {name}
            found |= new
            waiting += new
        return found

    def part(self, root: str, body: str, elsewhere: Mapping[str, str]) -> str:
        """The module of one function with all that it needs.

        body: in place of the function's own. elsewhere: the declarations of functions that stay without body.
        """
        bodies = {root: body}
        lines: dict[str, str] = {}
        waiting = [body]
        while waiting:
            for symbol in dict.fromkeys(_SYMBOLS.findall(waiting.pop())):
                symbol = symbol.replace('"', "")
                name = symbol[1:]
                if name in elsewhere:
                    lines[symbol] = elsewhere[name]
                    continue
                for known in (symbol, f"${name}"):
                    if known in self.symbols and known not in lines:
                        lines[known] = self.symbols[known]
                        waiting.append(lines[known])
                if name in self.functions and name not in bodies:
                    bodies[name] = self.functions[name]
                    waiting.append(bodies[name])
        text = [*self.always, *lines.values(), *bodies.values()]
        return "\n".join([*text, *self._nodes_of(text), ""])

    def _nodes_of(self, text: Iterable[str]) -> list[str]:
        """The metadata that texts name, and what that names."""
        found: set[int] = set()
        waiting = [int(number) for piece in text for number in _NODES.findall(piece)]
        while waiting:
            number = waiting.pop()
            if number in found or number not in self.nodes:
                continue
            found.add(number)
            line = self.nodes[number]
            waiting += [int(one) for one in _NODES.findall(line, line.index(" = "))]
        return [self.nodes[number] for number in sorted(found)]


def module_text(text: str) -> ModuleText:
    """The pieces of a module's text."""
    functions: dict[str, str] = {}
    symbols: dict[str, str] = {}
    nodes: dict[int, str] = {}
    always: list[str] = []
    pieces = re.split(r"(^define .*?^\}$)", text, flags=re.MULTILINE | re.DOTALL)
    for body in pieces[1::2]:
        functions[_name(_DEFINE.match(body))] = body
    for line in "".join(pieces[::2]).splitlines():
        if found := _NODE.match(line):
            nodes[int(found["number"])] = line
        elif found := _VARIABLE.match(line) or _DECLARE.match(line):
            symbols[_name(found)] = line
        elif line and not line.startswith(";"):
            always.append(line)
    return ModuleText(functions=functions, symbols=symbols, nodes=nodes, always=tuple(always))


def cut(arguments: str) -> Iterator[str]:
    """Arguments, cut at the commas that stand in no brackets."""
    depth, begin = 0, 0
    for at, character in enumerate(arguments):
        depth += (character in "([{<") - (character in ")]}>")
        if character == "," and not depth:
            yield arguments[begin:at].strip()
            begin = at + 1
    yield arguments[begin:].strip()


def linkage_of(body: str) -> str:
    """What stands before a function's return type and in it: linkage, visibility, attributes."""
    found = _DEFINE.match(body)
    return found["how"] if found else ""


def declaration(body: str, name: str) -> str:
    """A function's declaration under another name."""
    header = body.split("\n", 1)[0]
    declared = _HEADER_END.sub("", "declare " + _LINKAGE.sub("", header.removeprefix("define ")))
    return re.sub(rf"@{SYMBOL}\(", f'@"{name}"(', declared, count=1)


def _name(found: re.Match[str] | None) -> str:
    return found["name"].replace('"', "") if found else ""


def without_aliases(text: str) -> str:
    """The module with functions called by their own names: a constructor's second name is never inlined."""
    names: dict[str, str] = dict(_ALIAS.findall(text))
    if not names:
        return text
    called = re.compile(rf"@({'|'.join(map(re.escape, names))})(?![-\w$.])")
    return called.sub(lambda found: f"@{names[found[1]]}", _ALIAS.sub("", text))


_OVER_ARRAY = re.compile(r"^(  br i1 %array(?:init|ctor)\.done\d*, [^\n!]*), !dbg !(\d+)$", re.MULTILINE)


def with_named_loops(text: str) -> str:
    """The module with metadata for the loops over the elements of an array that Clang makes by itself, where
    elements have constructors (`ap_fixed<16, 3> sums[7] = {0}`): without it no loop can be unrolled.
    """
    nodes: list[str] = []
    first = 1 + max(map(int, re.findall(r"^!(\d+) = ", text, re.MULTILINE)), default=0)

    def named(found: re.Match[str]) -> str:
        node = first + len(nodes)
        nodes.append(f"!{node} = distinct !{{!{node}, !{found[2]}}}\n")
        return f"{found[1]}, !dbg !{found[2]}, !llvm.loop !{node}"

    text = _OVER_ARRAY.sub(named, text)
    return text + "".join(nodes) if nodes else text


_PRINTS = re.compile(
    r"^  (?:(?P<result>%\S+) = )?(?:tail |notail )?call (?P<type>i32|void)[^@\n]* @"
    r"(?:printf|puts|putchar|fprintf|fputs|fputc|fflush|perror|vprintf)\(.*$",
    re.MULTILINE,
)


_WRITES = re.compile(
    r"^(?P<result>  %\S+ = )(?:tail |notail )?call [^@\n]*\bptr @(?:_Z(?:NSt\w*?)?ls\w*basic_ostream\w*"
    r"|_ZNSt\w*?basic_ostream\w*?EE(?:ls|3put|5flush|5write)\w*)"
    r"\(ptr (?:\w+(?:\(\d+\))? |\d+ )*(?P<stream>[%@][-\w.$]+).*$",
    re.MULTILINE,
)
"""`stream << value` in C++'s mangled names."""


_ALWAYS_BACK = re.compile(
    r"^(  br) i1 true, (label %[^,\n]+), label %[^,\n]+((?:, !dbg !\d+)?, !llvm\.loop !\d+)$", re.MULTILINE
)


def with_endless_loops(text: str) -> str:
    """The module with do-loops of a condition that is constant as loops that only a `break` ends: where LLVM
    sees that it is constant the loop's name is lost, and what pragmas ask of it."""
    return _ALWAYS_BACK.sub(r"\1 \2\3", text)


_ATTRIBUTES = re.compile(r"^attributes #\d+ = \{.*\}$", re.MULTILINE)
_NEVER_INLINED = re.compile(r" (?:noinline|optnone)(?= )")


def inlinable(text: str) -> str:
    """The module without attributes of functions that forbid to inline them, as parts of strings have in the
    standard library: pragmas alone tell which the tool keeps."""
    return _ATTRIBUTES.sub(lambda found: _NEVER_INLINED.sub("", found[0]), text)


def without_printing(text: str) -> str:
    """The module without calls that only print: the vendor's tool leaves them out with a warning. What they
    write to an output stream is that stream."""

    def value(found: re.Match[str]) -> str:
        return f"  {found['result']} = add {found['type']} 0, 0" if found["result"] else ""

    def stream(found: re.Match[str]) -> str:
        return f"{found['result']}getelementptr i8, ptr {found['stream']}, i64 0"

    return _WRITES.sub(stream, _PRINTS.sub(value, text))
