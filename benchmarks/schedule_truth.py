"""What the vendor's tool did with public designs: each loop with its lines in the sources that are there.

Reports name a loop by its label or as VITIS_LOOP_line_number, a flattened nest by the names of its loops
joined. A report whose lines are not those of the sources is of other sources: such designs are left out.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from schedule_trips import WrittenTrips

from hlsgen.schedule.languages import is_code
from hlsgen.vendor.pragma_report import ReportedPragma
from hlsgen.vendor.project_files import Finder, bases_of
from hlsgen.vendor.schedule_report import SourcePlace
from hlsgen.vendor.solution import REPORT, VendorLoop, VendorSolution

OLDEST, NEWEST = "2020.1", "2025.2"
FEWEST_AGREE = 0.8
"""The share of a design's loops whose lines must be those of loops in its sources."""
LOOK_AHEAD = 6
"""Lines between a label and its loop."""
HEADERS = ("*.h", "*.hpp", "*.hh", "*.inc", "*.tpp", "*/*.h", "*/*.hpp")
MOST_HEADERS = 400
_NAMED_BY_LINE = re.compile(r"VITIS_LOOP_(\d+)_\d+")
_WITHOUT_NAME = re.compile(r"Loop[ _]?\d")
SCHEDULING = (
    *("pipeline", "unroll", "dataflow", "inline", "array_partition", "array_reshape", "dependence"),
    *("loop_flatten", "loop_merge", "bind_storage", "bind_op", "allocation", "latency", "occurrence"),
)
"""The pragmas that a schedule hangs on."""
LISTS_PRAGMAS = "2021.2"
_PRAGMA = re.compile(r"\s*#\s*pragma\s+HLS\s+(\w+)\s*([^/]*)", re.IGNORECASE)
_CLONE = re.compile(r"^\d{0,2}")
_LABEL = re.compile(r"^\s*(?:\{\s*)?([A-Za-z_]\w*)\s*:(?!:)")
_LOOP_WORD = re.compile(r"\b(for|while|do)\b")
LONGEST_NAME = 255
_NOT_FOUND = re.compile(r"'([^'\n]+)' file not found")
_C_HEADERS = (
    "assert complex ctype errno fcntl fenv float inttypes limits locale malloc math memory pthread setjmp "
    "signal stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib string strings tgmath time uchar "
    "unistd wchar wctype"
)
_OURS = re.compile(
    r"(?:ap_|hls_|hls/|utils/x_hls|etc/)|(?:sys|bits|arpa|netinet|CL)/|[^./]+$"
    rf"|(?:gmp|mpfr|{_C_HEADERS.replace(' ', '|')})\.h$"
)
"""Headers of the vendor, the system, C and C++ (which have no end)."""
_NO_SOURCE = re.compile(r"tb|test|main|host", re.IGNORECASE)
_KEYWORDS = {"default", "public", "private", "protected", "case"}


@dataclass(frozen=True, kw_only=True)
class Expected:
    """A pipelined loop of a report. lines: those that it may stand at, of its innermost loop first.
    body: the first and the last line of the nest that a sentence names by its outer loop, if it is one."""

    loop: VendorLoop
    lines: tuple[tuple[Path, int], ...]
    body: tuple[Path, int, int] | None = None


def unfit(solution: VendorSolution) -> str:
    """Why a solution is no truth; empty if it is."""
    version = solution.report.version
    if not OLDEST <= version[:6] <= NEWEST:
        return "of another version"
    if solution.missing or not solution.sources:
        return "sources are not there"
    return ""


def lacks_header(failure: str, root: Path) -> str:
    """Why sources that do not compile are not all there: a header of the project's, or of a library of
    others, that is nowhere in the checkout. Empty if it is there, or one that hlsgen should have: the
    vendor's, the system's, C's and C++'s."""
    missing = _NOT_FOUND.search(failure)
    if missing is None or _OURS.match(missing[1]):
        return ""
    name = missing[1].replace("\\", "/").rpartition("/")[2]
    there = len(name) <= LONGEST_NAME and any(root.rglob(glob.escape(name)))
    return "" if there else f"a header is not there: {missing[1]}"


def with_sources_beside(solution: VendorSolution, root: Path) -> VendorSolution:
    """The solution; if nothing names its sources, with the files beside it of which one defines the top."""
    if solution.sources or solution.missing:
        return solution
    top = re.compile(rf"\b{re.escape(solution.report.top)}\s*\([^;{{]*\)\s*\{{")
    for folder in (solution.folder.parent, solution.folder.parent.parent):
        for below in ("", "src", "source"):
            near = [path for path in sorted((folder / below).glob("*.c*")) if _is_source(path, root)]
            tops = [path for path in near if top.search("\n".join(_lines(path)))]
            if len(tops) == 1:
                return replace(solution, sources=tuple(near))
    return solution


