"""The files that are checked together with the project headers they include, and what names mean in them."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from hlsgen.lint import constants
from hlsgen.lint.structure import Block, Function, Macro, Module, TooDeep, Variable
from hlsgen.lint.syntax import read
from hlsgen.lint.text import Source, unreadable

MAX_INCLUDED = 2000
"""Files that one may include, directly or not."""
MAX_STEPS = 12
"""Constants that the value of a constant may lead over, so that Python's stack suffices."""

FOLDERS = 4
"""Folders above a file that its headers may be named from, as -I ../src does."""

Reader = Callable[[str], bytes | None]
"""A file's bytes by its path, None if there is none."""


@dataclass(kw_only=True, eq=False)
class Program:
    """Modules by path; each file is read and parsed once."""

    reader: Reader
    folders: tuple[str, ...] = ()
    """Where included files are looked for besides."""
    modules: dict[str, Module | None] = field(default_factory=dict)
    _visible: dict[str, tuple[list[Module], bool]] = field(default_factory=dict)

    def module(self, path: str) -> Module | None:
        """The file's structure, None if there is no such file or it cannot be read."""
        if path not in self.modules:
            data = self.reader(path)
            self.modules[path] = None if data is None else self._read(path, data)
        return self.modules[path]

    @staticmethod
    def _read(path: str, data: bytes) -> Module | None:
        source = Source(path=path, data=data)
        if unreadable(data) or source.too_deep is not None:
            return None
        try:
            return read(source)
        except TooDeep:
            return None

    def included(self, module: Module, name: str) -> Module | None:
        """An included file: beside the including one, or in a folder above it, as -I ../src would find it."""
        for folder in (*_folders_above(module.source.path), *self.folders):
            found = self.module(posixpath.normpath(posixpath.join(folder, name)))
            if found is not None:
                return found
        return None

    def visible(self, module: Module) -> tuple[list[Module], bool]:
        """The module and all that it includes, and whether every project header was found."""
        path = module.source.path
        if path not in self._visible:
            found, complete = [module], True
            seen = {path}
            for one in found:
                for name, _, _ in one.includes:
                    other = self.included(one, name)
                    if other is None:
                        complete = False
                    elif other.source.path not in seen and len(found) < MAX_INCLUDED:
                        seen.add(other.source.path)
                        found.append(other)
            self._visible[path] = (found, complete)
        return self._visible[path]


def _folders_above(path: str) -> Iterator[str]:
    """The folder of a file, and those that it is in as far as the path names them."""
    folder = posixpath.dirname(path)
    for _ in range(FOLDERS):
        yield folder
        if folder in ("", "/") or folder.endswith(".."):
            break
        folder = posixpath.dirname(folder)


@dataclass(kw_only=True, eq=False)
class Names:
    """What names mean in one module."""

    program: Program
    module: Module

    def __post_init__(self) -> None:
        self.modules, self.complete = self.program.visible(self.module)
        self.used = [name for one in self.modules for name in one.used]
        self._values: dict[tuple[str, tuple[str, ...] | int], int | None] = {}

    def _qualified(self, name: str, scope: tuple[str, ...]) -> Iterator[str]:
        """The full names that `name` may be the short one of, the innermost first."""
        for length in range(len(scope), -1, -1):
            yield "::".join((*scope[:length], name))
        for used in self.used:
            yield f"{used}::{name}"

    def _find(self, name: str, scope: tuple[str, ...], table: str) -> tuple[str, str] | None:
        """(full name, text) of a constant or type."""
        name = name.removeprefix("::")
        for full in self._qualified(name, scope):
            for module in self.modules:
                found: dict[str, str] = getattr(module, table)
                if full in found:
                    return full, found[full]
        return None

    def macro(self, name: str) -> Macro | None:
        return next((one.macros[name] for one in self.modules if name in one.macros), None)

    def functions(self, name: str) -> list[Function]:
        """The functions by their last name, wherever they are."""
        last = name.rpartition("::")[2].partition("<")[0].strip()
        return [function for one in self.modules for function in one.named.get(last, ())]

    def body_of(self, name: str, arguments: int) -> tuple[Module, Function] | None:
        """The one function of the name and number of parameters that has a body."""
        last = name.rpartition("::")[2].partition("<")[0].strip()
        found = [
            (module, function)
            for module in self.modules
            for function in module.named.get(last, ())
            if function.body is not None and len(function.parameters) == arguments
        ]
        return found[0] if len(found) == 1 else None

    def variable(self, name: str, block: Block) -> Variable | None:
        """The variable as it is seen from a block: its own, the class', a global one."""
        found = block.find(name)
        if found is not None:
            return found
        function = block.function
        for module in self.modules:
            if name in module.members.get(function.member_of, {}):
                return module.members[function.member_of][name]
        for full in self._qualified(name.removeprefix("::"), function.scope):
            for module in self.modules:
                if full in module.variables:
                    return module.variables[full]
        return None

    def may_be_elsewhere(self, block: Block) -> bool:
        """Whether a name that is not found may be declared where we cannot look."""
        function = block.function
        derived = any(function.member_of in module.derived for module in self.modules)
        known = any(function.member_of in module.members for module in self.modules)
        return not self.complete or function.uncertain or derived or bool(function.member_of and not known)

    def is_enum(self, type_: str) -> bool:
        words = type_.replace("enum ", "").strip()
        return type_.startswith("enum ") or any(words in module.enums for module in self.modules)

    def type(self, name: str, scope: tuple[str, ...]) -> str:
        """The type with typedefs followed, as far as they are plain names."""
        for _ in range(MAX_STEPS):
            found = self._find(name.replace("const", "").strip(), scope, "types")
            if found is None:
                break
            scope = tuple(found[0].split("::")[:-1])
            name = found[1]
        return name

    def value(self, text: str, scope: tuple[str, ...], block: Block | None = None) -> int | None:
        """The value of an expression, None if it does not follow from what is known."""
        return self._value(text, scope, block, 0)

    def _value(self, text: str, scope: tuple[str, ...], block: Block | None, steps: int) -> int | None:
        def lookup(name: str) -> int | None:
            local = block.find(name) if block is not None else None
            if local is None and block is not None and name in block.function.templates:
                return None
            key = (name, scope) if local is None else (name, local.start)
            if key not in self._values:
                self._values[key] = None  # while it is computed: a constant that needs itself has no value
                if steps < MAX_STEPS and local is not None:
                    usable = local.constant and not local.dims and local.value
                    value = self._value(local.value, scope, block, steps + 1) if usable else None
                else:
                    value = self._global(name, scope, steps) if steps < MAX_STEPS else None
                self._values[key] = value
            return self._values[key]

        return constants.evaluate(text, lookup)

    def _global(self, name: str, scope: tuple[str, ...], steps: int) -> int | None:
        macro = self.macro(name)
        if macro is not None:
            return None if macro.parameters is not None else self._value(macro.text, (), None, steps + 1)
        found = self._find(name, scope, "constants")
        if found is None:
            return None
        full, text = found
        return self._value(text, tuple(full.split("::")[:-1]), None, steps + 1)
