"""YAML files as plain Python data that knows positions, and models checked against them.

`Document.read` turns a file into dicts, lists, strings, numbers, booleans and None, and nothing else:
tags, merge keys and doubled keys are refused. `Document.validate` checks the data against a pydantic
model; every mistake becomes a `Problem` at its line and column.
"""

from __future__ import annotations

import re
import stat
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import yaml
from pydantic import BaseModel, ValidationError
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from hlsgen.base.errors import DesignError, Place, Problem
from hlsgen.base.short_repr import Brief
from hlsgen.designfile.validation import Location, Mistake, label_of, mistakes_in, printable, shortened, shown

MAX_BYTES = 1 << 20
MAX_NODES = 100_000
MAX_DEPTH = 50
MAX_EXCERPT = 160

Model = TypeVar("Model", bound=BaseModel)

_YAML = "tag:yaml.org,2002:"
_TEXT_TAGS = frozenset(_YAML + name for name in ("str", "value", "timestamp"))
_SCALAR_TAGS = frozenset(_YAML + name for name in ("null", "bool", "int", "float")) | _TEXT_TAGS
# The line breaks of YAML 1.1: its marks count these, so excerpts must be cut at the same places.
_LINE_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
_SYNTAX_FIXES = (
    (
        "cannot start any token",
        "quote text that starts with this character; indent with spaces, never with tabs",
    ),
    ("mapping values are not allowed", "put a value that contains ': ' in quotes, and check the indentation"),
    ("undefined alias", "write the value out, or give one earlier in the file the anchor &name"),
    ("escape", 'inside "..." a backslash starts an escape: double it, or use single quotes'),
    ("stream end", "close the quote or bracket that is still open"),
    ("end of stream", "close the quote or bracket that is still open"),
)


class _Composer(yaml.SafeLoader):
    """Nodes of one file, refusing what is too deep or too large before it costs time or stack."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.depth = 0
        self.nodes = 0

    def compose_node(self, parent: Node | None, index: Any) -> Node | None:
        self.depth += 1
        self.nodes += 1
        mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
        if self.depth > MAX_DEPTH:
            raise yaml.MarkedYAMLError(problem=f"values nest deeper than {MAX_DEPTH}", problem_mark=mark)
        if self.nodes > MAX_NODES:
            raise yaml.MarkedYAMLError(problem=f"more than {MAX_NODES:,} values", problem_mark=mark)
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


@dataclass(frozen=True)
class Document(Brief):
    """One YAML file: its path, its text, its data, and where each value of the data stands."""

    path: Path
    text: str
    root: MappingNode
    data: dict[str, Any]

    @classmethod
    def read(cls, path: Path) -> Document:
        """Read the file. Raises DesignError: not readable, not UTF-8, not YAML, or YAML beyond plain data."""
        text = _read_text(path)
        root = _compose(path, text)
        source = _Source(str(path), text)
        if isinstance(root, ScalarNode) and root.tag == _YAML + "null":
            _refuse(
                f"{printable(str(path))} is empty",
                "write at least the required keys, as in the files under designs/",
            )
        if not isinstance(root, MappingNode):
            _refuse(
                f"the file must be a mapping of keys to values, not {_kind_of(root)}",
                "start with lines such as `name: conv`",
                source.place(root),
            )
        data = _Converter(source).mapping(root, ())
        return cls(path=path, text=text, root=root, data=data)

    @cached_property
    def _source(self) -> _Source:
        return _Source(str(self.path), self.text)

    def place(self, loc: Location, *, key: bool = False) -> Place:
        """Position of the value at `loc`, or with `key` of its key; else of the nearest existing parent.

        What may be one mapping or a list of them counts as a list.
        """
        node: Node = self.root
        place = self._source.place(node)
        for step in loc:
            child = _child(node, step)
            if child is None and step == 0 and isinstance(node, MappingNode):
                continue  # one entry that is written without its list
            if child is None:
                return place
            label, node = child
            place = self._source.place(label if key and label is not None else node)
        return place

    def beside(self, path: str | Path) -> Path:
        """`path` as the file means it: relative to the folder that the file is in."""
        return self.path.parent / path

    def validate(self, model: type[Model]) -> Model:
        """The data as a `model`. Raises DesignError with all mistakes, in the file's order."""
        try:
            return model.model_validate(self.data)
        except ValidationError as error:
            raise DesignError(in_order(self.problems(error, model))) from None

    def problems(self, error: ValidationError, model: type[BaseModel]) -> list[Problem]:
        """The mistakes that pydantic found, each at its place."""
        return [
            problem
            for details in error.errors(include_url=False)
            for problem in (self.problem(mistake) for mistake in mistakes_in(details, model))
        ]

    def error(self, problems: list[Problem]) -> DesignError:
        """All `problems` as one error: this file's in its order, then those of the files that it names."""
        own = [one for one in problems if one.place is None or one.place.file == str(self.path)]
        return DesignError(in_order(own) + [one for one in dict.fromkeys(problems) if one not in own])

    def problem(self, mistake: Mistake) -> Problem:
        """`mistake` at its position in this file."""
        label = f"`{label_of(mistake.at)}` " if mistake.at else ""
        return Problem(
            message=label + mistake.message, fix=mistake.fix, place=self.place(mistake.at, key=mistake.key)
        )


