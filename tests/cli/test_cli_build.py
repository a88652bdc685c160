"""hlsgen build: what it prints and writes, and that a build that fails leaves the earlier one."""

from __future__ import annotations

import json
import os
import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hlsgen.cost.cycles import Iterations
from hlsgen.emit import conv2d
from hlsgen.hardware.banks import BankMap
from hlsgen.layers.conv2d import Conv2d
from tests.support.command_line import document, failure, run, text, working_folder
from tests.support.small_design import DESIGN


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return working_folder(tmp_path, monkeypatch)


@pytest.fixture
def earlier_build(folder: Path) -> dict[str, bytes]:
    """A build of the design, and its content."""
    text("build", "small.yaml", "--no-csim")
    return content_of(folder / "build")


def content_of(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_build_says_what_it_wrote() -> None:
    said = text("build", "small.yaml")
    assert "288 of 288 results equal golden bit for bit (4 frames" in said
    assert said.endswith("wrote build/small/ (start with build/small/report.md)\n")
    assert Path("build/small/report.md").read_text().startswith("# small on AMD ZCU102\n")
    assert os.listdir("build") == ["small"]
    assert os.listdir("tmp") == []


def test_build_prints_the_report_as_json() -> None:
    said = document("build", "small.yaml", "-o", "out")
    assert said.pop("folder") == "out"
    assert said == json.loads(Path("out/report.json").read_text())


def test_the_report_has_the_keys_that_were_promised() -> None:
    text("build", "small.yaml")
    report = json.loads(Path("build/small/report.json").read_text())
    resources = {"dsp", "bram18", "uram", "lut", "ff"}
    cycles = {"interval_cycles", "latency_cycles"}
    assert {"design", "board", "clock_mhz", "layers", "total", "performance", "csim"} <= report.keys()
    assert (report["design"], report["board"], report["clock_mhz"]) == ("small", "zcu102", 200)
    (layer,) = report["layers"]
    assert {"name", "kind", "macs", "folding", "ii"} | cycles | resources <= layer.keys()
    assert (layer["name"], layer["kind"], layer["ii"]) == ("conv1", "conv2d", 1)
    assert layer["macs"] == 2 * 6 * 6 * 2 * 9
    assert {"rows": 1, "pe": 1, "simd": 1}.items() <= layer["folding"].items()
    assert {"macs", "instances"} | cycles | resources <= report["total"].keys()
    assert {"frames_per_s", "gops"} <= report["performance"].keys()
    csim = {"verdict": "equal", "compared": 288, "mismatches": 0, "max_abs_error": 0.0}
    assert csim.items() <= report["csim"].items()


def test_build_without_csim_needs_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert "C-simulation skipped" in text("build", "small.yaml", "--no-csim")
    csim = json.loads(Path("build/small/report.json").read_text())["csim"]
    assert csim == {"verdict": "skipped", "compared": 0, "mismatches": 0, "max_abs_error": 0.0}


def test_warnings_go_to_standard_error() -> None:
    Path("small.yaml").write_text(DESIGN + 'precision: {output: "fixed<8,0>"}\n')
    result = run("build", "small.yaml", "--no-csim")
    assert result.exit_code == 0
    assert result.stderr.startswith("warning: conv1: ")
    assert "warning" not in result.stdout


def test_a_foreign_folder_is_exit_code_2_and_untouched() -> None:
    Path("mine").mkdir()
    Path("mine/thesis.tex").write_text("years of work")
    assert "holds files that are no build of hlsgen" in failure(2, "build", "small.yaml", "-o", "mine")
    assert "is no folder" in failure(2, "build", "small.yaml", "-o", "small.yaml")
    assert "holds files" in failure(2, "build", "small.yaml", "-o", ".")
    assert os.listdir("mine") == ["thesis.tex"]
    assert Path("small.yaml").read_text() == DESIGN


@pytest.mark.parametrize("target", ["deep/er/build", "with spaces", "Übung-卷积", "/absolute"])
def test_output_folders(target: str, folder: Path) -> None:
    target = str(folder) + target if target.startswith("/") else target
    for _ in range(2):
        assert text("build", "small.yaml", "--no-csim", "-o", target).endswith(f"{target}/report.md)\n")
    assert Path(target, "report.json").is_file()


# ---------------------------------------------------------------- 3: C-simulation differs


def test_a_result_that_differs_from_golden(
    earlier_build: dict[str, bytes], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result_of = Conv2d.result_of

    def wrong(self: Conv2d, sums: Any) -> Any:
        result = result_of(self, sums).copy()
        result[1, 0, 2, 3] += 1
        return result

    monkeypatch.setattr(Conv2d, "result_of", wrong)
    said = failure(3, "build", "small.yaml")
    assert "differs from golden in 1 of 288 results; the first is frame 1, channel 0, row 2, column 3" in said
    assert "differs from golden" in failure(3, "csim", "small.yaml")
    assert content_of(folder / "build") == earlier_build


def test_a_bank_conflict(
    earlier_build: dict[str, bytes], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_offsets(mapping: Any, names: Any) -> Any:
        zero = BankMap(mapping.bank_map.banks, (0,) * mapping.bank_map.slots)
        return kernel_constants(replace(mapping, bank_map=zero), names)

    kernel_constants = conv2d.kernel_constants
    monkeypatch.setattr(conv2d, "kernel_constants", no_offsets)
    assert "the emitted kernel breaks a rule of its memories" in failure(3, "build", "small.yaml")
    assert content_of(folder / "build") == earlier_build


def test_iterations_that_are_not_the_models(monkeypatch: pytest.MonkeyPatch) -> None:
    def modelled(_mapping: Any, _frames: int) -> Iterations:
        return Iterations(weights=1, fill=1, compute=1, drain=1, load=1, store=1)

    monkeypatch.setattr("hlsgen.csim.check_counts.iterations", modelled)
    assert "the cost model says" in failure(3, "build", "small.yaml")


# ---------------------------------------------------------------- 4: tools and output


def compiler(folder: Path, script: str) -> str:
    path = folder / "compiler"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    ("cxx", "message"),
    [
        ("/nonexistent", "'/nonexistent' that CXX names was not found"),
        ("/bin/false", "/bin/false ended with status 1:\nit printed nothing"),
        ("/bin/true", "/bin/true ended with status 0 and wrote no executable"),
        ("/tmp", "'/tmp' that CXX names was not found"),
    ],
)
def test_wrong_compilers(
    cxx: str,
    message: str,
    earlier_build: dict[str, bytes],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CXX", cxx)
    for command in ("build", "csim"):
        assert message in failure(4, command, "small.yaml")
    assert content_of(folder / "build") == earlier_build


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo 'kernel.cpp:1: error: 42' >&2; exit 7", "ended with status 7:\nkernel.cpp:1: error: 42"),
        ("yes error | head -100000 >&2; exit 1", "ended with status 1:\nerror\n"),
        ("kill -9 $$", "ended with status -9"),
        ('while [ "$1" != -o ]; do shift; done; echo text > "$2"', "cannot be started: Permission denied"),
        (
            'while [ "$1" != -o ]; do shift; done; printf "#!/bin/sh" > "$2"; chmod +x "$2"',
            "ended with status 0 and left no result",
        ),
        (
            'while [ "$1" != -o ]; do shift; done; printf "#!/bin/sh\\nexit 9" > "$2"; chmod +x "$2"',
            "the C-simulation ended with status 9",
        ),
    ],
)
def test_failing_compilers(script: str, message: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", compiler(folder, script))
    said = failure(4, "build", "small.yaml")
    assert message in said
    assert len(said.splitlines()) < 30
    assert not Path("build/small").exists()


def test_no_compiler_at_all(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(folder))
    said = failure(4, "build", "small.yaml")
    assert "a C++ compiler (g++ or clang++) was not found\nfix: install g++, or set CXX" in said


def test_an_output_that_cannot_be_written(
    earlier_build: dict[str, bytes], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_folder: Path, _files: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("hlsgen.api.project.write_files", full)
    said = failure(4, "build", "small.yaml")
    assert "cannot write" in said
    assert "No space left on device" in said
    assert "free some space" in said
    assert "cannot use the temporary folder: No space left" in failure(4, "csim", "small.yaml")
    assert content_of(folder / "build") == earlier_build


def test_no_temporary_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_args: Any, **_keys: Any) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("hlsgen.base.scratch._claimed", full)
    for command in ("build", "csim"):
        assert "cannot use the temporary folder: No space left" in failure(4, command, "small.yaml")


def test_too_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def large(*_args: Any, **_keys: Any) -> None:
        raise MemoryError

    monkeypatch.setattr("hlsgen.styles.conv_kernel.conv_kernel_plan", large)
    monkeypatch.setattr(Conv2d, "sums", large)
    for command in ("build", "csim"):
        assert "there is not enough memory\nfix: fewer --frames" in failure(4, command, "small.yaml")


# ---------------------------------------------------------------- neither


def test_an_interrupt_is_exit_code_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_args: Any, **_keys: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("hlsgen.styles.conv_kernel.ConvKernel.verify", interrupted)
    assert failure(130, "build", "small.yaml") == "interrupted; the build folder is as it was, or complete\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_that_a_library_turns_into_its_own_error_is_one(
    monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    def interrupted(*_args: Any, **_keys: Any) -> None:
        try:
            os.kill(os.getpid(), number)
            time.sleep(1)
        except KeyboardInterrupt:
            raise ValueError("a callback failed") from None

    monkeypatch.setattr("hlsgen.styles.conv_kernel.ConvKernel.verify", interrupted)
    assert failure(130, "build", "small.yaml") == "interrupted; the build folder is as it was, or complete\n"


def test_a_bug_shows_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def bug(*_args: Any, **_keys: Any) -> None:
        raise RuntimeError("this is a bug")

    monkeypatch.setattr("hlsgen.styles.conv_kernel.conv_kernel_plan", bug)
    with pytest.raises(RuntimeError, match="this is a bug"):
        run("build", "small.yaml")