def _is_source(path: Path, root: Path) -> bool:
    if not is_code(path) or _NO_SOURCE.search(path.name) or not path.is_file():
        return False
    return path.resolve().is_relative_to(root.resolve())


def expected_loops(solution: VendorSolution, root: Path) -> tuple[list[Expected], str]:
    """The pipelined loops of which the lines are known, or why the report is not of these sources."""
    code = Sources(solution, root)
    named = [loop for loop in solution.loops if not _WITHOUT_NAME.match(loop.name)]
    found = [(loop, code.lines_of(loop)) for loop in named]
    if sum(1 for _, lines in found if lines) < FEWEST_AGREE * len(named):
        return [], "its lines are not those of the sources"
    why = _other_pragmas(solution, code) or _other_trips(solution, code, found)
    if why:
        return [], why
    return [
        Expected(loop=loop, lines=lines, body=code.body_of(loop, lines))
        for loop, lines in found
        if lines and loop.ii is not None
    ], ""


def _other_pragmas(solution: VendorSolution, code: Sources) -> str:
    """Why the pragmas that csynth lists are not those of the sources; empty if they are, or it lists none.

    Runs with other pragmas on the same lines are common: a source that was changed for the next run.
    """
    listed = [pragma for pragma in solution.pragmas if pragma.name in SCHEDULING]
    for pragma in listed:
        if not (_is_directive(pragma, solution) or code.has_pragma(pragma)):
            return "its pragmas are not those of the sources"
    version, report = solution.report.version, solution.folder / REPORT.with_suffix(".rpt")
    obeyed = any((loop.ii_target or 1) > 1 for loop in solution.loops)  # some lists lack what was obeyed
    if not obeyed and version >= LISTS_PRAGMAS and report.is_file():
        lines = (line for path in solution.sources for line in code.files[path])
        written = [found[1].lower() for found in map(_PRAGMA.match, lines) if found]
        written += [one.name for one in solution.directives]
        many = sum(name in ("pipeline", "unroll", "array_partition") for name in written)
        if sum(one.name in ("pipeline", "unroll", "array_partition") for one in listed) < many / 2:
            return "its pragmas are not those of the sources"
    return ""


def _other_trips(
    solution: VendorSolution, code: Sources, found: Sequence[tuple[VendorLoop, tuple[tuple[Path, int], ...]]]
) -> str:
    """Why the iterations of loops with constant bounds are not those of the sources; empty if they are.

    Sizes are changed for the next run as well: neither lines nor pragmas tell that.
    """
    if any(one.name == "unroll" for one in solution.directives):
        return ""
    written = WrittenTrips(code.files, dict(one.partition("=")[::2] for one in solution.flags.defines))
    agree = []
    for loop, lines in found:
        told = loop.trip_count
        if told is None or told.low != told.high or not lines or len(lines) != len(code.parts(loop.name)):
            continue
        trips = written.of_nest(lines)
        if trips is not None:
            agree.append(trips == told.low)
    return "its iterations are not those of the sources" if sum(agree) < FEWEST_AGREE * len(agree) else ""


def _is_directive(pragma: ReportedPragma, solution: VendorSolution) -> bool:
    """Whether csynth lists a directive that the solution has."""
    return Path(pragma.place.file).suffix in (".cfg", ".tcl") and any(
        one.name == pragma.name and one.line == pragma.place.line for one in solution.directives
    )


