"""A lint for `#pragma HLS`: options, places, dataflow regions, ports and sizes.

docs/lint.md lists the rules.
"""

from hlsgen.lint.linting import Linted, lint, lint_emitted
from hlsgen.lint.rules import RULES, Finding, Rule, Severity

__all__ = ["RULES", "Finding", "Linted", "Rule", "Severity", "lint", "lint_emitted"]
