"""The sources that emitted RTL was made of: as its solution tells, else the files that define its top and
have code where names of the RTL tell a line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from functools import cached_property
from pathlib import Path

from hlsgen.base.errors import DesignError
from hlsgen.designfile.tcl_commands import commands
from hlsgen.designfile.text_files import read_text
from hlsgen.schedule.directives import Directive, configured_directives, directives_of
from hlsgen.schedule.languages import is_code
from hlsgen.vendor.project_files import CompilerFlags
from hlsgen.vendor.schedule_report import SourcePlace
from hlsgen.vendor.solution import SolutionInputs, read_inputs

MOST_SOURCES = 20_000
MOST_BYTES = 20_000_000
FEWEST_FIT = 0.9
"""The share of the lines that names of the RTL tell which must hold code."""
FEWEST_LOOPS = 0.8
"""The share of the pipelines with lines of a comparison that ends them of which one must be a loop's."""
HEADERS = (".h", ".hh", ".hpp", ".hxx", ".inc", ".tpp")
_LOOP_WORD = re.compile(r"\b(for|while|do)\b")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_INCLUDED = re.compile(r'^\s*#\s*include\s*[<"]([^">]+)[">]', re.MULTILINE)
_PRAGMA = re.compile(r"^\s*#\s*pragma\s+HLS\s+(?!interface\b)\w+", re.IGNORECASE | re.MULTILINE)
_TEST_BENCH = re.compile(r"\bmain\s*\(")


def text_of(path: Path) -> str:
    """A file's text; empty if it is large or cannot be read."""
    try:
        return "" if path.stat().st_size > MOST_BYTES else path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


class Code:
    """The lines of sources and of the headers near them, without comments."""

    def __init__(self, given: SolutionInputs) -> None:
        paths = dict.fromkeys([*given.sources, *_headers(given)])
        texts = {path: _COMMENT.sub(_as_long, text_of(path)) for path in paths}
        self.files = {path: text.split("\n") for path, text in texts.items()}

    @cached_property
    def longest(self) -> int:
        """The last line that any file has."""
        return max((len(lines) for lines in self.files.values()), default=0)

    def evidence(self, told: Set[int], ends: Sequence[Set[int]]) -> int:
        """How many lines that RTL tells hold code, and how many pipelines end at a loop; 0 if they are too
        few to be of these sources. Lines beyond all files are of the vendor's headers."""
        near = [line for line in told if line <= self.longest]
        known = [lines for lines in ends if lines and min(lines) <= self.longest]
        held = sum(map(self._holds, near))
        loops = sum(
            any(_is_loop(text, at) for at in lines for text in self.files.values()) for lines in known
        )
        fits = held >= FEWEST_FIT * len(near) and loops >= FEWEST_LOOPS * len(known)
        return held + loops if fits else 0

    def _holds(self, line: int) -> bool:
        return any(
            line <= len(lines) and re.search(r"\w", lines[line - 1]) and not _PRAGMA.match(lines[line - 1])
            for lines in self.files.values()
        )

    def nest(self, line: int, compared: Set[int]) -> tuple[SourcePlace, ...]:
        """The loop at a line and those within it that are compared as well, outermost first; empty if no
        file, or more than one, has a loop there."""
        found = [(path, lines) for path, lines in self.files.items() if _is_loop(lines, line)]
        if len(found) != 1:
            return ()
        path, lines = found[0]
        chain = [line]
        for inner in sorted(at for at in compared if at > line and _is_loop(lines, at)):
            if inner <= _end(lines, chain[-1]):
                chain.append(inner)
        return tuple(SourcePlace(file=str(path), line=at) for at in chain)


def _is_loop(lines: Sequence[str], line: int) -> bool:
    return 0 < line <= len(lines) and bool(_LOOP_WORD.search(lines[line - 1]))


def _as_long(comment: re.Match[str]) -> str:
    return "\n" * comment[0].count("\n")


def _end(lines: Sequence[str], line: int) -> int:
    """The last line of the statement that begins at a line."""
    round_, curly = 0, 0
    for at in range(line, len(lines) + 1):
        for letter in lines[at - 1]:
            round_ += (letter == "(") - (letter == ")")
            curly += (letter == "{") - (letter == "}")
            if round_ == 0 and curly == 0 and letter in ";}":
                return at
    return len(lines)


