"""HLS C++ or C -> LLVM IR of exact widths, with a mark for each pragma.

A file is preprocessed, its pragmas become calls (marks.py), and Clang compiles it against the headers of
include/, whose numbers are `_BitInt(N)`; languages.py says as what. Each file is a translation unit of its
own, as in C++, and their modules are linked. Nothing is optimised. The IR keeps the lines of the sources.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hlsgen.base.errors import DesignError, Place, Problem, ToolError
from hlsgen.base.scratch import scratch_folder
from hlsgen.schedule.clang import HEADERS, INSTALL, PLAIN, compile_code, messages
from hlsgen.schedule.directives import Directive, Unplaced
from hlsgen.schedule.exact_widths import with_exact_widths
from hlsgen.schedule.ir_text import (
    inlinable,
    with_endless_loops,
    with_named_loops,
    without_aliases,
    without_printing,
)
from hlsgen.schedule.languages import CPP_STANDARD, INCLUDE, Language, languages_of
from hlsgen.schedule.marks import Marked, mark
from hlsgen.schedule.missing_headers import searched_in, stand_in
from hlsgen.schedule.never_written import with_constant_tables
from hlsgen.schedule.pragmas import NOT_OBEYED, Pragma
from hlsgen.schedule.predefined import predefined_macros
from hlsgen.schedule.started import with_started_values
from hlsgen.schedule.unnamed_types import with_names

if TYPE_CHECKING:
    from llvmlite.binding import ModuleRef

SHOWN_ERRORS = 8
MAX_DROPPING = 6
"""The most compilations that only find out which marks have to go."""
_CONSTANT = re.compile(r"@\S+ = (?:(?:dso_local|hidden|local_unnamed_addr|unnamed_addr) )*constant ")
"""One that is defined once: what may be defined in several files (linkonce_odr) is merged."""
NO_LLVM = f"error: the package llvmlite was not found\n{INSTALL}"


class SourceError(DesignError):
    """The compiler refuses the C++: each problem is one of its errors, at its place."""


@dataclass(frozen=True, kw_only=True)
class FrontEnd:
    """What the front end makes of sources.

    ir: the text of one LLVM module. pragmas: every pragma by its index. dropped: those that have no mark in
    the IR, for the compiler refuses one where they stand (a variable that does not exist, a place outside of
    functions), and those of which nothing is known. unplaced: directives that no file has a place for.
    lines: of preprocessed C++. seconds: measured.
    """

    ir: str
    pragmas: tuple[Pragma, ...]
    dropped: tuple[Pragma, ...]
    unplaced: tuple[Unplaced, ...]
    lines: int
    seconds: float


def compile_to_ir(
    files: Sequence[Path],
    *,
    include_folders: Sequence[Path] = (),
    predefined: Mapping[str, str] | None = None,
    defines: Mapping[str, str] | None = None,
    flags: Sequence[str] = (),
    standard: str = CPP_STANDARD,
    directives: Sequence[Directive] = (),
) -> FrontEnd:
    """The IR of C++ and C files.

    predefined: the macros of the tool; those of its newest release if left out. defines: macros besides
    these, with values ("" for none). flags: more arguments of the compiler, as a
    project gives them; those of optimisation, machine, warnings, linking and the language have no effect.
    standard: of C++; one before `CPP_STANDARD` is taken as that. directives: count as pragmas. Raises
    SourceError: a file is not C++ (a .c: not C) that compiles, or two do not link. ToolError: the compiler is
    missing, cannot be started, or does not end.
    """
    start = time.perf_counter()
    macros = {**(predefined or predefined_macros()), **(defines or {})}
    preprocessing = [
        *(f"-D{name}={value}" for name, value in macros.items()),
        # ours first: kernels are often shipped with copies of the vendor's headers
        *(f"-I{folder}" for folder in (INCLUDE, *include_folders)),
    ]
    pragmas: list[Pragma] = []
    dropped: list[Pragma] = []
    modules: list[str] = []
    units: list[Marked] = []
    with scratch_folder() as scratch:
        for path in files:
            marked, without, module = _compiled_as_any(
                [
                    _Unit(
                        path,
                        language,
                        preprocessing,
                        scratch,
                        first=len(pragmas),
                        include_folders=include_folders,
                        directives=directives,
                    )
                    for language in languages_of(path, standard, flags)
                ]
            )
            pragmas += marked.pragmas
            dropped += [one for one in marked.pragmas if one.index in without or one.name in NOT_OBEYED]
            modules.append(with_exact_widths(module))
            units.append(marked)
    ir = without_printing(with_named_loops(without_aliases(inlinable(_linked(modules)))))
    ir = with_endless_loops(ir)
    ir = with_constant_tables(with_started_values(ir))
    seconds = time.perf_counter() - start
    return FrontEnd(
        ir=ir,
        pragmas=tuple(pragmas),
        dropped=tuple(dropped),
        unplaced=_without_place(units),
        lines=sum(marked.text.count("\n") for marked in units),
        seconds=seconds,
    )


def _without_place(units: Sequence[Marked]) -> tuple[Unplaced, ...]:
    """The directives that have no place in any unit."""
    everywhere = [{one.directive.origin for one in marked.unplaced} for marked in units]
    first = units[0].unplaced if units else ()
    return tuple(one for one in first if all(one.directive.origin in names for names in everywhere))


def _compiled_as_any(units: Sequence[_Unit]) -> tuple[Marked, frozenset[int], str]:
    """What the first of them gives that compiles. Raises SourceError: where none does that of the first, or
    of one in the same language that has fewer problems, since it is past what headers of ours remedy."""
    refused: list[SourceError] = []
    alike: list[SourceError] = []
    for unit in units:
        if refused and not any(unit.language.remedies.search(str(error)) for error in refused):
            continue
        try:
            return unit.compiled()
        except SourceError as error:
            refused.append(error)
            alike += [error] if unit.language.driver == units[0].language.driver else []
    raise min(alike, key=lambda error: len(error.problems))


@dataclass(frozen=True)
class _Unit:
    """A translation unit in a language. preprocessing: arguments. first: the index of its first pragma.

    directives: those of the kernel, of which some have their place in another unit.
    """

    path: Path
    language: Language
    preprocessing: Sequence[str]
    scratch: Path
    first: int
    include_folders: Sequence[Path] = ()
    directives: Sequence[Directive] = ()

    def compiled(self) -> tuple[Marked, frozenset[int], str]:
        """The code with marks, the pragmas that have none, and the IR. Raises SourceError."""
        text = self._preprocessed()
        without: frozenset[int] = frozenset()
        marked = self._marked(text)
        every = frozenset(pragma.index for pragma in marked.pragmas)
        module, errors = self._compile(marked.text)
        for attempt in range(MAX_DROPPING):
            if module is not None:
                return marked, without, module
            refused = _marks_in_lines(errors, marked) - without
            if not refused:
                # with no mark at all it must compile, or the marks are not to blame
                self._compile_unmarked(text, every)
                refused = _marks_before(errors, marked) - without
            # when none is named, or new ones come each time, none stays
            without = without | refused if refused and attempt + 1 < MAX_DROPPING else every
            marked = self._marked(text, without)
            module, errors = self._compile(marked.text)
        if module is None:
            raise _source_error(self.path, errors)
        return marked, without, module

    def _marked(self, text: str, without: frozenset[int] = frozenset()) -> Marked:
        return mark(
            text, first=self.first, without=without, directives=self.directives, is_c=self.language.is_c
        )

    def _compile_unmarked(self, text: str, every: frozenset[int]) -> None:
        """Raises SourceError: it does not compile."""
        module, errors = self._compile(self._marked(text, every).text)
        if module is None:
            raise _source_error(self.path, errors)

    def _preprocessed(self) -> str:
        out = self.scratch / "unit.ii"
        elsewhere = self.scratch / "elsewhere"
        arguments = [*HEADERS, *self.language.arguments, *self.preprocessing]
        # zig reads the list of headers that it asks for itself, and stumbles over names with backslashes
        arguments += ["-MD", "-MF", str(self.scratch / "unit.d")]
        arguments += _included(self.language.before)
        what = ("-E", "-dD", str(self.path), "-o", str(out))

        def preprocess() -> str | None:
            searched = [*arguments, *searched_in(elsewhere), *what]
            return compile_code(self.language.driver, searched, self.scratch)

        errors = preprocess()
        while errors is not None:
            if not stand_in(errors, elsewhere, self.include_folders):
                raise _source_error(self.path, errors)
            errors = preprocess()
        text = out.read_text(encoding="utf-8", errors="replace")
        return with_names(text) if self.language.named else text

    def _compile(self, text: str) -> tuple[str | None, str]:
        """The IR, or None and what the compiler says."""
        source, out = self.scratch / "marked.cpp", self.scratch / "marked.ll"
        source.write_text(text, encoding="utf-8")
        beside = _included(self.language.beside)
        what = (*beside, "-S", "-emit-llvm", str(source), "-o", str(out))
        errors = compile_code(self.language.driver, [*PLAIN, *self.language.arguments, *what], self.scratch)
        if errors is not None:
            return None, errors
        # the same sources give the same text, wherever they are compiled
        module = out.read_text(encoding="utf-8").replace(f"{self.scratch}/", "")
        # an inline function of C has its body elsewhere too: here is all there is of it
        return module.replace("\ndefine available_externally ", "\ndefine linkonce_odr "), ""


def _included(headers: Sequence[str]) -> list[str]:
    """The arguments that include headers of ours before all else."""
    return [argument for name in headers for argument in ("-include", str(INCLUDE / name))]


def _marks_in_lines(errors: str, marked: Marked) -> frozenset[int]:
    """The marks in whose lines the compiler finds errors, or from whose lines it comes to them."""
    found: set[int] = set()
    for message in messages(errors):
        found.update(marked.places.get((message.file, message.line), ()))
    return frozenset(found)


def _marks_before(errors: str, marked: Marked) -> frozenset[int]:
    """The last mark before each error: of one between an if and its else, the error is at the else."""
    found: set[int] = set()
    for message in messages(errors):
        lines = [line for file, line in marked.places if file == message.file and line < message.line]
        if lines and message.is_error:
            found.update(marked.places[message.file, max(lines)])
    return frozenset(found)


def _source_error(path: Path, errors: str) -> SourceError | ToolError:
    problems = [
        Problem(
            message=message.message,
            fix="code that the vendor's tool compiles; name folders and macros that are missing",
            place=Place(file=message.file, line=message.line, column=message.column),
        )
        for message in messages(errors)
        if message.is_error
    ]
    if problems:
        return SourceError(problems[:SHOWN_ERRORS])
    shown = "\n".join(errors.splitlines()[:SHOWN_ERRORS]) or "it printed nothing"
    return ToolError(f"error: Clang failed with {path}:\n{shown}\n{INSTALL}")


def _linked(modules: Sequence[str]) -> str:
    """One module of several. Raises ToolError: llvmlite is missing. SourceError: two define the same name."""
    if len(modules) == 1:
        return modules[0]
    try:
        from llvmlite import binding
    except ImportError:
        raise ToolError(NO_LLVM) from None
    try:
        whole = binding.parse_assembly(modules[0])
        for text in modules[1:]:
            module = binding.parse_assembly(text)
            _keep_constants_apart(whole, module)
            whole.link_in(module)
    except RuntimeError as error:
        raise SourceError(
            Problem(message=f"the files do not link: {error}", fix="name the files of one kernel only")
        ) from None
    return str(whole)


def _keep_constants_apart(whole: ModuleRef, module: ModuleRef) -> None:
    """Give a module its own of the constants that both define: a specialisation of a constexpr variable in a
    header is seen outside of its file by newer versions of Clang alone (CWG 2387)."""
    defined = {one.name for one in whole.global_variables if not one.is_declaration}
    for one in module.global_variables:
        if one.name in defined and not one.is_declaration and _CONSTANT.match(str(one)):
            one.linkage = "internal"
