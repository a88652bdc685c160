"""The words of a task's descriptor: named as the emitted struct names them, rows in banks of their own."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlsgen.emit.shared import processor_files
from hlsgen.hardware.descriptor import FIELDS, MOST_ROWS, ROW_FIELDS, WORDS, encoded, fields_of, row_values
from tests.support.shared_processor import PACKED, PROCESSORS, WINDOWS

ODD_ROWS = st.integers(0, (MOST_ROWS - 1) // 2).map(lambda half: 2 * half + 1)


@given(ODD_ROWS, st.integers(1, 15))
def test_rows_of_a_stride_lie_in_banks_of_their_own(rows: int, stride: int) -> None:
    """As long as it shares no factor with them; each where `row * stride` is."""
    values = row_values(replace(PACKED, rows=rows), stride)
    for row in range(rows):
        block, bank = values["row_block"][row], values["row_bank"][row]
        assert block * rows + bank == values["row_offset"][row] == row * stride
        assert 0 <= bank < rows
    assert (len(set(values["row_bank"])) == rows) == (math.gcd(rows, stride) == 1)


@pytest.mark.parametrize("name", {**PROCESSORS, **WINDOWS})
def test_words_are_decoded_in_the_order_in_which_they_are_encoded(name: str) -> None:
    """Read out of the emitted header: which word each field is."""
    processor = {**PROCESSORS, **WINDOWS}[name]
    header = processor_files(processor, name="k", source="t")["src/processor.h"]
    single = {field: int(at) for field, at in re.findall(r"task\.(\w+) = word\[(\d+)\];", header)}
    rows = re.findall(r"task\.(\w+)\[r\] = word\[(\d+) \+ (\d+) \* ROWS \+ r\];", header)
    assert single.keys() == fields_of(processor).keys()
    assert {field for field, _, _ in rows} == ROW_FIELDS.keys()
    values = {field: 1000 + number for number, field in enumerate(sorted(single))}
    words = encoded(processor, values, 2)
    assert {field: words[at] for field, at in single.items()} == values
    expected = row_values(processor, 2)
    for field, first, number in rows:
        at = int(first) + int(number) * processor.rows
        assert words[at : at + processor.rows].tolist() == expected[field]
    assert len(words) == WORDS


def test_a_value_that_no_word_holds_is_refused() -> None:
    values = dict.fromkeys(FIELDS, 0)
    encoded(PACKED, values | {"factor": -(1 << 31), "offset": (1 << 31) - 1}, 1)
    with pytest.raises(OverflowError):
        encoded(PACKED, values | {"offset": 1 << 31}, 1)
