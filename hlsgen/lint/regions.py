"""A dataflow region as its calls: what is called with what."""

from __future__ import annotations

from dataclasses import dataclass, field

from tree_sitter import Node

from hlsgen.lint.checking import Here
from hlsgen.lint.macros import expand
from hlsgen.lint.structure import Block
from hlsgen.lint.syntax import parse


@dataclass(frozen=True, kw_only=True)
class Argument:
    """An argument as it is written, with the node it comes from."""

    node: Node
    text: str


@dataclass(frozen=True, kw_only=True)
class Call:
    """A stage: the function's name, its arguments, and its place in the file. `made`: a declaration whose
    constructor works, or a statement that is no call; what it does with its arguments is not known."""

    name: str
    arguments: tuple[Argument, ...]
    start: int
    end: int
    method_of: str = ""
    made: bool = False


@dataclass(kw_only=True, eq=False)
class Region:
    """A dataflow region. `others`: the statements that are neither declaration nor call. `aliases`: what its
    references are other names of (hls4ml: `auto& layer4_out = layer3_out;`)."""

    here: Here
    block: Block
    calls: list[Call] = field(default_factory=list)
    others: list[Node] = field(default_factory=list)
    assigned: list[Node] = field(default_factory=list)
    macros: list[Node] = field(default_factory=list)
    aliases: dict[str, str] = field(default_factory=dict)

    def base_of(self, argument: Argument) -> tuple[str, str] | None:
        """As `base_of`, of the variable that a reference names."""
        base = base_of(argument)
        return None if base is None else (self.aliases.get(base[0], base[0]), base[1])


_DECLARATIONS = frozenset(
    ("declaration", "comment", "preproc_call", "preproc_def", "preproc_function_def", "preproc_undef")
    + ("static_assert_declaration", "type_definition", "alias_declaration", "using_declaration")
    + ("preproc_include",)
)
_GIVEN = frozenset(("parameter_list", "argument_list", "initializer_list"))
_CLASSES = frozenset(("type_identifier", "template_type", "qualified_identifier"))
_TEMPLATES = frozenset(("template_function", "qualified_identifier"))
_NAME_AND_EXTENT = 2
STATEMENT = "a statement"
_CASTS = frozenset(("static_cast", "reinterpret_cast", "const_cast"))
_NO_STAGES = frozenset(("assert", "printf", "std::printf", "static_assert"))
_BRANCHES = frozenset(("preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif", "labeled_statement"))


def region_of(here: Here) -> Region:
    """The statements of the block that a dataflow pragma stands in."""
    assert here.block is not None
    region = Region(here=here, block=here.block)
    stack = list(reversed(here.block.node.named_children))
    while stack:
        node = stack.pop()
        if node.type in _BRANCHES:
            asked = [node.child_by_field_name(one) for one in ("condition", "name", "label")]
            stack += reversed([child for child in node.named_children if child not in asked])
        elif node.type == "declaration":
            _declaration(region, node)
        elif node.type in _DECLARATIONS:
            continue
        elif node.type == "expression_statement":
            _expression(region, node)
        elif node.type == "return_statement" and not stack:
            continue
        else:
            _other(region, node)
    return region


def _other(region: Region, node: Node) -> None:
    """A statement that is no call."""
    region.others.append(node)
    _as_stage(region, node)


def _as_stage(region: Region, node: Node) -> None:
    """What the vendor's tool makes a stage of where it can: one that may have all that it names."""
    used: dict[str, Argument] = {}
    stack = [node]
    while stack:
        one = stack.pop()
        if one.type == "identifier":
            used.setdefault(_text(one), Argument(node=one, text=_text(one)))
        stack += one.named_children
    region.calls.append(_stage(STATEMENT, tuple(used.values()), node))


def _stage(name: str, arguments: tuple[Argument, ...], node: Node) -> Call:
    return Call(name=name, arguments=arguments, start=node.start_byte, end=node.end_byte, made=True)


def _declaration(region: Region, node: Node) -> None:
    """A declaration; `hls::task t(f, a, b)` is a call of f."""
    for declarator in node.children_by_field_name("declarator"):
        named, value = (declarator.child_by_field_name(one) for one in ("declarator", "value"))
        if named is None or named.type != "reference_declarator" or value is None:
            continue
        if value.type == "identifier":
            other = _text(value)
            region.aliases[_text(named.named_children[-1])] = region.aliases.get(other, other)
    type_ = node.child_by_field_name("type")
    for declarator in node.children_by_field_name("declarator"):
        given = declarator.child_by_field_name("parameters") or declarator.child_by_field_name("value")
        parts = given.named_children if given is not None and given.type in _GIVEN else []
        arguments = [Argument(node=_one_name(one), text=_text(one)) for one in parts]
        if not arguments or type_ is None:
            continue
        if _text(type_).endswith("task"):
            at = declarator.start_byte, declarator.end_byte
            region.calls.append(
                Call(name=arguments[0].text, arguments=tuple(arguments[1:]), start=at[0], end=at[1])
            )
        elif type_.type in _CLASSES:
            region.calls.append(_stage(_text(type_).partition("<")[0], tuple(arguments), declarator))


