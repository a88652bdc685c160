"""Linting files: every pragma of each against all rules."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from hlsgen.lint.argument_access import ArgumentAccess
from hlsgen.lint.check_dataflow import check_dataflow
from hlsgen.lint.check_loops import check_trips
from hlsgen.lint.check_places import check_conflicts, check_place, check_variables
from hlsgen.lint.check_ports import check_ports
from hlsgen.lint.check_sizes import check_numbers, check_partitions
from hlsgen.lint.check_streams import check_streams
from hlsgen.lint.check_words import check_words, nearest, unknown_pragma
from hlsgen.lint.checking import Findings, Here
from hlsgen.lint.options import FORMS
from hlsgen.lint.program import Names, Program, Reader
from hlsgen.lint.rules import Finding, Severity
from hlsgen.lint.structure import Block, Module, TooDeep
from hlsgen.lint.syntax import MAX_DEPTH, MAX_SECONDS, read
from hlsgen.lint.text import BRACKET_DEPTH, PragmaText, Source, unreadable
from hlsgen.lint.words import read_pragma
from hlsgen.ompss.clauses import check_ompss

MAX_WORD = 40
UNDERSTOOD = "see whether a compiler takes it; a macro may have to be written out"


@dataclass(frozen=True, kw_only=True)
class Linted:
    """What linting files found. `pragmas`: how many `#pragma HLS` there are."""

    files: int
    pragmas: int
    findings: tuple[Finding, ...]
    dropped: int

    def count(self, severity: Severity) -> int:
        return sum(finding.rule.severity is severity for finding in self.findings)

    def as_json(self) -> dict[str, int]:
        """The `lint` section of report.json."""
        return {
            "files": self.files,
            "pragmas": self.pragmas,
            "errors": self.count(Severity.ERROR),
            "warnings": self.count(Severity.WARNING),
        }


def lint(paths: Iterable[str], reader: Reader, folders: Sequence[str] = ()) -> Linted:
    """Lints files; `reader` gives their bytes and those of the headers that they include.

    Headers are looked for beside a file, in the folders above it, and in `folders`.

    Whatever the files hold, linting them ends: what cannot be read is a finding.
    """
    program = Program(reader=reader, folders=tuple(folders))
    findings: list[Finding] = []
    files = pragmas = dropped = 0
    for path in paths:
        found, count = _lint_file(posixpath.normpath(path), program)
        files += 1
        pragmas += count
        dropped += found.dropped
        findings += sorted(found.found, key=lambda one: (one.place.line, one.place.column, one.rule.name))
    return Linted(files=files, pragmas=pragmas, findings=tuple(findings), dropped=dropped)


def lint_emitted(plan: Mapping[str, str | bytes]) -> Linted:
    """Lints what goes to the vendor's tools of a build folder's files: src/ and ompss/."""
    texts = {
        path: content.encode() if isinstance(content, str) else content
        for path, content in plan.items()
        if path.endswith((".h", ".cpp")) and path.startswith(("src/", "ompss/"))
    }
    return lint(sorted(texts), texts.get)


def _lint_file(path: str, program: Program) -> tuple[Findings, int]:
    given = program.reader(path)
    data = given or b""
    source = Source(path=path, data=data)
    findings = Findings(source=source)
    wrong = (0, "it is no regular file") if given is None else unreadable(data)
    if wrong is not None:
        findings.source = Source(path=path, data=data[: wrong[0] + 1])
        findings.say("not-text", wrong[1], "give a C++ source file", wrong[0], wrong[0] + 1)
        return findings, 0
    module = _module(source, program, findings)
    if module is None:
        return findings, 0
    source = module.source
    findings.source = source
    names = Names(program=program, module=module)
    pragmas = [pragma for pragma in source.pragmas if _is_hls(pragma, findings)]
    if pragmas:
        _check_reading(module, names, findings)
    _check_pragmas(pragmas, module, names, findings)
    check_numbers(module, names, findings)
    check_streams(module, names, findings)
    _check_tasks(source, findings)
    return findings, len(pragmas)


def _check_tasks(source: Source, findings: Findings) -> None:
    """The directives of OmpSs-2@FPGA, which have rules of their own."""
    if b"oss" not in source.data:
        return
    begins = [0, *(match.end() for match in re.finditer(b"\n", source.data))]
    for one in check_ompss(source.data.decode("latin-1")):
        at = begins[one.line - 1] + one.column - 1
        findings.say("ompss-task", f"{one.message} ({one.rule})", one.fix, at, at + 1)


def _module(source: Source, program: Program, findings: Findings) -> Module | None:
    """The file's structure, or a finding that says why there is none."""
    at = source.too_deep
    message = f"brackets nest deeper than {BRACKET_DEPTH}"
    if at is None:
        known = program.modules.get(source.path)
        if known is not None:
            return known
        try:
            program.modules[source.path] = module = read(source)
        except TooDeep as error:
            at = error.start
            message = f"statements nest deeper than {MAX_DEPTH}, or take more than {MAX_SECONDS:g} s to read"
        else:
            return module
    program.modules[source.path] = None
    findings.say("too-deep", message, "split it into functions", at, at + 1)
    return None


