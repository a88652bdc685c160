"""The compiler of the tests: equal sources are compiled once, others are not."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.compiled_once import FOLDER
from tests.support.once_compiler import COMPILED, NOTES

if shutil.which("g++") is None:
    pytest.skip("needs g++", allow_module_level=True)
SOURCE = '#include <cstdio>\n#include "word.h"\nint main() { std::printf("%d", WORD); }\n'


@pytest.fixture(scope="module")
def headers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is kept where the standard headers have been compiled for no options."""
    folder = tmp_path_factory.mktemp("headers")
    made(folder / "sources", folder, 1)
    return folder


@pytest.fixture
def kept(tmp_path: Path, headers: Path) -> Path:
    """A folder that has those headers alone."""
    (compiled,) = headers.glob("headers-*")
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / compiled.name).symlink_to(compiled)
    return tmp_path / "kept"


def made(folder: Path, kept: Path, word: int, *flags: str) -> tuple[str, str]:
    """What the executable of such sources in such a folder prints, and how it was come by."""
    folder.mkdir(exist_ok=True)
    (folder / "word.h").write_text(f"#ifndef WORD\n#define WORD {word}\n#endif\n")
    (folder / "main.cpp").write_text(SOURCE)
    out = folder / "x"
    out.unlink(missing_ok=True)
    command = [FOLDER / "g++", f"-I{folder}", *flags, folder / "main.cpp", "-o", out]
    subprocess.run(command, check=True, env={**os.environ, COMPILED: str(kept)})
    printed = subprocess.run([out], check=True, capture_output=True, text=True).stdout
    return printed, (kept / NOTES).read_text().split()[-1]


def test_equal_sources_are_compiled_once_wherever_they_lie(tmp_path: Path, kept: Path) -> None:
    assert made(tmp_path / "a", kept, 5) == ("5", "compiled")
    assert made(tmp_path / "b", kept, 5) == ("5", "reused")
    assert made(tmp_path / "b", kept, 5, "-O3") == ("5", "compiled")
    assert made(tmp_path / "a", kept, 5, "-O2") == ("5", "reused")  # both are -O1 here


def test_another_header_or_definition_is_another_program(tmp_path: Path, kept: Path) -> None:
    assert made(tmp_path / "a", kept, 5) == ("5", "compiled")
    assert made(tmp_path / "a", kept, 6) == ("6", "compiled")
    assert made(tmp_path / "a", kept, 5, "-DWORD=7") == ("7", "compiled")


def test_what_does_not_compile_says_so_each_time(tmp_path: Path, kept: Path) -> None:
    (tmp_path / "wrong.cpp").write_text("int main() { return none; }\n")
    command = [FOLDER / "g++", tmp_path / "wrong.cpp", "-o", tmp_path / "x"]
    for _ in range(2):
        done = subprocess.run(
            command, capture_output=True, text=True, env={**os.environ, COMPILED: str(kept)}
        )
        assert done.returncode == 1
        assert "was not declared" in done.stderr
    assert not (kept / NOTES).exists()


def test_the_standard_headers_are_compiled_once_for_options_that_agree(
    tmp_path: Path, kept: Path, headers: Path
) -> None:
    (first,) = headers.glob("headers-*/standard.h.gch")
    before = first.stat()
    made(tmp_path / "a", kept, 5)
    assert first.stat() == before
    assert made(tmp_path / "a", kept, 6, "-std=c++14") == ("6", "compiled")
    assert len(set(kept.glob("headers-*/standard.h.gch"))) == 2


def test_objects_and_libraries_are_the_compilers_own_affair(tmp_path: Path, kept: Path) -> None:
    (tmp_path / "part.cpp").write_text("int part() { return 3; }\n")
    command = [FOLDER / "g++", "-c", tmp_path / "part.cpp", "-o", tmp_path / "part.o"]
    subprocess.run(command, check=True, env={**os.environ, COMPILED: str(kept)})
    assert (tmp_path / "part.o").is_file() and not (kept / NOTES).exists()
