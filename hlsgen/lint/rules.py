"""What the lint looks for: every rule with its severity, and what a finding of it says.

An error is what the vendor's front end refuses, or ignores so that other hardware comes out than was asked
for; a warning is what works today or only costs quality. Messages in quotes and numbers such as HLS 214-113
are the vendor's own. No vendor tool has been met yet: the rules are those of its published front end and
guides.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from hlsgen.base.errors import Place, Problem


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A rule: `what` it finds, in a line, as docs/lint.md says it."""

    name: str
    severity: Severity
    what: str


def _rules(severity: Severity, **rules: str) -> dict[str, Rule]:
    named = {name.replace("_", "-"): what for name, what in rules.items()}
    return {name: Rule(name=name, severity=severity, what=what) for name, what in named.items()}


RULES: dict[str, Rule] = {
    # ---- the file
    **_rules(
        Severity.ERROR,
        not_text="a file with NUL bytes, not in UTF-8, or larger than 16 MiB",
        too_deep="brackets or statements nested deeper than a compiler reads (256)",
    ),
    **_rules(
        Severity.WARNING,
        not_understood="code whose structure cannot be read; only the pragmas' own text is checked there",
        include_missing="an included project header that is not there; what needs its names is not checked",
        pragma_in_macro="a pragma that a macro makes, which is not checked",
    ),
    # ---- a pragma's own text
    **_rules(
        Severity.ERROR,
        unknown_pragma='a pragma that the front end does not know: "unknown HLS pragma ignored"',
        unknown_option='an option that is none of the pragma: "unexpected pragma parameter"; it is dropped',
        missing_option='an option that must be there: "missing argument"',
        bad_value="a value of the wrong kind or out of range",
        not_constant='a value not known at compile time: "unexpected, expression is not constant integer"',
        repeated_option='an option twice: "pragma parameter repeated"; the pragma is dropped',
        conflicting_options="options that exclude each other, or a word besides its type= spelling",
        interface_mode="an interface without its mode, or with the mode not directly behind `interface`",
        wrong_mode_option="an option that another mode of interface has",
    ),
    **_rules(
        Severity.WARNING,
        ignored_option="an option that has no effect here",
        deprecated="a spelling that is no longer supported, or will not be",
    ),
    # ---- where it stands
    **_rules(
        Severity.ERROR,
        outside_function="a pragma that is in no function: \"only allowed in function scope\"",
        outside_loop="a pragma for loops that is not directly in a loop's body",
        wrong_scope="a pragma in a block in which it has no meaning",
        unknown_variable="a variable that is not declared where the pragma stands",
        before_declaration="a pragma before the declaration of its variable",
        conflicting_pragmas="two pragmas on the same thing that exclude each other",
    ),
    **_rules(
        Severity.WARNING,
        before_loop="a loop's pragma before the loop: it holds for all that is around it",
        no_tripcount="a pipelined loop, or one around it, of a bound not constant and no loop_tripcount",
    ),
    # ---- ports
    **_rules(
        Severity.ERROR,
        interface_not_top="an interface pragma in a function that cannot be the top",
        not_a_port="an interface of what is no argument of the function",
        port_type="a mode that the argument's type cannot have: \"Unsupported interface port data type\"",
        port_partition="array_partition or array_reshape of an m_axi argument",
        port_storage="bind_storage of an argument of the top function",
        port_dependence="dependence of an argument that shares its m_axi bundle",
        bundle_conflict="ports of one bundle that ask for different adapters, or a port with two modes",
        axi_width="an m_axi port of words wider than 1024 bits",
        enum_port="an enum as an argument of the top function",
    ),
    **_rules(
        Severity.WARNING,
        axi_padded="an m_axi port of words wider than 64 bits that are no power of two: it has the next one",
        axi_wide="an m_axi port wider than 512 bits, which is what memories and bursts are made for",
        long_port="an argument of the top function whose width differs between host and FPGA (long, size_t)",
    ),
    # ---- sizes
    **_rules(
        Severity.ERROR,
        partition_dim="a dimension that the array does not have",
        int_width="an ap_int or ap_fixed wider than AP_INT_MAX_W (1024)",
        stream_width="a stream whose words have more than 4096 bits",
    ),
    **_rules(
        Severity.WARNING,
        partition_size="more than 1024 partitions (XFORM 203-103 in Vivado HLS; hours in Vitis HLS)",
    ),
    # ---- tasks of OmpSs-2@FPGA
    **_rules(
        Severity.ERROR,
        ompss_task="a `#pragma oss` that the compiler of OmpSs-2@FPGA refuses, or its hardware cannot have",
    ),
    # ---- dataflow regions
    **_rules(
        Severity.ERROR,
        dataflow_exit="a second way out of a dataflow region: return, break, continue or goto",
        dataflow_producer="a stream or array with no producer, or with several (HLS 200-471)",
        dataflow_consumer="a stream or array with no consumer, or with several (HLS 200-471)",
        dataflow_feedback="an array that is read by an earlier stage than the one that writes it",
    ),
    **_rules(
        Severity.WARNING,
        dataflow_statement="what is neither declaration nor call in a dataflow region (HLS 214-114, 214-169)",
        dataflow_condition="a stage that does not run each time: if, switch or ?: in a dataflow region",
        dataflow_return="a stage that returns a value",
        dataflow_loop="a dataflow loop that does not count from 0 in steps of 1 to a constant, in its header",
        dataflow_argument="an argument computed in the region or declared outside of it (HLS 214-113)",
        dataflow_stream_back="a stream that an earlier stage reads; what fills it first must not wait for it",
        dataflow_bypass="an array that skips stages (HLS 200-989)",
        dataflow_global="a variable of the file that a stage is handed, as hls4ml's weights (HLS 214-113)",
        dataflow_static="a static scalar or array in a dataflow region, which is treated like a local one",
    ),
}  # fmt: skip

CANONICAL_FORM = frozenset(
    f"dataflow-{one}" for one in ("statement", "condition", "return", "loop", "argument")
)
"""Warnings that emitted code has none of: the vendor's tool goes on, without saying that it understood."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One place where a rule is broken; the excerpt is left out if the line is long."""

    rule: Rule
    message: str
    fix: str
    place: Place

    def __str__(self) -> str:
        problem = Problem(message=self.message, fix=self.fix, place=self.place)
        text = str(problem).replace(": error: ", f": {self.rule.severity}: ", 1)
        first, line_break, rest = text.partition("\n")
        return f"{first} [{self.rule.name}]{line_break}{rest}"

    @property
    def line(self) -> str:
        """All of it in one line."""
        return f"{self.place.file}:{self.place.line}: {self.message} ({self.rule.name}); {self.fix}"

    def as_json(self) -> dict[str, Any]:
        where = self.place
        return {
            "rule": self.rule.name,
            "severity": self.rule.severity.value,
            "message": self.message,
            "fix": self.fix,
            "file": where.file,
            "line": where.line,
            "column": where.column,
        }