def _headers(given: SolutionInputs) -> list[Path]:
    folders = dict.fromkeys([*(path.parent for path in given.sources), *given.include_folders])
    return [path for folder in folders for path in sorted(folder.iterdir()) if path.suffix in HEADERS]


def inputs_of(
    top: str, solution: Path | None, root: Path, told: Set[int], ends: Sequence[Set[int]]
) -> tuple[SolutionInputs | None, str]:
    """What a top was made of, or why that is not known. solution: its folder; told: lines that its RTL
    tells; ends: of each pipeline those of the comparison that ends it."""
    given = read_inputs(solution, root) if solution is not None else None
    if given is not None and given.sources and (given.missing or Code(given).evidence(told, ends)):
        return given, ""
    known = [(Code(one).evidence(told, ends), one) for one in _defining(top, root)]
    most = max((much for much, _ in known), default=0)
    best = [one for much, one in known if much == most > 0]
    if len(best) == 1:
        return _directed(best[0], top, root)
    if best:
        return None, "several files define its top"
    return None, "its lines are not those of the sources" if known else "no file defines its top"


def _directed(given: SolutionInputs, top: str, root: Path) -> tuple[SolutionInputs | None, str]:
    """Sources with the directives of the one script or configuration that sets their top; of none, where
    pragmas in the sources show that they stand there."""
    scripts = {tuple(found) for found in _scripts(top, root)}
    if len(scripts) > 1:
        return None, "several scripts set its top"
    if not scripts and not any(_PRAGMA.search(text_of(path)) for path in given.sources):
        return None, "its directives are not known"
    return _only(given.sources, next(iter(scripts), ())), ""


def _only(sources: Sequence[Path], directives: Sequence[Directive] = ()) -> SolutionInputs:
    return SolutionInputs(
        sources=tuple(sources),
        missing=(),
        include_folders=(),
        flags=CompilerFlags(),
        directives=tuple(directives),
        options={},
    )


def _defining(top: str, root: Path) -> Iterator[SolutionInputs]:
    """Each file of another text that defines a top, with those beside it whose headers it includes."""
    define = re.compile(rf"\b{re.escape(top)}\s*\([^;{{}}]*\)\s*\{{")
    tops: dict[str, Path] = {}
    for path in sorted(root.rglob("*"))[:MOST_SOURCES]:
        text = text_of(path) if _is_source(path) else ""
        if define.search(_COMMENT.sub(" ", text)):
            tops.setdefault(text, path)
    for path in tops.values():
        yield _only([one.resolve() for one in _with_included(path)])


def _with_included(path: Path) -> list[Path]:
    """A source, and those beside it of whose headers it, or one of these, includes one."""
    found = [path]
    for one in found:  # grows while it is walked
        names = {Path(name).stem for name in _INCLUDED.findall(text_of(one))}
        beside = (file for file in sorted(one.parent.iterdir()) if _is_source(file) and file.stem in names)
        found.extend(file for file in beside if file not in found)
    return found


def _is_source(path: Path) -> bool:
    plain = is_code(path) and path.is_file() and not path.is_symlink()
    return plain and not _TEST_BENCH.search(_COMMENT.sub(" ", text_of(path)))


def _scripts(top: str, root: Path) -> Iterator[list[Directive]]:
    """The directives of each script or configuration that sets a top."""
    named = re.escape(top)
    for path in sorted(root.rglob("*.tcl"))[:MOST_SOURCES]:
        if re.search(rf"^\s*set_top\s+{named}\s*$", text_of(path), re.MULTILINE):
            yield from _of_script(path)
    for path in sorted(root.rglob("*.cfg"))[:MOST_SOURCES]:
        text = text_of(path)
        if re.search(rf"^\s*syn\.top\s*=\s*{named}\s*$", text, re.MULTILINE):
            yield list(configured_directives(text, str(path)))


def _of_script(path: Path) -> Iterator[list[Directive]]:
    beside = path.parent / "directives.tcl"
    files = [path, *([beside] if beside.is_file() and beside != path else [])]
    try:
        yield [one for file in files for one in directives_of(commands(file, read_text(file)), str(file))]
    except DesignError:
        return
