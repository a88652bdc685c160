"""hlsgen simulate: its files, its figures, networks as applications, and what is wrong with a scenario."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_line import document, failure, run, text, working_folder

SCENARIO = """name: radar
resources: {cpu: 2, fft: 1}
costs:
  fft_1024: {cpu: 95, fft: 18}
  product: {cpu: 12}
times: {cpu: measured}
applications:
  - name: pulses
    rate_per_s: 4000
    instances: 20
    tasks:
      - {name: first, kind: fft_1024}
      - {name: second, kind: fft_1024, costs: {cpu: 90}}
      - {name: product, kind: product, after: [first, second]}
"""
LAYERS = """name: layers
board: zcu102
style: {style}
input: {{shape: [3, 16, 16], type: "fixed<8,1>"}}
layers:
  - {{name: conv1, kind: conv2d, out_channels: 8, kernel: 3, padding: same, weights: {{seed: 1}}}}
  - {{name: pool1, kind: pool2d, function: max, kernel: 2, stride: 2}}
  - {{name: fc1, kind: dense, out_channels: 10, weights: {{seed: 2}}}}
"""
TASKS = "mapping: {instances: 2, conv1: {rows: 1, pe: 1, simd: 1, fabric_pe: 0}, pool1: {pe: 1}}\n"
SHARED = (
    "mapping: {instances: 1, processor: {rows: 5, lanes: 4, extra_lanes: 0, fabric_lanes: 0, together: 4, "
    "pixel_words: 256, weight_words: 128}}\n"
)
"""Given, as a search takes seconds; the pool is part of a task."""
NETWORK = """name: net
resources: {cpu: 1, conv: 1}
applications:
  - name: layers
    network: layers.yaml
    accelerators: {conv: [conv2d]}
    cpu_times: times.yaml
    rate_per_s: 100
    instances: 3
"""
TIMES = """measured: torch on a core of this test
microseconds: {conv1: 300, pool1: 20.5, fc1: 8}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    working_folder(tmp_path, monkeypatch)
    (tmp_path / "radar.yaml").write_text(SCENARIO)
    (tmp_path / "net.yaml").write_text(NETWORK)
    (tmp_path / "times.yaml").write_text(TIMES)
    (tmp_path / "layers.yaml").write_text(LAYERS.format(style="tasks") + TASKS)
    return tmp_path


def estimated() -> Any:
    """What `hlsgen estimate` says of the network; the number types of its frames are noted beside that."""
    return json.loads(run("estimate", "layers.yaml", "--json").stdout)


def test_a_run_leaves_figures_logs_and_a_chart(folder: Path) -> None:
    said = text("simulate", "radar.yaml", "-o", "out")
    assert "radar on cpu=2,fft=1 under EFT, simulated" in said
    assert "times of cpu: measured" in said and "times of fft: assumed" in said
    out = folder / "out"
    assert {path.name for path in out.iterdir()} == {
        ".hlsgen",
        "appruntime_trace.log",
        "gantt.png",
        "gantt.svg",
        "simulation.json",
        "timing_trace.log",
    }
    found = json.loads((out / "simulation.json").read_text())
    assert found["kind"] == "simulated" and found["times"] == {"cpu": ["measured"], "fft": ["assumed"]}
    # first on the FFT (18), second on a CPU (90), the product after both
    assert found["response_us"]["mean"] == found["response_us"]["max"] == 102
    assert found["policy"] == "EFT" and not found["saturated"]
    # a second run replaces the first, with the same bytes
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    assert document("simulate", "radar.yaml", "-o", "out") == {**found, "folder": "out"}
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_the_logs_have_the_columns_of_cedr(folder: Path) -> None:
    text("simulate", "radar.yaml", "-o", "out", "--instances", "2")
    lines = (folder / "out/timing_trace.log").read_text().splitlines()
    columns = "app_id app_name task_id task_name resource_name ref_start_time ref_stop_time actual_exe_time"
    assert len(lines) == 6
    begins = []
    for line in lines:
        pairs = [part.split(": ") for part in line.split(", ")]
        assert [name for name, _ in pairs] == columns.split()
        row = dict(pairs)
        assert int(row["ref_stop_time"]) - int(row["ref_start_time"]) == int(row["actual_exe_time"])
        assert re.fullmatch(r"(cpu|fft)[12]", row["resource_name"])
        begins.append(int(row["ref_start_time"]))
    assert begins == sorted(begins) and begins[0] == 250_000
    instances = (folder / "out/appruntime_trace.log").read_text().splitlines()
    assert len(instances) == 2
    assert "app_runtime: 102000, app_lifetime: 102000" in instances[0]


