"""Figures as rows: for JSON, and as a pandas.DataFrame where pandas is installed."""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping, Sequence
from typing import Any

from hlsgen.base.errors import ToolError


def finite(value: float) -> float | None:
    """A number as JSON can say it: null in place of inf and NaN."""
    return value if math.isfinite(value) else None


def data_frame(rows: Sequence[Mapping[str, Any]], index: str) -> Any:
    """The rows as a pandas.DataFrame indexed by a column. Raises ToolError: pandas is not installed."""
    try:
        pandas = importlib.import_module("pandas")
    except ImportError as error:
        message = f"a DataFrame needs the package pandas, which cannot be imported ({error})"
        raise ToolError(f"{message}\nfix: pip install pandas, or as_json() for the same figures") from None
    return pandas.DataFrame(list(rows)).set_index(index)
