"""The processor of a build of `style: shared` in a machine's words: processor.json.

Written by hlsgen/emit/shared.py; all that another network's program needs to know of a build. Anybody may
have written or damaged it: it is checked like every file of others.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from hlsgen.base.short_repr import Brief
from hlsgen.designfile.text_files import read_text, refuse
from hlsgen.designfile.validation import printable
from hlsgen.hardware.descriptor import (
    EXTRA_FIELDS,
    FIELDS,
    MOST_ROWS,
    ROW_FIELDS,
    SCALE_FIELDS,
    WINDOW_FIELDS,
)
from hlsgen.hardware.processor import BIAS_BITS, FLOAT_BITS, LEAST_WINDOWED_ROWS, MOST_SIZE, Processor

PROCESSOR = "processor.json"
FORMAT = 1
"""The format of processor.json; another number, another meaning of its keys."""
CODE_BITS = (8, 16)
"""Widths of activations and weights that words in DDR have."""
MOST_LANES = 64
MOST_DEPTH = 1 << 20
EVERY_FIELD = (*FIELDS, *SCALE_FIELDS, *WINDOW_FIELDS, *EXTRA_FIELDS, *ROW_FIELDS)
"""Of descriptors, in their order."""
AGAIN = "name a folder that hlsgen build made with style: shared, or build the design again"


@dataclass(frozen=True, kw_only=True)
class BuiltProcessor(Brief):
    """name: the kernel's. board: its title. units: the compute units. ddr_rate: bytes a cycle that each
    of them has. descriptor: the fields of a task's descriptor in its sources, in their order.
    """

    name: str
    board: str
    clock_mhz: float
    units: tuple[str, ...]
    ddr_rate: float
    processor: Processor
    descriptor: tuple[str, ...] = EVERY_FIELD

    def as_json(self) -> str:
        return json.dumps({"format": FORMAT, **asdict(self)}, indent=2) + "\n"


def read_processor(folder: Path) -> BuiltProcessor:
    """That of a build folder. Raises DesignError: there is none, or it is not what hlsgen writes."""
    if not folder.is_dir():
        refuse(folder, "is no folder", AGAIN)
    path = folder / PROCESSOR
    if not path.is_file():
        refuse(folder, f"holds no {PROCESSOR}: it is no build of style: shared", AGAIN)
    try:
        data = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        refuse(path, f"is no JSON document: {printable(str(error))}", AGAIN)
    if not isinstance(data, dict) or data.pop("format", None) != FORMAT:
        refuse(path, f"is not of format {FORMAT}, which this hlsgen reads", AGAIN)
    try:
        # JSON has no tuples and no enumerations; everything else is what it says it is
        found = TypeAdapter(BuiltProcessor).validate_json(json.dumps(data), strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        refuse(path, f"is damaged: {printable(where)}: {printable(first['msg'])}", AGAIN)
    wrong = _contradiction(found)
    if wrong:
        refuse(path, f"is damaged: {printable(wrong)}", AGAIN)
    if found.descriptor != EVERY_FIELD:
        refuse(path, "is of a build whose tasks are described in another way than this hlsgen does", AGAIN)
    return found


def _contradiction(found: BuiltProcessor) -> str | None:
    """What no processor of hlsgen's is; None if all is well."""
    one = found.processor
    if not all(re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII) for name in (found.name, *found.units)):
        return "a kernel or compute unit has a name that is no identifier"
    if not found.units:
        return "there are no compute units"
    if not all(math.isfinite(rate) and rate > 0 for rate in (found.clock_mhz, found.ddr_rate)):
        return "its clock or its share of DDR is no positive number"
    widths = (FLOAT_BITS,) if one.floating else CODE_BITS
    if one.activation_bits not in widths or one.weight_bits not in widths:
        return f"its numbers do not have {' or '.join(map(str, widths))} bits"
    if not (1 <= one.rows <= MOST_ROWS and 2 <= one.lanes <= MOST_LANES):
        return f"{one.rows} rows x {one.lanes} channels is no folding"
    if not (1 <= one.pixel_depth <= MOST_DEPTH and 1 <= one.weight_depth <= MOST_DEPTH):
        return "its memories have no depth that a device holds"
    if not 0 <= one.carried_words <= MOST_DEPTH:
        return f"{one.carried_words} words of sums cannot wait"
    if not 0 <= one.pool_columns <= MOST_SIZE:
        return f"it cannot pool {one.pool_columns} columns"
    windows = one.window_products or one.window_largest
    if not (0 <= one.window_columns <= MOST_SIZE and 0 <= one.window_results <= MOST_SIZE):
        return f"no window moves over {one.window_columns} columns"
    if bool(one.window_columns) != windows or (
        windows and (one.rows < LEAST_WINDOWED_ROWS or one.pool_columns or one.scales or one.extra_lanes)
    ):
        return "its windows over results contradict each other"
    beat = one.weight_beat_bits
    if beat < 8 or one.weight_word_bits % beat or one.lanes * BIAS_BITS % beat:
        return f"words of weights are not beats of {beat} bits"
    return None