def test_another_folder_is_not_touched(folder: Path) -> None:
    (folder / "mine").mkdir()
    (folder / "mine/file").write_text("mine")
    said = failure(2, "simulate", "radar.yaml", "-o", "mine")
    assert "holds files that are no build of hlsgen" in said
    assert [path.name for path in (folder / "mine").iterdir()] == ["file"]


def swept(*words: str) -> dict[str, Any]:
    found = document("simulate", "radar.yaml", "-o", "out", *words)
    assert isinstance(found, dict)
    return found


def test_a_sweep_saturates_later_with_more_elements(folder: Path) -> None:
    """What CEDR published: with the injection rate the node saturates, a richer one at a larger rate."""
    found = swept(
        *("--rate", "5000:50000:7", "--policy", "SIMPLE", "--policy", "EFT", "--instances", "200"),
        *("--resources", "cpu=2", "--resources", "cpu=2,fft=1", "--resources", "cpu=4,fft=2"),
    )
    assert len(found["points"]) == 42
    of = {(one["resources"], one["policy"]): one for one in found["saturation"]}
    eft = [of[node, "EFT"] for node in ("cpu=2", "cpu=2,fft=1", "cpu=4,fft=2")]
    begins = [one["saturated_from_per_s"] or 1e9 for one in eft]
    assert begins == sorted(begins) and begins[0] < begins[2]
    most = [one["most_completed_per_s"] for one in eft]
    assert most == sorted(most) and most[2] > 1.9 * most[0]
    for one in found["points"]:
        assert one["completed_per_s"] <= 1.0001 * one["capacity_per_s"]
    # policies part where there is something to choose
    assert (
        of["cpu=2,fft=1", "EFT"]["most_completed_per_s"]
        > 1.1 * of["cpu=2,fft=1", "SIMPLE"]["most_completed_per_s"]
    )
    for node in ("cpu=2", "cpu=2,fft=1"):
        times = [
            one["response_us"]["mean"]
            for one in found["points"]
            if (one["resources"], one["policy"]) == (node, "EFT")
        ]
        assert times == sorted(times) and times[-1] > 10 * times[0]
    assert {path.name for path in (folder / "out").iterdir()} == {
        ".hlsgen",
        "sweep.json",
        "sweep.png",
        "sweep.svg",
    }


def test_a_sweep_of_one_policy_says_so(folder: Path) -> None:
    said = text("simulate", "radar.yaml", "--rate", "100", "--rate", "90000", "--policy", "met")
    assert "radar, simulated: instances a second" in said and "MET" in said
    assert (folder / "simulate/radar/sweep.svg").is_file()


def test_processes_find_what_one_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="needs dask: pip install 'hlsgen[cluster]'")
    from tests.support.places import ROOT

    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    words = ("--rate", "5000:50000:4", "--policy", "ETF", "--policy", "RANDOM")
    several = swept(*words, "--scheduler", "local", "--workers", "2")
    assert several == swept(*words)


