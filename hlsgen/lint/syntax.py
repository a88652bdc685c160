"""Reads a C++ file into a Module.

tree-sitter parses it; its tree is walked once, without recursion, and what the rules ask for is kept.
Expressions are not entered, but where a pragma stands in one (in a lambda).
"""

from __future__ import annotations

import re
import time
from bisect import bisect_left
from dataclasses import dataclass
from functools import cache

import tree_sitter_cpp
from tree_sitter import Language, Node, Parser

from hlsgen.lint.structure import LOOPS, Block, Function, Macro, Module, TooDeep, Variable
from hlsgen.lint.text import Source

MAX_DEPTH = 1000
"""The most statements and declarations within each other."""
MAX_SECONDS = 5.0
"""A file that takes longer to parse is hostile."""
MAX_DAMAGED = 5000
"""Nodes with mistakes in them that are looked at to tell what is wrong."""
_TRANSPARENT = frozenset(
    ("translation_unit", "declaration_list", "linkage_specification", "field_declaration_list", "ERROR")
    + ("preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif", "preproc_elifdef", "friend_declaration")
    + ("if_statement", "else_clause", "switch_statement", "case_statement", "labeled_statement")
    + ("try_statement", "catch_clause")
)
_VENDOR = re.compile(r"(?:ap|hls)_\w+\.h")
"""Headers that come with the tools, in whatever quotes."""
_CLASSES = frozenset(("class_specifier", "struct_specifier", "union_specifier"))


@cache
def _language() -> Language:
    return Language(tree_sitter_cpp.language())


def parse(data: bytes) -> Node:
    """The tree of a text. Raises TooDeep: the parser needs longer than any honest file does."""
    begin = time.monotonic()
    parser = Parser(_language())

    def in_time(_offset: int, _error: bool) -> bool:
        return time.monotonic() - begin > MAX_SECONDS

    def chunk(at: int, _point: object) -> bytes:
        return data[at : at + (1 << 16)]

    try:
        tree = parser.parse(chunk, progress_callback=in_time)
    except ValueError:
        raise TooDeep(0) from None
    return tree.root_node


def read(source: Source) -> Module:
    """The structure of a file. Raises TooDeep."""
    module = Module(source=source, root=parse(source.grammatical))
    module.damaged = damaged(module.root)
    _Reader(module).walk()
    return module


def damaged(node: Node) -> bool:
    """Whether the parser lost its way in a node; a macro without its semicolon is none."""
    stack = [node] if node.has_error else []
    for _ in range(MAX_DAMAGED):
        if not stack:
            return False
        at = stack.pop()
        if at.type == "ERROR" or (at.is_missing and at.type != ";"):
            return True
        stack += [child for child in at.children if child.has_error]
    return True


@dataclass(frozen=True, kw_only=True)
class _Around:
    """What is around a node."""

    scope: tuple[str, ...] = ()
    inner: bool = False
    member_of: str = ""
    templates: tuple[str, ...] = ()
    function: Function | None = None
    block: Block | None = None
    loop: Node | None = None
    depth: int = 0


