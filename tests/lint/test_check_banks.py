"""The ports that link.cfg leads to a memory bank."""

from __future__ import annotations

import pytest

from hlsgen.lint.check_banks import check_banks


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        (["sp=a_1.m_axi_x:DDR[0]"] * 2, 0),
        (["nk=a:1", *["sp=a_1.m_axi_x:DDR[0]"] * 4], 4),
        (["sp=a_1.m_axi_x:DDR[0]"] * 2 + ["sp=b_1.m_axi_y:DDR[0:3]"], 3),
        (["sp=a_1.m_axi_x:DDR[0]", "sp=a_1.m_axi_x:DDR[1]"] * 2, 0),
    ],
)
def test_the_first_port_too_many_is_named(lines: list[str], line: int) -> None:
    found = check_banks("vitis/link.cfg", "\n".join(lines), 2)
    assert [one.place.line for one in found] == ([line] if line else [])
    assert not check_banks("vitis/link.cfg", "\n".join(lines), None)