def in_order(problems: list[Problem]) -> list[Problem]:
    """Without repeats (an alias may be wrong twice), by line and column; those without a place go first."""
    return sorted(
        dict.fromkeys(problems), key=lambda one: (one.place.line, one.place.column) if one.place else (0, 0)
    )


# ---------------------------------------------------------------- reading


def _refuse(message: str, fix: str, place: Place | None = None) -> NoReturn:
    raise DesignError(Problem(message=message, fix=fix, place=place)) from None


def _read_text(path: Path) -> str:
    content = _read_bytes(path)
    shown_path = printable(str(path))
    if len(content) > MAX_BYTES:
        _refuse(
            f"{shown_path} is larger than {MAX_BYTES:,} bytes",
            "keep weights in files of their own",
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        _refuse(
            f"{shown_path} is not UTF-8 text: byte {error.start} is 0x{content[error.start]:02x}",
            "save the file as UTF-8; weights and models are named inside a design, they are not designs",
        )


def _read_bytes(path: Path) -> bytes:
    """The file's bytes, at most one more than allowed, and of a regular file only: a pipe might never end."""
    shown_path = printable(str(path))
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            _refuse(f"{shown_path} is a folder", "name a YAML file inside it")
        if not stat.S_ISREG(mode):
            _refuse(f"{shown_path} is not a regular file", "name a YAML file on disk")
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        _refuse(f"{shown_path} does not exist", "check the path")
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        _refuse(f"{shown_path} cannot be read: {reason}", "name a YAML file that you may read")
    except ValueError:
        _refuse(f"{shown_path} is no path: it contains a NUL character", "name a YAML file on disk")


def _compose(path: Path, text: str) -> Node:
    source = _Source(str(path), text)
    loader: _Composer | None = None
    try:
        loader = _Composer(text)
        if not loader.check_node():
            _refuse(
                f"{printable(str(path))} is empty",
                "write at least the required keys, as in the files under designs/",
            )
        node = loader.get_node()
        if loader.check_node():
            mark = loader.peek_event().start_mark  # type: ignore[no-untyped-call]
            fix = "keep one document a file: remove the line `---` and what follows"
            _refuse("a second document starts here", fix, source.at(mark.line, mark.column))
        assert node is not None, "check_node has seen it"
        return node
    except yaml.reader.ReaderError as error:
        code = ord(text[error.position])
        byte = len(text[: error.position].encode())
        _refuse(
            f"the file holds the control character U+{code:04X} at byte {byte}",
            "remove it; a design is plain text",
            source.at(*source.line_and_column(error.position)),
        )
    except yaml.MarkedYAMLError as error:
        _refuse(*_syntax_problem(error, source))
    except (ValueError, OverflowError):
        # Numbers in escapes and directives that Python itself refuses: "\UFFFFFFFF", %YAML 1.<5000 digits>.
        place = source.at(loader.get_mark().line, loader.get_mark().column) if loader else None
        _refuse(
            "this is not YAML: a number in an escape or directive is out of range",
            "write the character itself instead of its number",
            place,
        )


def _syntax_problem(error: yaml.MarkedYAMLError, source: _Source) -> tuple[str, str, Place | None]:
    problem = error.problem or "it cannot be read"
    mark = error.problem_mark or error.context_mark
    if mark and error.context_mark and mark.index >= len(source.text.rstrip()):
        mark = error.context_mark  # Nothing is to be seen at the end of the file: show what was left open.
    place = source.at(mark.line, mark.column) if mark else None
    if "nest deeper" in problem or "more than" in problem:
        return f"{problem}: this is no design", "remove what is nested or repeated", place
    context = ""
    if error.context and error.context_mark and mark and error.context_mark.line != mark.line:
        context = f" ({error.context} that starts at line {error.context_mark.line + 1})"
    fix = next(
        (fix for part, fix in _SYNTAX_FIXES if part in problem), "check indentation, colons and brackets here"
    )
    return f"this is not YAML: {printable(problem)}{context}", fix, place


@dataclass(frozen=True)
class _Source:
    """The text of a file by lines, to make a Place of a YAML mark."""

    file: str
    text: str

    @cached_property
    def lines(self) -> list[str]:
        return _LINE_BREAK.split(self.text)

    def at(self, line: int, column: int, width: int = 1) -> Place:
        """The place at `line` and `column`, both counted from 0 as YAML marks do."""
        excerpt = printable(self.lines[line]) if line < len(self.lines) else ""
        if len(excerpt) > MAX_EXCERPT:
            # A caret under a shortened line must still stand below its character.
            excerpt = excerpt[: MAX_EXCERPT - 3] + "..." if column + width <= MAX_EXCERPT - 3 else ""
        return Place(file=self.file, line=line + 1, column=column + 1, excerpt=excerpt, width=width)

    def place(self, node: Node) -> Place:
        """The place of a node: the whole of a scalar on one line, else the first character."""
        start, end = node.start_mark, node.end_mark
        one_line = isinstance(node, ScalarNode) and start.line == end.line
        return self.at(start.line, start.column, max(1, end.column - start.column) if one_line else 1)

    def line_and_column(self, position: int) -> tuple[int, int]:
        before = _LINE_BREAK.split(self.text[:position])
        return len(before) - 1, len(before[-1])


def _child(node: Node, step: str | int) -> tuple[Node | None, Node] | None:
    """The key's node (None in a list) and the value's node at one step below `node`, or None."""
    if isinstance(node, MappingNode):
        return next(((key, value) for key, value in node.value if key.value == step), None)
    if isinstance(node, SequenceNode) and isinstance(step, int) and 0 <= step < len(node.value):
        return None, node.value[step]
    return None


def _kind_of(node: Node) -> str:
    if isinstance(node, MappingNode):
        return "a mapping"
    return "a list" if isinstance(node, SequenceNode) else "a single value"


class _Converter:
    """Nodes -> dicts, lists and scalars. Raises DesignError at the first node that is no plain data."""

    def __init__(self, source: _Source) -> None:
        self.source = source
        self.scalars = yaml.constructor.SafeConstructor()
        self.expanded = 0

    def value(self, node: Node, parents: tuple[Node, ...]) -> Any:
        self.expanded += 1
        if any(node is parent for parent in parents):
            self.refuse(
                node, "this value contains itself through an alias", "write the value out without the alias"
            )
        if self.expanded > MAX_NODES:
            self.refuse(node, f"aliases repeat values more than {MAX_NODES:,} times", "write the values out")
        if len(parents) >= MAX_DEPTH:
            self.refuse(node, f"values nest deeper than {MAX_DEPTH}", "remove what is nested or repeated")
        if isinstance(node, ScalarNode):
            return self.scalar(node)
        if isinstance(node, MappingNode):
            return self.mapping(node, parents)
        if node.tag != _YAML + "seq":
            self.refuse_tag(node)
        return [self.value(item, (*parents, node)) for item in node.value]

    def mapping(self, node: MappingNode, parents: tuple[Node, ...]) -> dict[str, Any]:
        if node.tag != _YAML + "map":
            self.refuse_tag(node)
        result: dict[str, Any] = {}
        lines: dict[str, int] = {}
        for key_node, value_node in node.value:
            key = self.key(key_node)
            if key in result:
                first = f"`{printable(shortened(key))}` is already set in line {lines[key]}"
                self.refuse(key_node, first, "keep one of the two")
            lines[key] = key_node.start_mark.line + 1
            result[key] = self.value(value_node, (*parents, node))
        return result

    def key(self, node: Node) -> str:
        if node.tag == _YAML + "merge":
            self.refuse(node, "merge keys (`<<`) are not supported", "write the keys out")
        if not isinstance(node, ScalarNode):
            self.refuse(node, f"a key must be text, not {_kind_of(node)}", "use a plain word as key")
        if node.tag not in _TEXT_TAGS:
            value = self.scalar(node)
            read_as = f"; YAML reads {node.value} as {shown(value)}" if isinstance(value, bool) else ""
            self.refuse(node, f"a key must be text, not {shown(value)}{read_as}", "put the key in quotes")
        return str(self.scalar(node))

    def scalar(self, node: ScalarNode) -> str | int | float | bool | None:
        if node.tag not in _SCALAR_TAGS:
            self.refuse_tag(node)
        if node.tag in _TEXT_TAGS:
            if any("\ud800" <= char <= "\udfff" for char in node.value):
                self.refuse(
                    node, "this text holds half a character (a lone surrogate)", "write the character itself"
                )
            return str(node.value)
        self.check_number(node)
        try:
            value: int | float | bool | None = self.scalars.construct_object(node)
        except (ValueError, KeyError, IndexError):
            name = node.tag.removeprefix(_YAML)
            self.refuse(
                node,
                f"{shown(node.value)} cannot be read as {name}",
                "write a plain number or quote the text",
            )
        return value

    def check_number(self, node: ScalarNode) -> None:
        """Refuse the numbers of YAML 1.1 that mean something else than what they look like."""
        digits = node.value.replace("_", "").lstrip("+-")
        if node.tag == _YAML + "int" and re.fullmatch("0[0-9]+", digits):
            self.refuse(
                node,
                f"{shortened(node.value)} is an octal number in YAML: a leading zero means base 8",
                f"write {shortened(digits.lstrip('0') or '0')} without the zero, or quote it if it is text",
            )
        if node.tag in (_YAML + "int", _YAML + "float") and ":" in digits:
            self.refuse(
                node,
                f"{shortened(node.value)} is a number in base 60 in YAML",
                "write a pair as a list, for example [3, 3], or quote it if it is text",
            )

    def refuse_tag(self, node: Node) -> NoReturn:
        tag = printable(shortened(node.tag.replace(_YAML, "!!")))
        self.refuse(node, f"the tag {tag} is not allowed", "write plain values without tags")

    def refuse(self, node: Node, message: str, fix: str) -> NoReturn:
        _refuse(message, fix, self.source.place(node))
