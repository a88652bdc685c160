"""The command line: what every command prints, in text and in JSON, and every exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from click.testing import CliRunner, Result

from hlsgen import output
from hlsgen.board import list_boards
from hlsgen.cli import cli
from hlsgen.cost.cycles import Iterations
from hlsgen.csim.compiler import reference_headers
from hlsgen.emit import plan
from hlsgen.layers.conv2d import Conv2d
from hlsgen.mapping.banks import BankMap
from hlsgen.schema import design_json_schema
from hlsgen.version import VERSION
from tests.small_design import DESIGN

WRONG = DESIGN.replace("pe: 1, simd: 1", "pe: 3, simd: 5") + "style: dataflow\n"
COMMANDS = sorted(cli.commands)
ON_DESIGNS = ["build", "check", "csim", "estimate"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a right design and a wrong one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)
    (tmp_path / "tmp").mkdir()
    (tmp_path / "small.yaml").write_text(DESIGN)
    (tmp_path / "wrong.yaml").write_text(WRONG)
    return tmp_path


def run(*words: str) -> Result:
    """`hlsgen` in this process. An exception that it does not handle fails the test."""
    result = CliRunner().invoke(cli, words, catch_exceptions=False)
    assert "Traceback" not in result.output
    return result


def text(*words: str) -> str:
    """What a command prints that has to succeed."""
    result = run(*words)
    assert result.exit_code == 0, result.output
    return result.stdout


def document(*words: str) -> Any:
    """The one JSON document that a command prints that has to succeed."""
    result = run(*words, "--json")
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    return json.loads(result.stdout)


def failure(code: int, *words: str) -> str:
    """What a command says that has to end with `code`: the same in text and as one JSON document."""
    result = run(*words)
    assert (result.exit_code, result.stdout) == (code, ""), result.output
    with_json = run(*words, "--json")
    assert with_json.exit_code == code
    said = json.loads(with_json.stdout)
    assert said["exit_code"] == code
    assert said["error"]
    for problem in said["error"]:
        assert problem["message"] in result.stderr
        assert problem.get("fix", "") in result.stderr
    assert os.listdir("tmp") == []
    return result.stderr


# ---------------------------------------------------------------- help and usage


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_help(command: str) -> None:
    for option in ("--help", "-h"):
        said = text(command, option)
        assert said.startswith("Usage: ")
        for parameter in cli.commands[command].params:
            if isinstance(parameter, click.Option):
                assert parameter.opts[0] in said
                assert parameter.help


def test_help_names_every_command() -> None:
    said = text("--help")
    assert all(command in said for command in COMMANDS)
    assert COMMANDS == [
        "boards",
        "build",
        "calibrate",
        "check",
        "compare",
        "csim",
        "estimate",
        "import",
        "schema",
    ]


def test_version() -> None:
    assert text("--version") == f"hlsgen, version {VERSION}\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["build"], "Missing argument 'DESIGN'"),
        (["build", "small.yaml", "--nonsense"], "No such option"),
        (["build", "small.yaml", "two.yaml"], "unexpected extra argument"),
        (["build", "small.yaml", "--frames", "0"], "0 is not in the range"),
        (["build", "small.yaml", "--frames", "many"], "'many' is not a valid integer"),
        (["csim", "small.yaml", "--headers", "vendor"], "'vendor' is not one of"),
        (["check", "small.yaml", "-o", "x"], "No such option"),
        (["estimate"], "Missing argument 'DESIGN'"),
        (["boards", "small.yaml"], "unexpected extra argument"),
        (["sythesise", "small.yaml"], "No such command 'sythesise'"),
    ],
)
def test_wrong_usage_is_exit_code_2(words: list[str], message: str) -> None:
    assert message in failure(2, *words)
    assert not Path("build").exists()


def test_an_option_without_its_value_is_exit_code_2() -> None:
    result = run("build", "small.yaml", "-o")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "requires an argument" in result.stderr


def test_without_a_command_the_help_is_shown() -> None:
    result = run()
    assert result.exit_code == 2
    assert "Commands:" in result.output


# ---------------------------------------------------------------- what succeeds


def test_boards() -> None:
    said = text("boards")
    known = document("boards")["boards"]
    assert [board["name"] for board in known] == [board.name for board in list_boards()]
    assert all(board["name"] in said for board in known)


def test_schema_is_that_of_a_design_file() -> None:
    assert json.loads(text("schema")) == design_json_schema()


def test_check() -> None:
    assert text("check", "small.yaml") == "small.yaml: ok; 1 instance fits AMD ZCU102\n"
    assert document("check", "small.yaml") == {"design": "small", "board": "zcu102", "verdict": "ok"}
    assert sorted(os.listdir()) == ["small.yaml", "tmp", "wrong.yaml"]


def test_estimate_writes_nothing() -> None:
    said = text("estimate", "small.yaml")
    assert "modelled" in said
    assert "small on zcu102 at 200 MHz" in said
    assert document("estimate", "small.yaml")["total"]["instances"] == 1
    assert sorted(os.listdir()) == ["small.yaml", "tmp", "wrong.yaml"]


def test_csim_leaves_nothing_behind() -> None:
    said = text("csim", "small.yaml", "--frames", "3")
    assert "216 of 216 results equal golden bit for bit (3 frames" in said
    csim = document("csim", "small.yaml", "--frames", "3")
    assert csim["design"] == "small"
    assert csim["csim"]["verdict"] == "equal"
    assert sorted(os.listdir()) == ["small.yaml", "tmp", "wrong.yaml"]
    assert os.listdir("tmp") == []


def test_csim_on_the_reference_headers() -> None:
    if reference_headers() is None:
        pytest.skip("the reference ap headers (hls4ml wheel) are not installed")
    assert document("csim", "small.yaml", "--headers", "reference")["csim"]["mismatches"] == 0


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


def test_another_board() -> None:
    assert document("estimate", "small.yaml", "--board", "u200")["board"] == "u200"


def test_a_board_file_is_relative_to_the_working_folder(folder: Path) -> None:
    (board,) = [one for one in list_boards() if one.name == "zcu102"]
    mine = replace_name(board.model_dump(mode="json"), "mine")
    (folder / "mine.yaml").write_text(json.dumps(mine))
    (folder / "designs").mkdir()
    (folder / "designs" / "small.yaml").write_text(DESIGN)
    assert document("check", "designs/small.yaml", "--board", "mine.yaml")["board"] == "mine"


def replace_name(board: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in {**board, "name": name}.items() if value is not None}


def test_warnings_go_to_standard_error() -> None:
    Path("small.yaml").write_text(DESIGN + 'precision: {output: "fixed<8,0>"}\n')
    result = run("build", "small.yaml", "--no-csim")
    assert result.exit_code == 0
    assert result.stderr.startswith("warning: conv1: ")
    assert "warning" not in result.stdout


# ---------------------------------------------------------------- frames of the user


def frames(count: int = 3) -> Any:
    return np.random.default_rng(0).uniform(-30, 30, (count, 2, 8, 8))


def test_input_is_simulated() -> None:
    np.save("x.npy", frames())
    csim = document("build", "small.yaml", "--input", "x.npy")["csim"]
    assert (csim["frames"], csim["compared"]) == (3, 3 * 2 * 6 * 6)
    codes = np.load("build/small/tb/input.npy")
    np.testing.assert_array_equal(codes.reshape(3, 2, 8, 8), np.floor(frames() * 1024 + 0.5))


@pytest.mark.parametrize(("words", "count"), [((), 3), (("--frames", "2"), 2), (("--frames", "9"), 3)])
def test_frames_limits_the_input(words: tuple[str, ...], count: int) -> None:
    np.save("x.npy", frames())
    assert document("csim", "small.yaml", "--input", "x.npy", *words)["csim"]["frames"] == count


def test_one_frame_needs_no_batch_axis() -> None:
    np.save("x.npy", frames()[0])
    assert document("csim", "small.yaml", "--input", "x.npy")["csim"]["frames"] == 1


def with_nan() -> Any:
    x = frames()
    x[1, 0, 2, 3] = np.nan
    return x


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (np.zeros((3, 8, 8, 2)), "holds [3, 8, 8, 2], but the input is [2, 8, 8]"),
        (np.zeros((0, 2, 8, 8)), "holds no frames"),
        (with_nan(), "NaN or infinite (in float64), the first at [1, 0, 2, 3]"),
        (frames() * 2, "leave the range of fixed<16,6>"),
        (np.array([{}]), "holds Python objects, which are never unpickled"),
        (np.array(["a"]), "not real numbers"),
    ],
)
def test_wrong_input_is_exit_code_1(x: Any, message: str) -> None:
    np.save("x.npy", x)
    for command in ("build", "csim"):
        said = failure(1, command, "small.yaml", "--input", "x.npy")
        assert message in said
        assert "x.npy" in said
    assert not Path("build").exists()


def test_input_that_is_missing_or_no_array() -> None:
    assert "nowhere.npy does not exist" in failure(1, "csim", "small.yaml", "--input", "nowhere.npy")
    assert "is no .npy file" in failure(1, "csim", "small.yaml", "--input", "small.yaml")
    assert "is not a file" in failure(1, "csim", "small.yaml", "--input", "tmp")


def test_more_frames_than_memory_holds() -> None:
    large = DESIGN.replace("[2, 8, 8]", "[2, 1024, 1024]")
    Path("small.yaml").write_text(large)
    said = failure(1, "csim", "small.yaml", "--frames", "100000")
    assert "100,000 frames of 2,097,152 elements are too many to simulate at once\nfix: at most 256" in said


# ---------------------------------------------------------------- 1: the design is wrong


@pytest.mark.parametrize("command", ON_DESIGNS)
def test_a_wrong_design_is_exit_code_1_with_all_mistakes(command: str) -> None:
    said = failure(1, command, "wrong.yaml")
    assert said.count("error:") == 3
    for place in ("wrong.yaml:8:46:", "wrong.yaml:8:55:", "wrong.yaml:9:8:"):
        assert place in said
    problems = json.loads(run(command, "wrong.yaml", "--json").stdout)["error"]
    assert [(one["file"], one["line"], one["column"]) for one in problems] == [
        ("wrong.yaml", 8, 46),
        ("wrong.yaml", 8, 55),
        ("wrong.yaml", 9, 8),
    ]
    assert not Path("build").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "design.yaml does not exist"),
        (b"", "is empty"),
        (bytes(range(256)), "is not UTF-8 text"),
        (b"\x00\x01\x02", "control character"),
        (b"name: [", "is not YAML"),
        (b"x" * (1 << 21), "is larger than"),
        (b"name: ../../etc\n", "C++ identifier"),
        (b'name: "a; system(1)"\n', "C++ identifier"),
    ],
)
def test_files_that_are_no_designs(content: bytes | None, message: str) -> None:
    if content is not None:
        Path("design.yaml").write_bytes(content)
    for command in ON_DESIGNS:
        assert message in failure(1, command, "design.yaml")


def test_a_folder_or_a_pipe_is_no_design() -> None:
    os.mkfifo("pipe")
    assert "is a folder" in failure(1, "check", "tmp")
    assert "is not a regular file" in failure(1, "check", "pipe")


def test_an_unknown_board() -> None:
    said = failure(1, "check", "small.yaml", "--board", "u2000")
    assert 'no board is called "u2000"' in said
    assert "did you mean 'u200'?" in said
    assert "does not exist" in failure(1, "check", "small.yaml", "--board", "nowhere.yaml")


def test_a_board_that_is_too_small() -> None:
    Path("small.yaml").write_text(DESIGN.replace("instances: 1,", "instances: 1024,"))
    assert "instances: 1024 do not fit AMD ZCU102" in failure(1, "check", "small.yaml")


# ---------------------------------------------------------------- 2: a folder that is not ours


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


@pytest.fixture
def earlier_build(folder: Path) -> dict[str, bytes]:
    """A build of the design, and its content."""
    text("build", "small.yaml", "--no-csim")
    return content_of(folder / "build")


def content_of(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


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

    kernel_constants = plan.kernel_constants
    monkeypatch.setattr(plan, "kernel_constants", no_offsets)
    assert "the emitted kernel breaks a rule of its memories" in failure(3, "build", "small.yaml")
    assert content_of(folder / "build") == earlier_build


def test_iterations_that_are_not_the_models(monkeypatch: pytest.MonkeyPatch) -> None:
    def modelled(_mapping: Any, _frames: int) -> Iterations:
        return Iterations(weights=1, fill=1, compute=1, drain=1, load=1, store=1)

    monkeypatch.setattr("hlsgen.csim.recorded.iterations", modelled)
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


def test_no_reference_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hlsgen.csim.compiler.reference_headers", lambda: None)
    said = failure(4, "csim", "small.yaml", "--headers", "reference")
    assert "the reference ap headers were not found" in said


def test_an_output_that_cannot_be_written(
    earlier_build: dict[str, bytes], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_folder: Path, _files: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("hlsgen.project.write_files", full)
    said = failure(4, "build", "small.yaml")
    assert "cannot write" in said
    assert "No space left on device" in said
    assert "free some space" in said
    assert "cannot use the temporary folder: No space left" in failure(4, "csim", "small.yaml")
    assert content_of(folder / "build") == earlier_build


def test_no_temporary_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_args: Any, **_keys: Any) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("hlsgen.csim.scratch.tempfile.TemporaryDirectory", full)
    for command in ("build", "csim"):
        assert "cannot use the temporary folder: No space left" in failure(4, command, "small.yaml")


def test_too_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def large(*_args: Any, **_keys: Any) -> None:
        raise MemoryError

    monkeypatch.setattr("hlsgen.tasks.plan_of", large)
    monkeypatch.setattr(Conv2d, "sums", large)
    for command in ("build", "csim"):
        assert "there is not enough memory\nfix: fewer --frames" in failure(4, command, "small.yaml")


def test_an_interrupt_is_exit_code_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_args: Any, **_keys: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("hlsgen.tasks.TasksDesign.verify", interrupted)
    assert failure(130, "build", "small.yaml") == "interrupted; the build folder is as it was, or complete\n"


def test_a_bug_shows_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def bug(*_args: Any, **_keys: Any) -> None:
        raise RuntimeError("this is a bug")

    monkeypatch.setattr("hlsgen.tasks.plan_of", bug)
    with pytest.raises(RuntimeError, match="this is a bug"):
        run("build", "small.yaml")


# ---------------------------------------------------------------- the program itself


def program(*words: str, **keys: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-c", "from hlsgen.cli import main; main()", *words]
    return subprocess.run(command, text=True, check=False, stderr=subprocess.PIPE, **keys)


def test_the_program_ends_with_the_exit_codes() -> None:
    for code, words in ((0, ["check", "small.yaml"]), (1, ["check", "wrong.yaml"]), (2, ["check"])):
        assert program(*words, stdout=subprocess.DEVNULL).returncode == code


def test_standard_output_that_is_full() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    for words in (["boards"], ["boards", "--json"], ["schema"]):
        with open("/dev/full", "w") as full:
            done = program(*words, stdout=full)
        assert done.returncode == 4
        assert "error: No space left on device" in done.stderr
        assert "Traceback" not in done.stderr


def test_a_reader_that_goes_away_is_no_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = program("boards", "--json", stdout=writer)
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


def test_help_does_not_wait_for_numpy() -> None:
    code = "import sys; sys.argv = ['hlsgen', '--help']\nfrom hlsgen.cli import main\n"
    code += "try: main()\nexcept SystemExit: sys.exit('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, check=False)
    assert done.returncode == 0


def test_a_path_that_is_no_unicode(folder: Path) -> None:
    target = os.fsencode(folder) + b"/b\xff"
    command = [sys.executable, "-c", "from hlsgen.cli import main; main()"]
    done = subprocess.run(
        [*command, "build", "small.yaml", "--no-csim", b"-o", target], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert os.path.isfile(target + b"/" + output.MARK.encode())