def test_a_network_of_tasks_is_an_application_of_its_layers() -> None:
    """A call with a frame of each layer's kernel, as `hlsgen estimate` has it, beside measured CPU times."""
    layers = {one["name"]: one for one in estimated()["layers"]}
    found = document("simulate", "net.yaml", "-o", "out")
    conv = layers["conv1"]["latency_cycles"] / 200
    assert found["response_us"]["mean"] == pytest.approx(conv + 20.5 + 8, abs=0.01)
    assert found["times"] == {
        "conv": ["modelled, zcu102 at 200 MHz"],
        "cpu": ["measured, torch on a core of this test"],
    }
    assert found["frames"] == {"layers": 1}
    alone = document("simulate", "net.yaml", "-o", "out", "--resources", "cpu=1")
    assert alone["response_us"]["mean"] == 328.5


def test_times_of_partition_are_read(folder: Path) -> None:
    """As `hlsgen partition --write-times` has them: seconds, here of the least form."""
    (folder / "cpu.json").write_text(
        '{"machine": "an Arm", "layers": {"conv1": 3e-4, "pool1": 2e-5, "fc1": 1e-5}}'
    )
    (folder / "net.yaml").write_text(NETWORK.replace("times.yaml", "cpu.json"))
    found = document("simulate", "net.yaml", "-o", "out", "--resources", "cpu=1")
    assert found["response_us"]["mean"] == 330
    assert found["times"]["cpu"] == ["measured, an Arm"]
    (folder / "cpu.json").write_text('{"layers": {"conv1": 3e-4}}')
    assert "have no layer pool1" in failure(1, "simulate", "net.yaml")


def test_a_program_is_an_application_of_rounds(folder: Path) -> None:
    (folder / "layers.yaml").write_text(LAYERS.format(style="shared") + SHARED)
    estimate = estimated()
    frames = estimate["processor"]["frames_together"]
    (folder / "net.yaml").write_text(NETWORK.replace("[conv2d]", "[conv2d, dense]"))
    found = document("simulate", "net.yaml", "-o", "out", "--policy", "MET")
    wanted = sum(one["cycles"] for one in estimate["tasks"]) / 200
    assert found["response_us"]["mean"] == pytest.approx(wanted, abs=0.01)
    assert found["frames"] == {"layers": frames}
    alone = document("simulate", "net.yaml", "-o", "out", "--resources", "cpu=1")
    assert alone["response_us"]["p50"] == pytest.approx(328.5 * frames)


def test_tasks_that_only_move_a_tensor_are_part_of_the_next(folder: Path) -> None:
    """A concatenation copies its inputs one by one: YOLOv3-tiny's ended in a traceback."""
    (folder / "layers.yaml").write_text(
        "name: cats\nboard: zcu102\nstyle: shared\nprecision: 'fixed<8,3>'\n"
        "input: {shape: [4, 8, 8], type: 'fixed<8,1>', samples: random}\nlayers:\n"
        "  - {name: conv1, kind: conv2d, out_channels: 4, kernel: 3, padding: same, weights: {seed: 1}}\n"
        "  - {name: conv2, kind: conv2d, out_channels: 4, kernel: 3, padding: same, weights: {seed: 2}}\n"
        "  - {name: cat, kind: concat, inputs: [conv1, conv2]}\n"
        "  - {name: conv3, kind: conv2d, inputs: [cat], out_channels: 4, kernel: 3, weights: {seed: 3}}\n"
        + SHARED
    )
    tasks = estimated()["tasks"]
    assert [] in [one["layers"] for one in tasks], "or this tests nothing"
    (folder / "times.yaml").write_text("measured: x\nmicroseconds: {conv1: 9, conv2: 9, cat: 90, conv3: 9}\n")
    (folder / "net.yaml").write_text(NETWORK.replace("[conv2d]", "[conv2d, concat]"))
    found = document("simulate", "net.yaml", "-o", "out", "--policy", "MET")
    assert found["response_us"]["mean"] == pytest.approx(sum(one["cycles"] for one in tasks) / 200, abs=0.01)


def test_a_streaming_network_is_one_task(folder: Path) -> None:
    (folder / "layers.yaml").write_text(LAYERS.format(style="dataflow"))
    (folder / "net.yaml").write_text(NETWORK.replace("[conv2d]", "[network]"))
    cycles = estimated()["total"]["latency_cycles"]
    found = document("simulate", "net.yaml", "-o", "out")
    assert found["response_us"]["mean"] == pytest.approx(cycles / 200, abs=0.01)


