"""The words of a task's descriptor: named as the emitted struct names them, rows in banks of their own."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlsgen.emit.shared import processor_files
from hlsgen.hardware.descriptor import (
    FIELDS,
    MOST_ROWS,
    ROW_FIELDS,
    TYPE_BITS,
    TYPES,
    WORDS,
    encoded,
    fields_of,
    row_values,
)
from tests.support.shared_processor import PACKED, PROCESSORS, WINDOWS

ODD_ROWS = st.integers(0, (MOST_ROWS - 1) // 2).map(lambda half: 2 * half + 1)


@given(ODD_ROWS, st.integers(1, 15))
def test_rows_of_a_stride_lie_in_banks_of_their_own(rows: int, stride: int) -> None:
    """As long as it shares no factor with them; each where `row * stride` is."""
    values = row_values(replace(PACKED, rows=rows), stride, 17)
    for row in range(rows):
        skip, bank = values["row_skip"][row], values["row_bank"][row]
        assert skip % 17 == 0
        assert skip // 17 * rows + bank == values["row_offset"][row] == row * stride
        assert 0 <= bank < rows
    assert (len(set(values["row_bank"])) == rows) == (math.gcd(rows, stride) == 1)


@pytest.mark.parametrize("name", {**PROCESSORS, **WINDOWS})
def test_words_are_decoded_in_the_order_in_which_they_are_encoded(name: str) -> None:
    """Read out of the emitted header: which word each field is."""
    processor = {**PROCESSORS, **WINDOWS}[name]
    header = processor_files(processor, name="k", source="t")["src/processor.h"]
    single = {
        field: int(at) for field, at in re.findall(r"task\.(\w+) = (?:\w+\()?word\[(\d+)\]\)?;", header)
    }
    rows = re.findall(r"task\.(\w+)\[r\] = (?:\w+\()?word\[(\d+) \+ (\d+) \* ROWS \+ r\]\)?;", header)
    assert single.keys() == fields_of(processor).keys()
    assert {field for field, _, _ in rows} == ROW_FIELDS.keys()
    zeros = dict.fromkeys(single, 0)
    words = encoded(processor, zeros, 2)
    for field, at in single.items():
        changed, *others = np.flatnonzero(encoded(processor, zeros | {field: 1}, 2) != words)
        # rows skip columns
        assert changed == at and (field == "in_columns" or not others)
    expected = row_values(processor, 2, 0)
    for field, first, number in rows:
        at = int(first) + int(number) * processor.rows
        assert words[at : at + processor.rows].tolist() == expected[field]
    assert len(words) == WORDS


def test_a_value_that_no_word_holds_is_refused() -> None:
    values = dict.fromkeys(FIELDS, 0)
    encoded(PACKED, values | {"factor": -(1 << 31), "offset": (1 << 31) - 1}, 1)
    with pytest.raises(OverflowError):
        encoded(PACKED, values | {"offset": 1 << 31}, 1)


@pytest.mark.parametrize("field", sorted(TYPES.keys() & FIELDS.keys()))
def test_a_value_that_its_type_does_not_hold_is_refused(field: str) -> None:
    """At both ends; the ends themselves are told as they are."""
    bits, signed = TYPE_BITS[TYPES[field]]
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    zeros = dict.fromkeys(FIELDS, 0)
    for value in (low, high):
        assert encoded(PACKED, zeros | {field: value}, 1)[list(FIELDS).index(field)] == value
    for value in (low - 1, high + 1):
        with pytest.raises(OverflowError, match=f"{field} of a task is {value}"):
            encoded(PACKED, zeros | {field: value}, 1)


def test_types_of_fields_are_as_wide_as_the_header_has_them() -> None:
    header = processor_files(PACKED, name="k", source="t")["src/processor.h"]
    size = int(re.findall(r"constexpr int SIZE = (\d+);", header)[0])
    for name, (bits, signed) in TYPE_BITS.items():
        kind, written = re.findall(rf"typedef ap_(u?)int<(.+)> {name};", header)[0]
        assert (kind == "", sum(size if word == "SIZE" else int(word) for word in written.split(" + "))) == (
            signed,
            bits,
        )