def _is_hls(pragma: PragmaText, findings: Findings) -> bool:
    word = pragma.text.split(maxsplit=1)[:1]
    if not word or word[0].upper() == b"HLS":
        return bool(word)
    # #pragma HSL pipeline
    rest = pragma.text.split()
    if len(rest) > 1 and rest[1].lower().decode(errors="replace") in FORMS and word[0].lower() != b"ap":
        text = word[0].decode(errors="replace")
        if sorted(text.upper()) == sorted("HLS") or nearest(text, ["hls"]):
            at = pragma.start + pragma.text.index(word[0])
            message = f"`#pragma {text[:MAX_WORD]}` is no pragma of the vendor's"
            fix = "did you mean `#pragma HLS`?"
            findings.say("unknown-pragma", message, fix, at, at + len(word[0]))
    return False


def _check_reading(module: Module, names: Names, findings: Findings) -> None:
    """Says what could not be read of a file with pragmas."""
    for name, start, end in module.includes:
        if names.program.included(module, name) is None:
            message = f"{name[:MAX_WORD]} is not there; what needs its names is not checked"
            findings.say("include-missing", message, "give the folder that holds it with -I", start, end)
    for start, end in module.source.pragma_macros:
        message = "a pragma that a macro makes is not checked"
        findings.say("pragma-in-macro", message, "write `#pragma HLS` where it stands", start, end)
    for start, _ in module.lost:
        message = "the structure is not understood from here on"
        findings.say("not-understood", message, UNDERSTOOD, start, start + 1)
    if not module.lost and module.damaged:
        for function in module.functions:
            if function.uncertain and any(
                function.body is not None
                and function.body.node.start_byte <= pragma.start < function.body.node.end_byte
                for pragma in module.source.pragmas[:1000]
            ):
                message = f"`{function.name}` holds an expression that is not understood"
                findings.say("not-understood", message, UNDERSTOOD, function.start, function.end)


def _block_of(module: Module, at: int, unbraced: dict[int, Block]) -> Block | None:
    """The block that a pragma stands in; a loop's without braces, kept by where the loop begins, too."""
    block = module.block_at(at)
    loop = block.unbraced_loop(at) if block is not None else None
    if block is None or loop is None:
        return block
    inner = Block(node=loop, function=block.function, parent=block, loop=loop)
    return unbraced.setdefault(loop.start_byte, inner)


def _check_pragmas(pragmas: list[PragmaText], module: Module, names: Names, findings: Findings) -> None:
    valid: list[Here] = []
    unbraced: dict[int, Block] = {}
    for text in pragmas:
        pragma = read_pragma(text)
        form = FORMS.get(pragma.name)
        if form is None:
            message, fix = unknown_pragma(pragma)
            findings.say("unknown-pragma", message, fix, pragma.start, pragma.end)
            continue
        block = _block_of(module, text.start, unbraced)
        here = Here(pragma=pragma, form=form, block=block, module=module, names=names, findings=findings)
        if block is None and module.damaged:
            message = f"where `{form.name}` stands cannot be told"
            findings.say("not-understood", message, UNDERSTOOD, pragma.start, pragma.end)
            check_words(here)
            continue
        if check_words(here) and check_place(here):
            check_variables(here)
            valid.append(here)
    check_conflicts(valid)
    check_trips(valid)
    interfaces = [here for here in valid if here.form.name == "interface"]
    check_ports(interfaces, [here for here in valid if here.form.name != "interface"])
    check_partitions(valid)
    access = ArgumentAccess(names=names)
    for here in valid:
        if here.form.name == "dataflow":
            check_dataflow(here, access)