def test_more_accelerators_than_the_board_has_room_for_are_said() -> None:
    many = estimated()["total"]["instances"] + 1
    found = document("simulate", "net.yaml", "-o", "out", "--resources", f"cpu=1,conv={many}")
    assert [
        f"{many} elements of type conv; the design has {many - 1}" in one for one in found["warnings"]
    ] == [True]


@pytest.mark.parametrize(
    ("file", "before", "after", "said"),
    [
        ("radar", "cpu: 2, fft: 1", "cpu: 0", "must have from 1 to 256 elements in all"),
        (
            "radar",
            "cpu: 2, fft: 1",
            "fft: 1",
            "no element of fft=1 runs second of pulses, nor 1 more of its tasks",
        ),
        ("radar", "cpu: 2, fft: 1", "cpu1: 1", "must be a type of element"),
        ("radar", "cpu: 95, fft: 18", "cpu: 0", "must be a number from 0.001"),
        ("radar", "kind: product", "kind: products", "products has no costs"),
        ("radar", "[first, second]", "[first, third]", "names third, which is no earlier task"),
        ("radar", "name: second", "name: first", "first is there twice"),
        ("radar", "instances: 20", "instances: 0", "must be a whole number from 1 to 100000"),
        ("radar", "instances: 20", "arrival: bursts", "must be periodic or poisson"),
        ("radar", "resources:", "policy: BEST\nresources:", "must be SIMPLE or RANDOM or MET"),
        ("radar", "rate_per_s: 4000", "rate_per_s: 4000\n    cpu_times: t.yaml", "is of a network alone"),
        ("net", "    network: layers.yaml\n", "", "needs either `tasks` or a `network`"),
        (
            "net",
            "accelerators: {conv: [conv2d]}\n    cpu_times: times.yaml",
            "arrival: periodic",
            "nothing that runs",
        ),
        ("net", "{conv: [conv2d]}", "{cpu: [conv2d]}", "holds the CPUs"),
        ("net", "[conv2d]", "[convolution]", "has no tasks of the kind convolution for `conv`"),
        ("net", "    cpu_times: times.yaml\n", "", "nothing runs the layer pool1, a pool2d"),
        ("times", "fc1: 8", "fc2: 8", "times.yaml has no time of fc1"),
        ("times", "measured: torch on a core of this test\n", "", "`measured` is missing"),
        ("layers", "style: tasks", "style: mixed", "no set of tasks and no single kernel"),
    ],
)
def test_what_is_wrong_is_said_with_its_remedy(
    folder: Path, file: str, before: str, after: str, said: str
) -> None:
    path = folder / f"{file}.yaml"
    given = path.read_text()
    assert before in given
    path.write_text(given.replace(before, after, 1))
    message = failure(1, "simulate", "radar.yaml" if file == "radar" else "net.yaml")
    assert said in message and "fix: " in message
    assert not (folder / "simulate").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("--rate", "fast"),
        ("--rate", "10:5:3"),
        ("--rate", "1:2:0"),
        ("--rate", "nan"),
        ("--resources", "cpu"),
        ("--resources", "cpu=1,cpu=2"),
        ("--resources", "cpu=0"),
        ("--rate", "1:2:3", "--window", "5"),
    ],
)
def test_wrong_usage(words: tuple[str, ...]) -> None:
    assert run("simulate", "radar.yaml", *words).exit_code == 2


def test_too_many_tasks(folder: Path) -> None:
    many = SCENARIO.replace("instances: 20", "instances: 100000")
    tasks = "".join(f"      - {{name: t{number}, kind: product}}\n" for number in range(20))
    (folder / "radar.yaml").write_text(many + tasks)
    assert "runs 2,300,000 tasks in all" in failure(1, "simulate", "radar.yaml")
