"""Processors that are compiled once for all tests."""

from __future__ import annotations

from functools import cache

import pytest

from hlsgen.csim.compiler import Headers
from tests.support.shared_processor import (
    FLOATS,
    PROCESSORS,
    WINDOWS,
    Building,
    BuiltProcessor,
    build_processor,
)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Building:
    """A compiled processor by its name."""

    @cache
    def build(name: str, headers: Headers = Headers.FAST) -> BuiltProcessor:
        # the reference headers are slow to compile
        optimise = "-O1" if headers is Headers.FAST else "-O0"
        folder = tmp_path_factory.mktemp(name)
        return build_processor(
            {**PROCESSORS, **WINDOWS, **FLOATS}[name], folder, headers=headers, optimise=optimise
        )

    return build
