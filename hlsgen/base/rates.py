"""Rates as people read them."""

from __future__ import annotations


def rate_text(per_second: float) -> str:
    """A rate with a digit behind the point where it has fewer than four before it: 12.5, 974,644."""
    return f"{per_second:,.0f}" if per_second >= 1000 else f"{per_second:,.1f}"