def _one_name(node: Node) -> Node:
    """A name that reads as the type of a parameter, as in `task t(f, a, b)`."""
    alone = node.type == "parameter_declaration" and len(node.named_children) == 1
    return node.named_children[0] if alone else node


def _expression(region: Region, node: Node) -> None:
    inner = node.named_children[0] if node.named_children else None
    if inner is None:
        return
    if inner.type == "assignment_expression":
        right = inner.child_by_field_name("right")
        called = right is not None and right.type == "call_expression"
        (region.assigned if called else region.others).append(node)
        _as_stage(region, node)
    elif inner.type == "call_expression" or _is_misread(inner):
        call = (_call if inner.type == "call_expression" else _misread)(
            inner, (inner.start_byte, inner.end_byte)
        )
        if call.name in _NO_STAGES:
            return
        if region.here.names.macro(call.name) is not None:
            _expanded(region, node, call)
        else:
            region.calls.append(call)
    else:
        _other(region, node)


def _call(node: Node, at: tuple[int, int]) -> Call:
    function, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    arguments = [Argument(node=one, text=_text(one)) for one in (given.named_children if given else [])]
    name, method_of = _text(function) if function is not None else "", ""
    if function is not None and function.type == "field_expression":
        method_of = _text(function.child_by_field_name("argument"))
        name = _text(function.child_by_field_name("field"))
    return Call(name=name, arguments=tuple(arguments), start=at[0], end=at[1], method_of=method_of)


def _is_misread(node: Node) -> bool:
    """Whether a comparison is the call of a template whose last `>` the parser took for one."""
    left, right = (node.child_by_field_name(side) for side in ("left", "right"))
    if node.type != "binary_expression" or left is None or right is None:
        return False
    return "<" in _text(left) and left.type in _TEMPLATES and right.type == "parenthesized_expression"


def _misread(node: Node, at: tuple[int, int]) -> Call:
    left, right = (node.child_by_field_name(side) for side in ("left", "right"))
    arguments: list[Node] = []
    rest = right.named_children[0] if right is not None and right.named_children else None
    while rest is not None and rest.type == "comma_expression":
        first, rest = (rest.child_by_field_name(side) for side in ("left", "right"))
        arguments += [] if first is None else [first]
    arguments += [] if rest is None else [rest]
    given = tuple(Argument(node=one, text=_text(one)) for one in arguments)
    return Call(name=_text(left).partition("<")[0], arguments=given, start=at[0], end=at[1])


def _expanded(region: Region, node: Node, call: Call) -> None:
    """A macro's call: the calls that it stands for, at its own place."""
    text = expand(call.name, [one.text for one in call.arguments], region.here.names.macro)
    inner = _statements(text) if text is not None else None
    if inner is None:
        region.macros.append(node)
        return
    for statement in inner:
        first = statement.named_children[0] if statement.named_children else None
        if statement.type == "expression_statement" and first is not None and first.type == "call_expression":
            region.calls.append(_call(first, (call.start, call.end)))
        elif statement.type not in _DECLARATIONS and first is not None:
            _other(region, node)


def _statements(text: str) -> list[Node] | None:
    """The statements that a text is, None if it cannot be read."""
    root = parse(b"void f() {" + text.encode() + b";}")
    if root.has_error or len(root.named_children) != 1:
        return None
    body = root.named_children[0].child_by_field_name("body")
    return body.named_children if body is not None else None


def _text(node: Node | None) -> str:
    return "" if node is None or node.text is None else node.text.decode(errors="replace")


def _before_cast(node: Node) -> Node:
    """What a cast gives another type."""
    if node.type == "cast_expression":
        return node.child_by_field_name("value") or node
    function, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if node.type != "call_expression" or function is None or given is None:
        return node
    cast = function.type == "template_function" and _text(function.child_by_field_name("name")) in _CASTS
    return given.named_children[0] if cast and len(given.named_children) == 1 else node


def base_of(argument: Argument) -> tuple[str, str] | None:
    """(variable, element) that an argument hands on: `s[2]` is ("s", "[2]"), `&x` is ("x", "").

    None: it is no variable.
    """
    node = argument.node
    if node.type in ("pointer_expression", "parenthesized_expression") and node.named_children:
        node = node.named_children[-1]
    node = _before_cast(node)
    element = ""
    if node.type == "parameter_declaration" and len(node.named_children) == _NAME_AND_EXTENT:
        name, extent = node.named_children  # `task t(f, s[0])` reads as a function of an array of s
        return (_text(name), _text(extent)) if extent.type == "abstract_array_declarator" else None
    while node.type in ("subscript_expression", "field_expression"):
        inner = node.child_by_field_name("argument")
        if inner is None:
            return None
        element = _text(node)[len(_text(inner)) :] + element
        node = inner
    if node.type in ("identifier", "type_identifier", "qualified_identifier"):
        return _text(node), "".join(element.split())
    return None
