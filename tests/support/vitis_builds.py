"""A build for each board with a host program that stands in for its own, and the vendor's tools that do."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.build_folders import write_build
from tests.support.vendor_tools import VendorTools, host_program, vendor_tools


def both_builds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("builds")
    cases = (("u200", "float"), ("zcu102", "channels"))
    return {board: write_build(name, folder / board) for board, name in cases}


def copy_of(build: Path, folder: Path) -> Path:
    shutil.copytree(build, folder)
    host_program(folder)
    return folder


def build_for_u200(builds: dict[str, Path], tmp_path: Path) -> Path:
    return copy_of(builds["u200"], tmp_path / "build")


def build_for_zcu102(builds: dict[str, Path], tmp_path: Path) -> Path:
    return copy_of(builds["zcu102"], tmp_path / "build")


def stand_ins(tmp_path: Path) -> VendorTools:
    return vendor_tools(tmp_path / "bin")


def said(done: subprocess.CompletedProcess[str]) -> str:
    """What a command said that has to fail with make's own status."""
    assert done.returncode == 2, done.stdout
    return done.stderr
