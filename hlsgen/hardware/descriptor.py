"""A task's descriptor: the 32-bit words that tell a shared processor what to do, in the order of DDR.

The emitted struct `task_t` has these fields by these names, so that Python and C++ cannot differ. Addresses
are in words of LANES activations, those of weights in beats. A *round* is a call of the program on TOGETHER
frames, a *band* some rows of them, a *pass* the way of the array through a band for some output channels, a
*step* a pass or a part of one, a *position* an output column of ROWS output rows.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from hlsgen.hardware.processor import SIZE_BITS, Processor

WORDS = 144
"""32-bit words of a descriptor; those that no field takes are zero."""
MOST_ROWS = 13
"""Output rows at once for which a descriptor has room."""

FIELDS: Mapping[str, str] = {
    "in_base": "word of the first input frame",
    "in_round": "words from a round's input to the next one's; 0: the same place",
    "in_frame": "words of an input frame",
    "in_plane": "words of a channel group of it",
    "in_line": "words of a block of ROWS rows of it",
    "in_rows": "height of the input",
    "in_columns": "width of the input",
    "in_blocks": "blocks of ROWS rows of the input",
    "in_groups": "channel groups of the input",
    "frames": "frames of a band",
    "frame_bands": "frames one after the other, of which each is bands of its own; else 1",
    "bands": "bands of the rows of a frame",
    "band_out": "output blocks of a band",
    "band_step": "input blocks from one band to the next",
    "band_rows": "and rows",
    "band_first": "the first input block of the first band; below 0: above the image",
    "band_blocks": "input blocks of a band, with those outside the image",
    "band_phase": "where in its first block a band's first row lies",
    "band_plane": "words in a bank of a channel group of a band",
    "band_frame": "and of all groups of a frame",
    "arriving": "words that arrive of a column of blocks: of all rows, groups and frames of a band",
    "band_top": "the row of the image at which the first band begins; below 0: in the padding",
    "out_base": "word of the first output frame",
    "out_round": "words from a round's output to the next one's",
    "out_frame": "words of an output frame",
    "out_plane": "words of a channel group of it",
    "out_step": "words from where one band's results go to where the next one's do",
    "out_columns": "width of the output",
    "out_blocks": "blocks of ROWS rows of the output",
    "out_groups": "channel groups that are computed",
    "out_line": "words of a block of ROWS rows of the output",
    "out_words": "of all frames of a band",
    "pool": "1: of two rows by two columns of the results the largest is stored",
    "table": "1: results are looked up in a table, which stands in front of the weights",
    "signed_results": "1: the codes that are stored have a sign",
    "stored_columns": "width of the tensor that is stored",
    "stored_blocks": "blocks of ROWS rows of it",
    "stored_band": "of these a band's",
    "stored_line": "words of a block of it",
    "residual": "1: a tensor is added to the results; 2: one of a single pixel, which joins all of them",
    "residual_base": "word of its first frame",
    "residual_round": "words from a round's to the next one's",
    "residual_frame": "words of a frame of it",
    "residual_plane": "words of a channel group of it",
    "residual_step": "words from one band's part of it to the next one's",
    "residual_signed": "1: its codes have a sign",
    "largest": "1: the largest value of each window instead of sums of products",
    "signed_pixels": "1: the input's codes have a sign",
    "kernel_rows": "rows of the kernel",
    "kernel_columns": "columns of the kernel",
    "block_rows": "rows from a block of ROWS output rows to the next",
    "block_step": "words in a bank from one to the next",
    "stride_columns": "columns from an output column to the next",
    "left": "columns of padding at the left",
    "dilation_columns": "columns from one tap to the next",
    "dilation_rows": "rows from one tap to the next",
    "repeat_rows": "how often each row of the input counts: nearest upsampling",
    "repeat_columns": "how often each column counts",
    "repeat_zeros": "1: they count once, and zeros follow them",
    "repeat_line": "words of a block of ROWS rows of the input before they are repeated",
    "dilation_phase": "dilation_rows modulo ROWS",
    "tap_step": "words in a bank from a row of taps to the next, but for dilation_phase",
    "read_groups": "channel groups that a pass reads",
    "pass_words": "words of the weights of a pass: of all taps of all groups that it reads",
    "pass_step": "words in a bank from where one pass reads to where the next one does",
    "steps": "of the array",
    "weight_base": "beat of the first weights",
    "chunks": "parts in which the weights of a pass are loaded",
    "chunk_words": "words of weights of a part",
    "last_words": "words of weights of the last part",
    "factor": "what a sum of 0 or more is multiplied by: the product has FRACTION bits to round away",
    "slope": "what a sum below 0 is multiplied by",
    "offset": "what is added to the product",
    "tie": "remainders up to this one are none: a quotient's error",
    "rounding": "how a result is rounded: bits of `rounding` in finish.h",
    "low": "the least result",
    "high": "the largest result",
    "early": "1: the added tensor joins the product of the sum, not that of the first result",
    "second": "1: the first result is multiplied and rounded once more",
    "second_factor": "what a first result is multiplied by if it is 0 or more",
    "second_slope": "what it is multiplied by below 0",
    "residual_factor": "what the added tensor is multiplied by",
    "second_rounding": "as rounding",
    "second_low": "as low",
    "second_high": "as high",
}
"""Every field and what it says."""
SCALE_FIELDS: Mapping[str, str] = {
    "up": "bits that the product is shifted up by, so that FRACTION bits are to be rounded away",
    "second_up": "the same of the product of the first result",
    "residual_up": "bits that the added tensor's product is shifted up by before it joins",
    "second_offset": "what is added to the product of the first result: its lowest 32 bits",
    "second_offset_high": "and those above",
    "multiplies": "1: the first result is multiplied by the second tensor, which is not added",
}
"""Those that a task has besides where a processor's factors are of any binary point."""
EXTRA_FIELDS: Mapping[str, str] = {
    "passes": "passes of the array through a band: one for each output group, or fewer of more channels",
    "extra": "output channels of a pass beside those of a word",
}
"""Those of a processor that computes output channels beside those of a word."""
WINDOW_FIELDS: Mapping[str, str] = {
    "window": "a second window moves over the results: 0, none, or bits of `window_kind` in window.h",
    "out_rows": "height of the output, before such a window",
    "window_stride": "rows and columns from one to the next",
    "window_first_row": "the row of results with which the first one ends",
    "window_first_column": "the column of results with which it ends",
    "window_across": "columns that it passes: of the results, and beside them",
    "window_blocks": "blocks of ROWS rows that it passes",
    "window_slots": "columns of all rows of such a block and all frames of a band",
    "window_rows": "rows of the output from one band to the next",
    "window_factor": "as factor; 0: largest values",
    "window_rounding": "as rounding",
    "window_low": "as low",
    "window_high": "as high",
}
"""Those where a processor moves windows over results."""
ROW_FIELDS: Mapping[str, str] = {
    "row_offset": "rows from the first output row's to this one's: row * stride_rows",
    "row_bank": "row_offset modulo ROWS",
    "row_skip": "words in a bank for the whole blocks of row_offset",
}
"""Fields of which there is one for each output row."""


