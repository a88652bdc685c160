"""Options and fixtures that every test may use."""

from __future__ import annotations

import os
import signal
import sys

import pytest
from hypothesis import HealthCheck, settings

from tests.support import compiled_once, other_processor

# A shell that starts this in the background has it ignore Ctrl-C, and all that tests start would do so too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Tests start hundreds of processes, each of which would compile the modules of the package anew.
if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):
    sys.dont_write_bytecode = False

# pytest-xdist has a process on each processor: threads of PyTorch, TensorFlow and NumPy would only wait for
# each other there, which costs as much again. OMP_NUM_THREADS is that of the programs that hlsgen emits, too.
for name in ("MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS"):
    os.environ.setdefault(name, "1")

# Builds of tests that are not about it are not scheduled: that takes seconds each. Tests of it unset this.
os.environ.setdefault("HLSGEN_NO_SCHEDULE", "1")

# How long an example takes to be drawn is the machine's affair: on a busy one tests failed for it.
settings.register_profile("hlsgen", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("hlsgen")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write the expected texts anew from what the program says now; then read the diff",
    )
    parser.addoption(
        "--processor",
        choices=("this", "other"),
        default="this",
        help="other: with another processor's floating point, see tests/support/other_processor.py",
    )


COMPILES = pytest.StashKey[bool]()
SAID = pytest.StashKey[str]()


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--processor") == "other":
        other_processor.install()
    config.stash[COMPILES] = compiled_once.install()


def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.config.stash[COMPILES]:
        session.config.stash[SAID] = compiled_once.remove()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    said = config.stash.get(SAID, "")
    if said:
        terminalreporter.write_line(said)


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Whether to write golden files instead of comparing with them."""
    return bool(request.config.getoption("--update-golden"))


@pytest.fixture
def as_users_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the compiler itself, not that of tests/support/compiled_once.py."""
    monkeypatch.setenv("PATH", compiled_once.path_of_users())
