"""Sweeps in one process: what a result depends on, what is kept, what is said of what fails."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from hlsgen.base.data_files import data_folder
from hlsgen.base.errors import NotOursError
from hlsgen.search.board_limits import KINDS
from hlsgen.sweep import jobs
from hlsgen.sweep.jobs import Job, Outcome, run_job
from hlsgen.sweep.store import Store
from hlsgen.sweep.sweep import Request, jobs_of
from hlsgen.targets.board import load_board
from tests.support.command_line import document, failure, run, working_folder
from tests.support.small_design import DESIGN
from tests.support.sweeps import contents, design_files, swept


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    working_folder(tmp_path, monkeypatch)
    design_files(tmp_path)
    return tmp_path


def job_of(design: str, **options: object) -> Job:
    request = replace(Request(designs=(Path(design),)), **options)  # type: ignore[arg-type]
    (job,) = jobs_of(request, Store(Path("out").absolute()))
    return job


# ---------------------------------------------------------------- the command


def test_a_sweep_prints_what_estimate_says() -> None:
    found = document(
        "sweep", "b.yaml", "a.yaml", "--board", "u200", "--board", "zcu102", "--scheduler", "serial"
    )
    rows = found["jobs"]
    assert [(row["design"], row["board"]) for row in rows] == [
        ("a.yaml", "u200"),
        ("a.yaml", "zcu102"),
        ("b.yaml", "u200"),
        ("b.yaml", "zcu102"),
    ]
    for row in rows:
        alone = document("estimate", row["design"], "--board", row["board"])
        assert row["frames_per_s"] == alone["performance"]["frames_per_s"]
        assert all(row[name] == alone["total"][name] for name in ("interval_cycles", "instances", *KINDS))
        assert json.loads(Path("sweep", row["file"]).read_text())["figures"] == alone
    assert json.loads(Path("sweep/sweep.json").read_text()) == found


def test_text_has_the_table_and_a_line_for_each_job() -> None:
    said = run("sweep", "a.yaml", "b.yaml", "wrong.yaml", "--scheduler", "serial", "-o", "out")
    assert said.exit_code == 1
    assert "[1/3] a.yaml: " in said.stderr
    assert "wrong.yaml:7:58: error: `kernel` must be" in said.stderr
    assert "2 of 3 jobs done; in out/" in said.stdout
    again = run("sweep", "a.yaml", "b.yaml", "--scheduler", "serial", "-o", "out")
    assert again.exit_code == 0
    assert "note: 2 of 2 jobs were done before; they are not done again" in again.stderr


def test_targets_are_explored() -> None:
    words = ("--run", "explore", "--target-fps", "2e6", "--target-fps", "5e5", "--scheduler", "serial")
    (Path("free.yaml")).write_text(DESIGN.partition("mapping:")[0])
    rows = document("sweep", "free.yaml", *words)["jobs"]
    assert [row["target_fps"] for row in rows] == [5e5, 2e6]
    for row in rows:
        alone = document("explore", "free.yaml", "--target-fps", str(row["target_fps"]))
        assert (
            row["frames_per_s"]
            == json.loads(Path("sweep", row["file"]).read_text())["summary"]["frames_per_s"]
        )
        assert json.loads(Path("sweep", row["file"]).read_text())["figures"]["point"] == alone["point"]
        assert row["frames_per_s"] >= row["target_fps"]
    said = run("sweep", "free.yaml", *words)
    assert "target" in said.stdout
    assert "500,000" in said.stdout


def test_builds() -> None:
    found = document("sweep", "a.yaml", "--run", "build", "--scheduler", "serial", "-o", "out")
    (row,) = found["jobs"]
    assert row["csim"] == "equal"
    assert json.loads(Path("out", row["build"], "report.json").read_text())["csim"]["verdict"] == "equal"
    one = contents("out")
    _, seen = swept(["a"], "out", run="build", scheduler="serial")
    assert seen.kept == 1
    shutil.rmtree(Path("out", row["build"]))
    _, seen = swept(["a"], "out", run="build", scheduler="serial")
    assert seen.kept == 0
    assert contents("out") == one


def test_what_a_network_runs_is_said_before(folder: Path) -> None:
    (folder / "go").touch()
    _, seen = swept(["waits"], "out", scheduler="serial")
    assert seen.notes == ["waits.yaml runs net.py, your own code"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--scheduler", "here"], "'here' is none of serial, local, htcondor"),
        (["--scheduler", "tcp://nowhere"], "and no address such as"),
        (["--scheduler", "serial", "--workers", "2"], "--workers has no meaning"),
        (["--scheduler", "tcp://a:1", "--workers", "2"], "--workers has no meaning"),
        (["--target-fps", "-3"], "'-3' is no number of frames a second"),
        (["--target-fps", "nan"], "'nan' is no number of frames a second"),
        (["--target-fps", "3"], "--target-fps needs --run explore"),
    ],
)
def test_wrong_usage(words: list[str], message: str) -> None:
    assert message in failure(2, "sweep", "a.yaml", *words)
    assert not Path("sweep").exists()


def test_a_board_that_is_wrong_ends_the_sweep() -> None:
    said = failure(1, "sweep", "a.yaml", "--board", "u20", "--board", "v5", "--scheduler", "serial")
    assert 'no board is called "u20"' in said
    assert 'no board is called "v5"' in said
    assert not Path("sweep").exists()


@pytest.mark.parametrize("name", ["thesis.tex", "sweep.json"])
@pytest.mark.parametrize("text", ["\\section{}", '{"jobs": []}', "[" * 100_000])
def test_a_folder_with_other_things(name: str, text: str) -> None:
    Path("mine").mkdir()
    Path("mine", name).write_text(text)
    said = failure(2, "sweep", "a.yaml", "--scheduler", "serial", "-o", "mine")
    assert "mine holds files that are no sweep of hlsgen; nothing was changed" in said
    assert Path("mine", name).read_text() == text
    with pytest.raises(NotOursError):
        Store.opened(Path("a.yaml"))


def test_without_dask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    said = failure(4, "sweep", "a.yaml")
    assert "more than one process needs dask" in said
    assert "pip install 'hlsgen[cluster]', or --scheduler serial" in said
    assert run("sweep", "a.yaml", "--scheduler", "serial").exit_code == 0


def test_without_dask_jobqueue(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="needs dask: pip install 'hlsgen[cluster]'")
    monkeypatch.setitem(sys.modules, "dask_jobqueue", None)
    assert "pip install 'hlsgen[queue]'" in failure(4, "sweep", "a.yaml", "--scheduler", "slurm")


# ---------------------------------------------------------------- what fails


def test_each_wrong_design_is_its_own_job_s_error() -> None:
    found, seen = swept(["a", "wrong", "missing"], "out", scheduler="serial")
    by_name = {Path(job.design).stem: outcome for job, outcome in found.outcomes}
    assert seen.order == ["a", "missing", "wrong"]
    assert by_name["a"].done
    assert "does not exist" in by_name["missing"].text
    (problem,) = by_name["wrong"].error
    assert (problem["file"], problem["line"]) == ("wrong.yaml", 7)
    assert found.exit_code == 1
    rows = json.loads(Path("out/sweep.json").read_text())["jobs"]
    assert [row.get("exit_code") for row in rows] == [None, 1, 1]
    _, again = swept(["a", "wrong"], "out", scheduler="serial")
    assert (again.kept, again.order) == (1, ["wrong"])


def test_a_tool_that_is_missing_is_the_job_s_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    found, _ = swept(["a", "wrong"], "out", run="build", scheduler="serial")
    assert found.exit_code == 4
    assert "no-such-compiler" in found.outcomes[0][1].text


def test_a_bug_in_one_job_is_shown_after_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def estimate(job: Job, design: object) -> None:
        if job.title == "a.yaml":
            raise ZeroDivisionError("a bug")
        return right(job, design)  # type: ignore[no-any-return, arg-type, return-value]

    right = jobs.RUNS["estimate"]
    monkeypatch.setitem(jobs.RUNS, "estimate", estimate)  # type: ignore[arg-type]
    with pytest.raises(ZeroDivisionError) as caught:
        swept(["a", "b"], "out", scheduler="serial")
    assert caught.value.__notes__ == ["in the job a.yaml"]
    rows = json.loads(Path("out/sweep.json").read_text())["jobs"]
    assert [row["design"] for row in rows] == ["b.yaml"]


def test_a_worker_s_files_must_be_those_of_the_sweep() -> None:
    job = job_of("waits.yaml")
    Path("net.py").write_text("changed")
    Path("waits.yaml").rename("elsewhere.yaml")
    outcome = Outcome.model_validate_json(run_job(job))
    assert outcome.exit_code == 1
    assert f"{job.design} is missing on" in outcome.text
    assert f"{Path('net.py').absolute()} on" in outcome.text
    assert "is not what it was where the sweep began" in outcome.text


def test_a_worker_must_have_the_same_hlsgen() -> None:
    outcome = Outcome.model_validate_json(run_job(replace(job_of("a.yaml"), code="0")))
    assert outcome.exit_code == 4
    assert "the worker runs another hlsgen" in outcome.text


# ---------------------------------------------------------------- what is kept


def test_a_result_depends_on_the_bytes_of_every_file_that_a_design_names(folder: Path) -> None:
    import numpy as np

    text = DESIGN.replace("{seed: 3}", "w.npz").replace("samples: random", "samples: data/x.npy")
    (folder / "files.yaml").write_text(text)
    (folder / "data").mkdir()
    for name in ("w.npz", "data/x.npy", "unrelated.npy"):
        np.savez(folder / name) if name.endswith("npz") else np.save(folder / name, np.zeros(1))
    assert [one.name for one in job_of("files.yaml").inputs] == ["data/x.npy", "files.yaml", "w.npz"]
    for name in ("files.yaml", "w.npz", "data/x.npy"):
        before = job_of("files.yaml").key
        with (folder / name).open("ab") as file:
            file.write(b" ")
        assert job_of("files.yaml").key != before
    before = job_of("files.yaml").key
    (folder / "unrelated.npy").write_bytes(b"")
    assert job_of("files.yaml").key == before


def test_a_network_s_file_counts_with_its_neighbours(folder: Path) -> None:
    before = job_of("waits.yaml").key
    (folder / "neighbour.py").write_text("x = 1")
    names = [one.name for one in job_of("waits.yaml").inputs]
    assert names == ["neighbour.py", "net.py", "waits.yaml"]
    assert job_of("waits.yaml").key != before


def test_a_board_s_file_counts_and_where_files_lie_does_not(folder: Path) -> None:
    shutil.copy(data_folder("boards") / "u200.yaml", folder / "mine.yaml")
    named = job_of("a.yaml", boards=("mine.yaml",))
    assert load_board(named.board or "").name == "u200"
    (folder / "mine.yaml").write_text((folder / "mine.yaml").read_text() + "\n")
    assert job_of("a.yaml", boards=("mine.yaml",)).key != named.key
    (folder / "moved").mkdir()
    shutil.copy("a.yaml", "moved/a.yaml")
    assert job_of("moved/a.yaml").key == job_of("a.yaml").key
    assert job_of("a.yaml", boards=("zcu102",)).key != job_of("a.yaml").key


def test_hlsgen_itself_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    before = job_of("a.yaml").key
    monkeypatch.setattr("hlsgen.sweep.sweep.code_digest", lambda: "another")
    assert job_of("a.yaml").key != before


def test_external_data_of_an_onnx_model_counts(folder: Path) -> None:
    onnx = pytest.importorskip("onnx", reason="needs onnx: pip install 'hlsgen[onnx]'")
    import numpy as np

    weights = onnx.numpy_helper.from_array(np.ones((4, 4), np.float32), "w")
    graph = onnx.helper.make_graph([], "g", [], [], [weights])
    onnx.save(
        onnx.helper.make_model(graph),
        folder / "net.onnx",
        save_as_external_data=True,
        location="weights.bin",
        size_threshold=0,
    )
    (folder / "onnx.yaml").write_text("model: {onnx: net.onnx}\n")
    assert [one.name for one in job_of("onnx.yaml").inputs] == ["net.onnx", "onnx.yaml", "weights.bin"]


def test_a_file_that_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("hlsgen.sweep.inputs.hashlib.file_digest", refused)
    said = failure(1, "sweep", "waits.yaml", "--scheduler", "serial")
    assert "net.py cannot be read: Permission denied" in said


@pytest.mark.parametrize("text", ["", "{}", '{"key": 3}', "[", '{"key": "another", "exit_code": 0}'])
def test_a_damaged_result_is_made_again(text: str) -> None:
    swept(["a"], "out", scheduler="serial")
    (path,) = Path("out/jobs").iterdir()
    whole = path.read_text()
    path.write_text(text)
    _, seen = swept(["a"], "out", scheduler="serial")
    assert (seen.kept, path.read_text()) == (0, whole)


def test_results_appear_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """A job's file is there with all its bytes or not at all, even if the disk fails in the middle."""
    swept(["a"], "out", scheduler="serial")
    before = contents("out")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("hlsgen.sweep.store.os.replace", full)
    said = failure(4, "sweep", "a.yaml", "b.yaml", "--scheduler", "serial", "-o", "out")
    assert "cannot write" in said
    assert "No space left on device" in said
    assert contents("out") == before