SIZE, LINE, COUNT, PLACE, STEP, CHOICE = "size_t", "line_t", "count_t", "place_t", "step_t", "choice_t"
"""Types of processor.h that are narrower than a word."""
TYPE_BITS: Mapping[str, tuple[int, bool]] = {
    SIZE: (SIZE_BITS, False),
    LINE: (SIZE_BITS + 4, False),
    COUNT: (SIZE_BITS + 12, False),
    PLACE: (SIZE_BITS + 2, True),
    STEP: (4, False),
    CHOICE: (2, False),
}
"""Their bits, and whether one is a sign."""
_NARROW: Mapping[str, tuple[str, ...]] = {
    SIZE: (
        *("in_rows", "in_columns", "in_blocks", "in_groups", "frames", "frame_bands", "bands", "band_out"),
        *("band_blocks", "out_columns", "out_blocks", "out_groups", "stored_columns", "stored_blocks"),
        *("stored_band", "kernel_rows", "kernel_columns", "repeat_rows", "repeat_columns", "read_groups"),
        *("chunks", "passes", "out_rows", "window_first_row", "window_first_column"),
        *("window_across", "window_blocks", "row_offset"),
    ),
    LINE: ("in_line", "out_line", "stored_line"),
    COUNT: ("out_words", "arriving", "pass_words", "window_slots"),
    PLACE: ("band_first", "band_top", "left"),
    STEP: (
        *("stride_columns", "dilation_columns", "dilation_rows", "dilation_phase"),
        *("band_phase", "window_stride", "row_bank"),
    ),
    CHOICE: (
        *("pool", "table", "signed_results", "residual", "residual_signed", "largest", "signed_pixels"),
        *("repeat_zeros", "early", "second", "multiplies"),
    ),
}
TYPES: Mapping[str, str] = {name: type_ for type_, names in _NARROW.items() for name in names}
"""The types of fields whose values need no 32 bits: what is computed from them is as narrow."""


