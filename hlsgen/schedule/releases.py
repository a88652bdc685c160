"""Releases of the vendor's tool, in their order."""

from __future__ import annotations

import re


def release_of(version: str) -> tuple[int, ...]:
    """Year and number of a release ("2024.1", "2023.2.2"), to be compared with those of others."""
    return tuple(int(number) for number in re.findall(r"\d+", version)[:2])
