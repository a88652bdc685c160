"""What becomes of the results of the vendor's tools when a design is built again into the same folder."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import hlsgen
from hlsgen.base import earlier_builds as kept
from hlsgen.base import output
from hlsgen.base.manifest import MANIFEST
from hlsgen.base.output import MARK, replacing, write_files
from hlsgen.vendor.find_reports import find_reports
from tests.support import vendor_reports
from tests.support.command_line import run, working_folder
from tests.support.small_design import DESIGN
from tests.support.sweeps import contents


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return working_folder(tmp_path, monkeypatch)


def build(*, kernel: str = "int a;", link: str = "nk", data: str = "1") -> None:
    """A build as hlsgen makes it, into the folder `b`."""
    with replacing(Path("b")) as fresh:
        files = {
            MARK: data,
            "src/k.cpp": kernel,
            "vitis/link.cfg": link,
            "vitis/run_hls.tcl": "t",
            "tb/x.npy": data,
        }
        write_files(fresh, files)


def synthesised(text: str = "hours") -> None:
    """What tools leave in it, and a file of the user's."""
    files = {"vitis/k.xo": text, "vitis/k_hls/a/b": text, "build_dir.hw.p/k.xclbin": text, "notes.txt": text}
    write_files(Path("b"), {**files, "synth/state.json": "{}"})


def set_old() -> None:
    for path in Path("b").rglob("*"):
        os.utime(path, (1_000_000_000, 1_000_000_000))


def test_equal_sources_keep_all_results() -> None:
    build()
    synthesised()
    set_old()
    before = contents("b")
    build(data="2")
    after = contents("b")
    assert {name for name in before if before[name] != after[name]} == {MARK, "tb/x.npy"}
    assert set(after) == set(before)
    times = {name: (Path("b") / name).stat().st_mtime for name in after}
    assert times["src/k.cpp"] == times["vitis/k.xo"] == 1_000_000_000, "make has nothing to do"
    assert times["tb/x.npy"] > 1_000_000_000, "but co-simulation has new data"


@pytest.mark.parametrize("change", [{"kernel": "int b;"}, {"link": "nk2"}])
def test_other_sources_put_the_earlier_build_aside(change: dict[str, str]) -> None:
    build()
    synthesised()
    whole = contents("b")
    build(**change)
    (aside,) = Path("b/earlier").iterdir()
    assert contents(str(aside)) == whole
    assert not list(Path("b/vitis").glob("*.xo"))
    build()
    assert contents(str(aside)) == whole, "a build without results leaves it where it is"
    synthesised("again")
    build(**change)
    assert sorted(path.name for path in Path("b/earlier").iterdir()) == [aside.name, f"{aside.name}-2"]
    assert contents(str(aside)) == whole
    assert not list(Path("b").glob("earlier/*/earlier"))


BUILD = {MANIFEST, MARK, "src/k.cpp", "vitis/link.cfg", "vitis/run_hls.tcl", "tb/x.npy"}


def test_without_results_only_what_is_the_users_is_kept() -> None:
    build()
    write_files(Path("b"), {"work/csim": "seconds", "notes.txt": "mine"})
    build()
    assert set(contents("b")) == BUILD | {"notes.txt"}


@pytest.mark.parametrize("kernel", ["int a;", "int b;"])
def test_logs_alone_are_no_results(kernel: str) -> None:
    """Of a synthesis that found no tools."""
    build()
    write_files(Path("b"), {"synth/lock": "", "synth/checks.log": "not found", "synth/state.json": "{}"})
    build(kernel=kernel)
    assert set(contents("b")) == BUILD


@pytest.mark.parametrize("same", [True, False])
@pytest.mark.parametrize("moves", range(8))
def test_a_killed_build_loses_nothing(same: bool, moves: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is killed before its move number `moves`; the next build goes on where it was."""
    build()
    synthesised()
    rename = Path.rename
    left = [moves]

    def killed(path: Path, target: Path) -> Path:
        left[0] -= 1
        if left[0] < 0:
            raise SystemExit
        return rename(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", killed)
        try:
            build(kernel="int a;" if same else "int b;")
        except SystemExit:
            assert left[0] < 0
    build(kernel="int a;" if same else "int b;")
    where = "b" if same else str(next(Path("b/earlier").iterdir()))
    found = contents(where)
    for name in ("vitis/k.xo", "vitis/k_hls/a/b", "build_dir.hw.p/k.xclbin", "notes.txt"):
        assert found[name] == b"hours"
    assert [path.name for path in Path().glob(".b.*")] == []


def test_reports_are_read_back_and_what_was_put_aside_is_said() -> None:
    Path("one.yaml").write_text(DESIGN)
    built = hlsgen.load("one.yaml").build("b", csim=False)
    assert built.notes == ()
    kernel = built.report["design"]
    path = Path(f"b/vitis/{kernel}_hls/solution1/syn/report/csynth.xml")
    write_files(Path("b"), {str(path.relative_to("b")): vendor_reports.csynth(top=kernel, latency="undef")})
    again = hlsgen.load("one.yaml").build("b", csim=False)
    assert again.notes == ()
    report = json.loads(Path("b/report.json").read_text())
    assert [one["stage"] for one in report["synthesised"]] == ["csynth"]
    assert report == again.report
    path.write_text("<profile>")
    damaged = run("build", "one.yaml", "-o", "b", "--no-csim")
    assert damaged.exit_code == 0
    assert "note: the vendor's reports were not read: " in damaged.stderr
    Path("one.yaml").write_text(
        DESIGN.replace("seed: 3", "seed: 4").replace("out_channels: 2", "out_channels: 4")
    )
    other = run("build", "one.yaml", "-o", "b", "--no-csim")
    (aside,) = Path("b/earlier").iterdir()
    assert f"note: {aside} is the earlier build: it has results of the vendor's tools" in other.stderr
    assert find_reports(Path("b")) == []
    assert len(find_reports(aside)) == 1


def test_a_locked_build_is_left_alone() -> None:
    build()
    write_files(Path("b"), {"synth/lock": "", "vitis/k.xo": "hours"})
    with (
        output._locked(Path("b/synth/lock")),
        pytest.raises(output.OutputError, match="a synthesis is at work"),
    ):
        build()
    build()
    assert kept.has_results(Path("b"))
