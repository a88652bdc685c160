"""A lint for `#pragma HLS`: options, places, dataflow regions, ports and sizes.

docs/lint.md lists the rules.
"""

from hlsgen.lint.linting import Linted, lint, lint_emitted
from hlsgen.lint.rules import CANONICAL_FORM, RULES, Finding, Rule, Severity

__all__ = ["CANONICAL_FORM", "RULES", "Finding", "Linted", "Rule", "Severity", "lint", "lint_emitted"]