class Sources:
    """Lines of the sources of a solution, and of the headers near them."""

    def __init__(self, solution: VendorSolution, root: Path) -> None:
        folders = {path.parent for path in solution.sources} | set(solution.include_folders)
        headers = (path for folder in sorted(folders) for path in _headers(folder))
        self.files = {path: _lines(path) for path in dict.fromkeys([*solution.sources, *headers])}
        self.finder = Finder(root, [*sorted(folders), *bases_of(root, solution.folder)])

    @cached_property
    def labels(self) -> dict[str, list[tuple[Path, int]]]:
        """The lines of the loops that each label names."""
        found: dict[str, list[tuple[Path, int]]] = {}
        for path, lines in self.files.items():
            for number, line in enumerate(lines, start=1):
                label = _LABEL.match(line)
                at = self.loop_from(lines, number) if label and label[1] not in _KEYWORDS else 0
                if label and at:
                    found.setdefault(label[1], []).append((path, at))
        return found

    @staticmethod
    def loop_from(lines: Sequence[str], number: int) -> int:
        """The first line from a number on that has a loop's word, soon; 0 if none has."""
        for at in range(number, min(number + LOOK_AHEAD, len(lines) + 1)):
            if _LOOP_WORD.search(lines[at - 1].partition("//")[0]):
                return at
        return 0

    def has_pragma(self, pragma: ReportedPragma) -> bool:
        """Whether the pragma stands where csynth says, with the same values where they are no macros."""
        path = self.finder.find(pragma.place.file)
        lines = self.files.setdefault(path, _lines(path)) if path else []
        found = _PRAGMA.match(lines[pragma.place.line - 1]) if 0 < pragma.place.line <= len(lines) else None
        if found is None or found[1].lower() != pragma.name:
            return False
        written = _options(re.sub(r"\s*=\s*", "=", found[2]).split())
        listed = _options(sorted(pragma.options))
        return all(
            key not in written
            or value == written[key]
            or (key not in ("variable", "type") and not written[key].isdigit())
            for key, value in listed.items()
        )

    def lines_of(self, loop: VendorLoop) -> tuple[tuple[Path, int], ...]:
        """Where a loop may stand, its innermost loop first; empty where report and sources disagree."""
        told = [place for place in map(self.told, loop.places) if place]
        parts = self.parts(loop.name)
        each = [self.candidates(part, told) for part in parts]
        if parts and not all(each):
            return ()
        lines = [line for lines in reversed(each) for line in lines]
        if not parts and not _NAMED_BY_LINE.search(loop.name):
            lines = list(reversed(told))
        return tuple(dict.fromkeys(lines))

    def body_of(self, loop: VendorLoop, lines: Sequence[tuple[Path, int]]) -> tuple[Path, int, int] | None:
        """The lines of a loop that a person's sentence names, who need not name the loops within. What the
        tool writes has places or a depth, and names all loops of a nest."""
        if loop.places or loop.depth is not None or len(lines) != 1:
            return None
        (path, first), text = lines[0], self.files[lines[0][0]]
        depth = 0
        for number in range(first, len(text) + 1):
            code = text[number - 1].partition("//")[0]
            depth += code.count("{") - code.count("}")
            if depth <= 0 and re.search(r"[;}]\s*$", code):
                return path, first, number
        return None

    def told(self, place: SourcePlace) -> tuple[Path, int] | None:
        """The line of the loop at a place that a report tells; None if there is no loop."""
        path = self.finder.find(place.file)
        if path is None:
            return None
        lines = self.files.setdefault(path, _lines(path))
        at = self.loop_from(lines[: place.line], place.line) or self.loop_from(lines, max(1, place.line - 1))
        return (path, at) if at and at <= place.line + 3 else None

    def candidates(self, part: str, told: Sequence[tuple[Path, int]]) -> list[tuple[Path, int]]:
        """The lines of the loops of a name; of several, those in a file that the report tells."""
        named = _NAMED_BY_LINE.fullmatch(part)
        if named:  # a loop with a label would be named by it
            number = int(named[1])
            labelled = {line for lines in self.labels.values() for line in lines}
            found = [
                (path, number)
                for path, lines in self.files.items()
                if number <= len(lines)
                and _LOOP_WORD.search(lines[number - 1].partition("//")[0])
                and (path, number) not in labelled
            ]
        else:
            found = self.labels.get(part, [])
        files = {path for path, _ in told}
        exact = [line for line in found if line in told]
        return exact or [line for line in found if line[0] in files] or found

    def parts(self, name: str) -> list[str]:
        """The loops that a flattened nest's name is joined of, outermost first; digits of clones fall off, as
        few as may be: loop11 is no clone of loop1 where there is a loop11."""
        reached: dict[int, tuple[int, list[str]]] = {0: (0, [])}
        for at in range(len(name)):
            for part in self._names_at(name, at) if at in reached else ():
                fallen, before = reached[at]
                for after in _CLONE.findall(name[at + len(part) :])[:1]:
                    for digits in ("", after):
                        stop = at + len(part) + len(digits)
                        if name[stop : stop + 1] in ("", "_"):
                            way = fallen + len(digits), [*before, part]
                            stop = min(stop + 1, len(name))
                            reached[stop] = min(reached.get(stop, way), way)
        return reached.get(len(name), (0, []))[1]

    def _names_at(self, name: str, at: int) -> Iterator[str]:
        named = _NAMED_BY_LINE.match(name, at)
        if named:
            yield named[0]
        yield from (label for label in self.labels if name.startswith(label, at))


def _options(words: Sequence[str]) -> dict[str, str]:
    """Values by key, in lower case; the kind of a partition has the key `type` however it is written."""
    pairs = [word.lower().partition("=")[::2] for word in words]
    kinds = [word.lower() for word in words if word.lower() in ("complete", "cyclic", "block")]
    return {key: value for key, value in [*pairs, *(("type", kind) for kind in kinds)] if value}


def _headers(folder: Path) -> list[Path]:
    return sorted({path for pattern in HEADERS for path in folder.glob(pattern)})[:MOST_HEADERS]


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return []
