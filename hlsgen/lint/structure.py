"""What a C++ file declares and where: functions, blocks, variables, constants, macros."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property

from tree_sitter import Node

from hlsgen.lint.text import Source

LOOPS = frozenset(("for_statement", "for_range_loop", "while_statement", "do_statement"))


class TooDeep(Exception):
    """Statements nest too deep, or parsing takes too long; `start` is where."""

    def __init__(self, start: int) -> None:
        super().__init__(start)
        self.start = start


@dataclass(frozen=True, kw_only=True)
class Variable:
    """A variable, parameter or member. `dims`: an array's sizes, innermost last, "" where none is written."""

    name: str
    type: str
    start: int
    dims: tuple[str, ...] = ()
    pointer: bool = False
    reference: bool = False
    static: bool = False
    constant: bool = False
    value: str = ""

    @property
    def is_stream(self) -> bool:
        return "stream<" in self.type.replace(" ", "")


@dataclass(kw_only=True, eq=False)
class Block:
    """Braces in a function: the function's own, a loop's, or others. `node` is the compound statement."""

    node: Node
    function: Function
    parent: Block | None
    loop: Node | None = None
    variables: dict[str, list[Variable]] = field(default_factory=dict)

    @property
    def is_body(self) -> bool:
        return self.function.body is self

    @cached_property
    def _children(self) -> tuple[list[int], list[Node]]:
        children = self.node.named_children
        return [node.start_byte for node in children], children

    def statements_around(self, at: int) -> tuple[Node | None, Node | None]:
        """The statements before and behind a byte."""
        starts, children = self._children
        found = bisect_right(starts, at)
        before = children[found - 1] if found > 0 else None
        return before, children[found] if found < len(children) else None

    def unbraced_loop(self, at: int) -> Node | None:
        """The loop between whose header and body a pragma at a byte stands, as in Vitis_Libraries."""
        node: Node | None = self.node
        while node is not None:
            node = next((one for one in node.named_children if one.start_byte < at < one.end_byte), None)
            body = node.child_by_field_name("body") if node is not None and node.type in LOOPS else None
            if body is not None and at < body.start_byte:
                return node
        return None

    def find(self, name: str) -> Variable | None:
        """The variable as it is declared in this block or around it."""
        block: Block | None = self
        while block is not None:
            if name in block.variables:
                return block.variables[name][0]
            block = block.parent
        return self.function.parameter(name)


@dataclass(kw_only=True, eq=False)
class Function:
    """A function that has a body, or is only declared (body None)."""

    name: str
    scope: tuple[str, ...]
    returns: str
    parameters: tuple[Variable, ...]
    templates: tuple[str, ...]
    start: int
    end: int
    inner: bool = False
    """Whether it stands in an anonymous namespace, is static, or a member: not to be seen from outside."""
    member_of: str = ""
    uncertain: bool = False
    body: Block | None = None

    def parameter(self, name: str) -> Variable | None:
        return next((one for one in self.parameters if one.name == name), None)


@dataclass(frozen=True, kw_only=True)
class Macro:
    """#define: `parameters` None for one that is not called."""

    name: str
    parameters: tuple[str, ...] | None
    text: str


@dataclass(kw_only=True, eq=False)
class Module:
    """All that was read of a file. Names of globals, constants and types carry their namespaces (a::b)."""

    source: Source
    root: Node
    functions: list[Function] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    variables: dict[str, Variable] = field(default_factory=dict)
    members: dict[str, dict[str, Variable]] = field(default_factory=dict)
    derived: set[str] = field(default_factory=set)
    constants: dict[str, str] = field(default_factory=dict)
    macros: dict[str, Macro] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)
    enums: set[str] = field(default_factory=set)
    used: list[str] = field(default_factory=list)
    includes: list[tuple[str, int, int]] = field(default_factory=list)
    lost: list[tuple[int, int]] = field(default_factory=list)
    damaged: bool = False
    """Whether there is anything that the parser did not understand."""

    @cached_property
    def _starts(self) -> list[int]:
        self.blocks.sort(key=lambda block: block.node.start_byte)
        return [block.node.start_byte for block in self.blocks]

    def block_at(self, at: int) -> Block | None:
        """The innermost block around a byte."""
        starts = self._starts
        found = bisect_right(starts, at) - 1
        block = self.blocks[found] if found >= 0 else None
        while block is not None and block.node.end_byte <= at:
            block = block.parent
        return block

    @cached_property
    def named(self) -> dict[str, list[Function]]:
        """The functions by their last name."""
        found: dict[str, list[Function]] = {}
        for function in self.functions:
            found.setdefault(function.name, []).append(function)
        return found
