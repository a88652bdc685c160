"""Each rule of the lint has a file rules/RULE.cpp that breaks it, and rules/RULE.expect, what is said of it.

Add a rule by adding its file and running `pytest --update-golden`; then read what was written.
"""

from __future__ import annotations

import re

import pytest

from hlsgen.lint import RULES, Linted, Severity, lint
from tests.support.places import ROOT, TESTS

LINT = TESTS / "lint" / "rules"
DOC = ROOT / "docs" / "lint.md"


def lint_file(name: str) -> Linted:
    def read(path: str) -> bytes | None:
        file = LINT / path
        return file.read_bytes() if file.is_file() else None

    return lint([name], read)


def test_files_are_those_of_the_rules() -> None:
    assert {path.stem for path in LINT.glob("*.cpp")} == {*RULES, "clean"}
    assert {path.stem for path in LINT.glob("*.expect")} == set(RULES)


@pytest.mark.parametrize("rule", list(RULES))
def test_rule_is_found_and_said_as_expected(rule: str, update_golden: bool) -> None:
    linted = lint_file(f"{rule}.cpp")
    assert rule in {finding.rule.name for finding in linted.findings}
    said = "".join(f"{finding}\n" for finding in linted.findings)
    expect = LINT / f"{rule}.expect"
    if update_golden:
        expect.write_text(said, encoding="utf-8")
    assert expect.exists(), f"{expect} is missing; run pytest --update-golden and read what it writes"
    assert said == expect.read_text(encoding="utf-8")
    for finding in linted.findings:
        assert finding.message and finding.fix and finding.place.line >= 1 and finding.place.column >= 1


@pytest.mark.parametrize("rule", list(RULES))
def test_a_files_findings_are_of_its_rule(rule: str) -> None:
    """What else is found in a file follows from the mistake that the file is about."""
    follows = {
        "conflicting-options": {"deprecated"},
        "not-understood": {"bad-value"},
    }
    found = {finding.rule.name for finding in lint_file(f"{rule}.cpp").findings}
    assert found == {rule} | follows.get(rule, set())


def test_allowed_spellings_are_clean() -> None:
    linted = lint_file("clean.cpp")
    assert [str(finding) for finding in linted.findings] == []
    assert linted.pragmas >= 58


def test_the_document_lists_every_rule_with_its_severity() -> None:
    text = DOC.read_text(encoding="utf-8")
    said = dict(re.findall(r"^\| `([a-z-]+)` \| (error|warning) \|", text, flags=re.MULTILINE))
    assert said == {name: rule.severity.value for name, rule in RULES.items()}
    for rule in RULES.values():
        assert f"| `{rule.name}` | {rule.severity} | {rule.what} |" in text


def test_severities() -> None:
    assert {rule.severity for rule in RULES.values()} == set(Severity)
