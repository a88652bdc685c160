"""The pragmas that csynth.rpt lists."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlsgen.base.errors import DesignError
from hlsgen.vendor.pragma_report import read_pragmas
from hlsgen.vendor.schedule_report import SourcePlace

REPORT = """
================================================================
== Pragma Report
================================================================
* Valid Pragma Syntax
+-----------------+------------------------------------+--------------------------+
| Type            | Options                            | Location                 |
+-----------------+------------------------------------+--------------------------+
| array_partition | dim=1 type=complete variable=words | src/a.cpp:13 in a, words |
| pipeline        |                                    | b.h:7 in b               |
| top             | name=a                             | nowhere                  |
+-----------------+------------------------------------+--------------------------+

* Ignored Pragmas
+--------+---------+----------+
| Type   | Options | Location |
+--------+---------+----------+
| unroll |         | b.h:9    |
+--------+---------+----------+
"""


def test_valid_pragmas_and_no_others(tmp_path: Path) -> None:
    path = tmp_path / "csynth.rpt"
    path.write_text(REPORT)
    partition, pipeline = read_pragmas(path)
    assert (partition.name, partition.function) == ("array_partition", "a")
    assert partition.options == {"dim=1", "type=complete", "variable=words"}
    assert partition.place == SourcePlace(file="src/a.cpp", line=13)
    assert (pipeline.name, pipeline.options, pipeline.place.line) == ("pipeline", frozenset(), 7)


def test_older_reports_list_none(tmp_path: Path) -> None:
    path = tmp_path / "csynth.rpt"
    path.write_text("== Pragma Report\n  No pragmas found\n")
    assert list(read_pragmas(path)) == []
    with pytest.raises(DesignError, match="is no file"):
        list(read_pragmas(tmp_path / "other.rpt"))
