"""What the rules work on: a pragma and what is around it, and the list that findings go to."""

from __future__ import annotations

from dataclasses import dataclass, field

from hlsgen.lint.options import Form
from hlsgen.lint.program import Names
from hlsgen.lint.rules import RULES, Finding
from hlsgen.lint.structure import Block, Module
from hlsgen.lint.text import Source
from hlsgen.lint.words import Pragma

MAX_FINDINGS = 200
"""The most findings of a file; one with more is not made better by reading them all."""


@dataclass(kw_only=True)
class Findings:
    """The findings of one file. `dropped` counts those beyond MAX_FINDINGS."""

    source: Source
    found: list[Finding] = field(default_factory=list)
    dropped: int = 0

    def say(self, rule: str, message: str, fix: str, start: int, end: int) -> None:
        """A finding at the bytes `start` to `end`."""
        if len(self.found) >= MAX_FINDINGS:
            self.dropped += 1
            return
        place = self.source.place(start, end)
        self.found.append(Finding(rule=RULES[rule], message=message, fix=fix, place=place))


@dataclass(frozen=True, kw_only=True)
class Here:
    """A pragma that the front end knows, where it stands (block None: outside of functions)."""

    pragma: Pragma
    form: Form
    block: Block | None
    module: Module
    names: Names
    findings: Findings

    @property
    def scope(self) -> tuple[str, ...]:
        return self.block.function.scope if self.block is not None else ()

    def say(self, rule: str, message: str, fix: str, at: tuple[int, int] | None = None) -> None:
        """A finding at `at`, or at the pragma's name."""
        start, end = at or (self.pragma.start, self.pragma.end)
        self.findings.say(rule, message, fix, start, end)

    def value(self, text: str) -> int | None:
        return self.names.value(text, self.scope, self.block)

    def number(self, key: str, default: int) -> int | None:
        """An option's value, None if it is not known."""
        word = self.pragma.value(key)
        return default if word is None or word.value is None else self.value(word.value)

    def word(self, key: str) -> str | None:
        """A choice's word in lower case, by its key or alone."""
        option = self.form.option(key)
        if option is None:
            return None
        given = self.pragma.value(key)
        if given is not None and given.value is not None:
            return given.value.strip('"').lower()
        return self.pragma.says(*option.words) if option.alone else None
