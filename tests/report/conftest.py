"""Builds of every kind, shared by the tests of reports."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.report_builds import built


@pytest.fixture(scope="session")
def builds(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """By kind the build folder, made when it is first asked for."""
    folder = tmp_path_factory.mktemp("builds")
    made: dict[str, Path] = {}

    def of(kind: str) -> Path:
        if kind not in made:
            made[kind] = built(kind, folder)
        return made[kind]

    return of