def _holds(name: str, value: int) -> bool:
    """Whether a field's type holds a value."""
    if name not in TYPES:
        return True
    bits, signed = TYPE_BITS[TYPES[name]]
    return -(1 << bits - 1) <= value < 1 << bits - 1 if signed else 0 <= value < 1 << bits


def row_values(processor: Processor, stride: int, columns: int) -> dict[str, list[int]]:
    """The fields of ROW_FIELDS for a stride and an input of so many columns."""
    offsets = [row * stride for row in range(processor.rows)]
    return {
        "row_offset": offsets,
        "row_bank": [offset % processor.rows for offset in offsets],
        "row_skip": [offset // processor.rows * columns for offset in offsets],
    }


def fields_of(processor: Processor) -> Mapping[str, str]:
    """The fields of a task of a processor, but those of each output row."""
    scales = SCALE_FIELDS if processor.scales else {}
    windows = WINDOW_FIELDS if processor.window_columns else {}
    return {**FIELDS, **scales, **windows, **(EXTRA_FIELDS if processor.extra_lanes else {})}


def encoded(processor: Processor, fields: Mapping[str, int], stride: int) -> NDArray[np.int32]:
    """The words [WORDS] of a descriptor. fields: a value of every one of `fields_of`; stride: of rows.

    Raises OverflowError: a value that its field's type, or 32 bits, do not hold.
    """
    names = fields_of(processor)
    assert fields.keys() == names.keys(), sorted(fields.keys() ^ names.keys())
    of_rows = row_values(processor, stride, fields["in_columns"])
    told = [*fields.items(), *((name, value) for name, values in of_rows.items() for value in values)]
    for name, value in told:
        if not _holds(name, value):
            raise OverflowError(f"{name} of a task is {value}, which {TYPES[name]} does not hold")
    words = [fields[name] for name in names]
    for name in ROW_FIELDS:
        words += of_rows[name]
    assert len(words) <= WORDS
    found = np.zeros(WORDS, np.int32)
    found[: len(words)] = words
    return found


MOST_FIELDS = len(FIELDS) + len(SCALE_FIELDS) + max(len(WINDOW_FIELDS), len(EXTRA_FIELDS))
"""No processor has both windows over results and extra channels."""
assert 1 << TYPE_BITS[LINE][0] - SIZE_BITS > MOST_ROWS, "a line is a size times the rows"
assert MOST_FIELDS + len(ROW_FIELDS) * MOST_ROWS <= WORDS