class _Reader:
    def __init__(self, module: Module) -> None:
        self.module = module
        self.data = module.source.data
        self.pragmas = [pragma.start for pragma in module.source.pragmas]

    def walk(self) -> None:
        stack: list[tuple[Node, _Around]] = [(self.module.root, _Around())]
        while stack:
            node, around = stack.pop()
            if around.depth > MAX_DEPTH:
                raise TooDeep(node.start_byte)
            stack.extend(reversed(self.visit(node, around)))

    def text(self, node: Node | None) -> str:
        return "" if node is None else self.data[node.start_byte : node.end_byte].decode(errors="replace")

    def holds_pragma(self, node: Node) -> bool:
        at = bisect_left(self.pragmas, node.start_byte)
        return at < len(self.pragmas) and self.pragmas[at] < node.end_byte

    def visit(self, node: Node, around: _Around) -> list[tuple[Node, _Around]]:
        """Reads a node; the nodes in it that are still to be visited."""
        kind = node.type
        if kind == "ERROR":
            self.lost(node, around)
        if kind in _TRANSPARENT:
            return self.children(node, around)
        handler = getattr(self, f"visit_{kind}", None)
        if handler is not None:
            found: list[tuple[Node, _Around]] = handler(node, around)
            return found
        if kind in LOOPS:
            return self.visit_loop(node, around)
        if kind in _CLASSES:
            return self.visit_class(node, around)
        if around.block is not None and self.holds_pragma(node):
            return self.children(node, around)
        return []

    def lost(self, node: Node, around: _Around) -> None:
        self.module.lost.append((node.start_byte, node.end_byte))
        if around.function is not None:
            around.function.uncertain = True

    @staticmethod
    def inside(around: _Around, **changes: object) -> _Around:
        values = {**around.__dict__, "depth": around.depth + 1, **changes}
        return _Around(**values)

    def children(self, node: Node, around: _Around, **changes: object) -> list[tuple[Node, _Around]]:
        within = self.inside(around, **changes)
        return [(child, within) for child in node.named_children]

    # ---- outside of functions ----------------------------------------------------------------------

    def visit_namespace_definition(self, node: Node, around: _Around) -> list[tuple[Node, _Around]]:
        name = self.text(node.child_by_field_name("name"))
        body = node.child_by_field_name("body")
        if body is None:
            return []
        scope = (*around.scope, *(part.strip() for part in name.split("::") if part.strip()))
        return [(body, self.inside(around, scope=scope, inner=around.inner or not name))]

    def visit_template_declaration(self, node: Node, around: _Around) -> list[tuple[Node, _Around]]:
        names: list[str] = []
        for parameter in _named(node.child_by_field_name("parameters")):
            for part in parameter.named_children:
                if part.type in ("identifier", "type_identifier"):
                    names.append(self.text(part))
        rest = [child for child in node.named_children if child.type != "template_parameter_list"]
        within = self.inside(around, templates=(*around.templates, *names))
        return [(child, within) for child in rest]

    def visit_class(self, node: Node, around: _Around) -> list[tuple[Node, _Around]]:
        name = self.text(node.child_by_field_name("name")).partition("<")[0]
        body = node.child_by_field_name("body")
        if body is None:
            return []
        if any(child.type == "base_class_clause" for child in node.named_children):
            self.module.derived.add(name)
        self.module.members.setdefault(name, {})
        scope = (*around.scope, name) if name else around.scope
        return [(body, self.inside(around, scope=scope, member_of=name or "struct", inner=True))]

    def visit_enum_specifier(self, node: Node, around: _Around) -> list[tuple[Node, _Around]]:
        name = self.text(node.child_by_field_name("name"))
        if name:
            self.module.enums.add(name)
        before = ""
        for member in _named(node.child_by_field_name("body")):
            if member.type != "enumerator":
                continue
            label = self.text(member.child_by_field_name("name"))
            value = self.text(member.child_by_field_name("value")) or (f"({before}) + 1" if before else "0")
            before = label
            if around.function is None:
                for key in {label, f"{name}::{label}" if name else label}:
                    self.module.constants["::".join((*around.scope, key))] = value
        return []

    def visit_type_definition(self, node: Node, around: _Around) -> list[tuple[Node, _Around]]:
        type_ = node.child_by_field_name("type")
        for declarator in node.children_by_field_name("declarator"):
            if declarator.type == "type_identifier" and type_ is not None:
                self.type_name(self.text(declarator), type_, around)
        return [(type_, self.inside(around))] if type_ is not None and _has_body(type_) else []

    def visit_alias_declaration(self, node: Node, around: _Around) -> list[tuple[Node, _Around]]:
        type_ = node.child_by_field_name("type")
        if type_ is not None:
            self.type_name(self.text(node.child_by_field_name("name")), type_, around)
        return []

    def type_name(self, name: str, type_: Node, around: _Around) -> None:
        if type_.type == "enum_specifier":
            self.module.enums.add(name)
        elif around.function is None and not _has_body(type_):
            self.module.types["::".join((*around.scope, name))] = self.text(type_)

    def visit_using_declaration(self, node: Node, around: _Around) -> list[tuple[Node, _Around]]:
        text = self.text(node)
        if "namespace" in text:
            self.module.used.append(text.partition("namespace")[2].strip(" ;\n\t"))
        return []

    def visit_preproc_include(self, node: Node, around: _Around) -> list[tuple[Node, _Around]]:
        path = node.child_by_field_name("path")
        if path is not None and path.type == "string_literal":
            name = self.text(path).strip('"')
            if not _VENDOR.fullmatch(name):
                self.module.includes.append((name, path.start_byte, path.end_byte))
        return []

    def visit_preproc_def(self, node: Node, around: _Around) -> list[tuple[Node, _Around]]:
        return self.macro(node, None)

    def visit_preproc_function_def(self, node: Node, around: _Around) -> list[tuple[Node, _Around]]:
        parameters = node.child_by_field_name("parameters")
        names = [self.text(child) for child in (parameters.children if parameters is not None else [])]
        return self.macro(node, tuple(name for name in names if name not in ("(", ")", ",")))

    def macro(self, node: Node, parameters: tuple[str, ...] | None) -> list[tuple[Node, _Around]]:
        name = self.text(node.child_by_field_name("name"))
        value = self.text(node.child_by_field_name("value")).replace("\\\n", " ").partition("//")[0].strip()
        self.module.macros[name] = Macro(name=name, parameters=parameters, text=value)
        return []

    # ---- declarations ------------------------------------------------------------------------------

    def visit_declaration(self, node: Node, around: _Around) -> list[tuple[Node, _Around]]:
        type_ = node.child_by_field_name("type")
        words = [self.text(child) for child in node.named_children if child.type in _QUALIFIERS]
        for declarator in node.children_by_field_name("declarator"):
            for one in self.declared(declarator, self.text(type_), words):
                if _callable(declarator) and around.block is None:
                    self.prototype(node, declarator, around)
                else:
                    self.declare(one, around)
        rest = [(type_, self.inside(around))] if type_ is not None and _has_body(type_) else []
        if around.block is not None and self.holds_pragma(node):
            rest += self.children(node, around)
        return rest

    visit_field_declaration = visit_declaration

    def declare(self, variable: Variable, around: _Around) -> None:
        if around.block is not None:
            around.block.variables.setdefault(variable.name, []).append(variable)
            return
        if around.member_of:
            self.module.members.setdefault(around.member_of, {})[variable.name] = variable
        name = "::".join((*around.scope, variable.name))
        self.module.variables[name] = variable
        if variable.constant and variable.value and not variable.dims:
            self.module.constants[name] = variable.value

    def prototype(self, node: Node, declarator: Node, around: _Around) -> None:
        function = self.function(node, declarator, around)
        if function is not None:
            self.module.functions.append(function)

    def declared(self, node: Node, type_: str, words: list[str]) -> list[Variable]:
        """The variables of a declarator: one, but for structured bindings."""
        dims: list[str] = []
        pointer = reference = False
        value = ""
        at: Node | None = node
        while at is not None and at.type not in _NAMES:
            if at.type == "init_declarator":
                value = self.text(at.child_by_field_name("value"))
            elif at.type == "array_declarator":
                dims.append(self.text(at.child_by_field_name("size")))
            elif at.type == "structured_binding_declarator":
                return [
                    Variable(name=self.text(child), type="auto", start=child.start_byte)
                    for child in at.named_children
                ]
            pointer = pointer or at.type == "pointer_declarator"
            reference = reference or at.type == "reference_declarator"
            at = _inner(at)
        if at is None:
            return []
        if not value.startswith("("):
            value = value.strip("{} ") if value.startswith("{") else value
        return [
            Variable(
                name=self.text(at),
                type=type_,
                start=at.start_byte,
                dims=tuple(reversed(dims)),
                pointer=pointer,
                reference=reference,
                static="static" in words,
                constant="const" in words or "constexpr" in words or "const" in type_.split(),
                value=value,
            )
        ]

    # ---- functions and what is in them -------------------------------------------------------------

    def function(self, node: Node, declarator: Node, around: _Around) -> Function | None:
        called: Node | None = declarator
        while called is not None and called.type not in _FUNCTIONS:
            called = _inner(called)
        if called is None:
            return None
        name = self.text(called.child_by_field_name("declarator")).replace(" ", "")
        if declarator.type == "operator_cast":
            name = f"operator {self.text(declarator.child_by_field_name('type'))}"
        parameters: list[Variable] = []
        for parameter in _named(called.child_by_field_name("parameters")):
            words = [self.text(child) for child in parameter.named_children if child.type in _QUALIFIERS]
            type_ = self.text(parameter.child_by_field_name("type"))
            given = parameter.child_by_field_name("declarator")
            found = self.declared(given, type_, words) if given is not None else []
            parameters += found or [Variable(name="", type=type_, start=parameter.start_byte)]
        words = [self.text(child) for child in node.named_children if child.type in _QUALIFIERS]
        owner, _, last = name.rpartition("::")
        returned = self.text(node.child_by_field_name("type"))
        pointer = declarator.type in ("pointer_declarator", "reference_declarator")
        return Function(
            name=last.partition("<")[0] or last,
            scope=around.scope,
            returns=f"{returned} *" if pointer else returned,
            parameters=tuple(one for one in parameters if one.type != "void" or one.pointer),
            templates=around.templates,
            start=called.start_byte,
            end=called.end_byte,
            inner=around.inner or "static" in words or bool(owner),
            member_of=around.member_of or owner.rpartition("::")[2],
            uncertain=damaged(node),
        )

    def visit_function_definition(self, node: Node, around: _Around) -> list[tuple[Node, _Around]]:
        declarator = node.child_by_field_name("declarator")
        body = node.child_by_field_name("body")
        function = self.function(node, declarator, around) if declarator is not None else None
        if function is None:
            self.lost(node, around)
            return self.children(node, around)
        self.module.functions.append(function)
        if body is None:
            return []
        return [(body, self.inside(around, function=function, block=None, loop=None))]

    def visit_compound_statement(self, node: Node, around: _Around) -> list[tuple[Node, _Around]]:
        function = around.function
        if function is None:
            return self.children(node, around)
        block = Block(node=node, function=function, parent=around.block, loop=around.loop)
        self.module.blocks.append(block)
        if function.body is None:
            function.body = block
        return self.children(node, around, block=block, loop=None)

    def visit_loop(self, node: Node, around: _Around) -> list[tuple[Node, _Around]]:
        """The loop's own variables are taken as the surrounding block's."""
        body = node.child_by_field_name("body")
        if body is None or around.function is None:
            return []
        declared = [child for child in node.named_children if child.type == "declaration"]
        if node.type == "for_range_loop":
            declared = []
            given = node.child_by_field_name("declarator")
            for one in self.declared(given, "auto", []) if given is not None else []:
                self.declare(one, around)
        rest = [(child, self.inside(around)) for child in declared]
        return [*rest, (body, self.inside(around, loop=node))]

    def visit_lambda_expression(self, node: Node, around: _Around) -> list[tuple[Node, _Around]]:
        """Its parameters are variables of its block."""
        body = node.child_by_field_name("body")
        function = around.function
        if body is None or function is None:
            return []
        block = Block(node=body, function=function, parent=around.block)
        self.module.blocks.append(block)
        declarator = node.child_by_field_name("declarator")
        for parameter in _named(declarator.child_by_field_name("parameters") if declarator else None):
            given = parameter.child_by_field_name("declarator")
            type_ = self.text(parameter.child_by_field_name("type"))
            for one in self.declared(given, type_, []) if given is not None else []:
                block.variables.setdefault(one.name, []).append(one)
        return self.children(body, around, block=block)


_QUALIFIERS = frozenset(("storage_class_specifier", "type_qualifier"))
_FUNCTIONS = frozenset(("function_declarator", "abstract_function_declarator"))
"""The latter: of a conversion, which has no name."""
_NAMES = frozenset(
    ("identifier", "field_identifier", "type_identifier", "qualified_identifier", "operator_name")
    + ("destructor_name", "template_function")
)


def _named(node: Node | None) -> list[Node]:
    return node.named_children if node is not None else []


def _inner(node: Node) -> Node | None:
    """The declarator within a declarator."""
    within = node.child_by_field_name("declarator")
    if within is not None or node.type not in ("parenthesized_declarator", "reference_declarator"):
        return within
    return node.named_children[-1] if node.named_children else None


def _callable(node: Node) -> bool:
    at: Node | None = node
    while at is not None and at.type in ("pointer_declarator", "reference_declarator"):
        at = _inner(at)
    return at is not None and at.type == "function_declarator"


def _has_body(node: Node) -> bool:
    return node.child_by_field_name("body") is not None
