"""The host program on a stand-in for XRT whose kernels are C-simulation sources: data, overlap, errors."""

from __future__ import annotations

import re
import shutil
import time
from pathlib import Path

import numpy as np
import pytest

from hlsgen.hardware.host_interface import read_interface
from tests.support.host_builds import (
    DESIGNS,
    FRAMES,
    HostBuild,
    arguments,
    host_build,
    interface,
    kernels,
    run,
    source_of,
    stand_in_xclbin,
)

KINDS = [kind for kind in DESIGNS if kind != "winograd"]


@pytest.fixture(params=KINDS)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> HostBuild:
    return host_build(request.param, tmp_path_factory)


@pytest.fixture
def conv(tmp_path_factory: pytest.TempPathFactory) -> HostBuild:
    return host_build("conv", tmp_path_factory)


@pytest.fixture
def tasks(tmp_path_factory: pytest.TempPathFactory) -> HostBuild:
    return host_build("tasks", tmp_path_factory)


def golden(made: HostBuild) -> dict[str, np.ndarray]:
    return {
        port["name"]: np.load(made.build / "tb" / port["golden"]) for port in interface(made.build)["outputs"]
    }


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--frames", "1"),
        ("--chunk", "2", "--repeat", "2"),
        ("--chunk", "3", "--buffers", "1"),
        ("--frames", "5", "--chunk", "5", "--buffers", "2", "--singles", "7"),
    ],
    ids=" ".join,
)
def test_every_result_equals_golden(made: HostBuild, options: tuple[str, ...], tmp_path: Path) -> None:
    frames = int(options[options.index("--frames") + 1]) if "--frames" in options else FRAMES
    passes = 2 if "--repeat" in options else 1
    done = made.stand_in(str(made.build / "tb"), *options, "-o", "out/put", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("TEST PASSED\n")
    for name, want in golden(made).items():
        count = passes * want[:frames].size
        assert f"{name}: {count} of {count} equal\n" in done.stdout
        got = np.load(tmp_path / f"out/put/{name}.npy")
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want[:frames])


def test_units_share_the_batch_and_transfers_overlap_calls(made: HostBuild, tmp_path: Path) -> None:
    env = {"STAND_IN_LOG": str(tmp_path / "log"), "STAND_IN_CALL_MS": "20"}
    options = ("--chunk", "1", "--singles", "0", "--repeat", "2")
    done = made.stand_in(str(made.build / "tb"), *options, cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stderr
    log = (tmp_path / "log").read_text().splitlines()
    for step in interface(made.build)["steps"]:
        reloading = any(argument["name"] == "reload" for argument in step["arguments"])
        calls = [line for line in log if line.split()[0] == "begin" and line.split()[1] in step["units"]]
        # each unit that keeps weights had one frame more, to take them
        assert len(calls) == 2 * FRAMES + len(step["units"]) * reloading
        assert {line.split()[1] for line in calls} == set(step["units"])
    working: set[str] = set()
    most, sent, fetched = 0, 0, 0
    for line in log:
        what, *unit = line.split()
        if what == "begin":
            working.add(unit[0])
        if what == "end":
            working.remove(unit[0])
        most = max(most, len(working))
        sent += what == "to_device" and len(working) > 0
        fetched += what == "from_device" and len(working) > 0
    lanes = len(interface(made.build)["steps"][0]["units"])
    assert most >= lanes + (made.kind == "tasks"), "all lanes at once, and several kernels of a lane"
    assert sent >= 4 and fetched >= FRAMES, "transfers while a compute unit works"


def test_figures_follow_what_a_call_takes(conv: HostBuild, tmp_path: Path) -> None:
    env = {"STAND_IN_CALL_MS": "50"}
    options = ("--chunk", "1", "--singles", "3", "--repeat", "3")
    done = conv.stand_in(str(conv.build / "tb"), *options, cwd=tmp_path, env=env)
    text = done.stdout
    assert f"conv: {FRAMES} frames x 3, 3 compute units of each kernel, 3 buffers of 1 frames each" in text
    kernels_only = float(re.findall(r"kernels only: ([\d.]+) frames/s", text)[0])
    end_to_end = float(re.findall(r"end to end: ([\d.]+) frames/s \(39 frames", text)[0])
    assert end_to_end <= kernels_only <= 3 / 0.05
    single, chunk = (
        [float(value) for value in re.findall(r"(?:p50|p90|p99|max) ([\d.]+) ms", line)]
        for line in reversed([line for line in text.splitlines() if line.startswith("latency")])
    )
    assert single == sorted(single) and chunk == sorted(chunk) and len(single) == len(chunk) == 4
    assert single[0] >= 50 and chunk[0] >= 50
    # the first calls of all are at work at once; a chunk that waits for two others takes three calls
    assert chunk[3] >= 100 and "(39)" in text and "(3)" in text


def changed_data(made: HostBuild, folder: Path) -> Path:
    return Path(shutil.copytree(made.build / "tb", folder / "data"))


def test_a_difference_is_shown_and_fails(made: HostBuild, tmp_path: Path) -> None:
    data = changed_data(made, tmp_path)
    port = interface(made.build)["outputs"][0]
    want = np.load(data / port["golden"])
    row = min(1, want.shape[2] - 1)
    was = want[3, 2, row, 0]
    bits = want.view(np.uint32) if want.dtype == np.float32 else want
    bits[3, 2, row, 0] ^= 1
    changed = want[3, 2, row, 0]
    np.save(data / port["golden"], want)
    done = made.stand_in(str(data), "--repeat", "4", cwd=tmp_path)
    assert done.returncode == 1
    got, other = (f"{one:.9g}" if want.dtype == np.float32 else str(one) for one in (was, changed))
    codes = f"got {got}, golden {other}"
    shown = f"{port['name']}: frame 3, channel 2, row {row}, column 0: {codes}\n"
    assert done.stdout.count(shown) == 1, "it stops after the pass that differs"
    assert f"{port['name']}: {want.size - 1} of {want.size} equal" in done.stdout
    assert done.stdout.endswith("TEST FAILED\n")


def test_without_golden_nothing_passes(conv: HostBuild, tmp_path: Path) -> None:
    data = changed_data(conv, tmp_path)
    (data / "golden.npy").unlink()
    done = conv.stand_in(str(data), cwd=tmp_path)
    assert done.returncode == 0
    assert "output: not compared, there is no golden.npy\n" in done.stdout
    assert "TEST" not in done.stdout


def test_runtime_weights_come_from_the_file(tasks: HostBuild, tmp_path: Path) -> None:
    data = changed_data(tasks, tmp_path)
    weights = np.load(data / "fc.weights.npy")
    np.save(data / "fc.weights.npy", np.zeros_like(weights))
    done = tasks.stand_in(str(data), "-o", "out", cwd=tmp_path)
    assert done.returncode == 1
    assert not np.load(tmp_path / "out/y.npy").any() and golden(tasks)["y"].any()


WRONG_DATA = {
    "cut": ("input.npy", lambda a: a.reshape(-1)[:-1], "holds no whole number of frames of 3 x 9 x 11"),
    "empty": ("input.npy", lambda a: a[:0], "holds no whole number of frames"),
    "wide": ("input.npy", lambda a: a.astype(np.int32), "this kernel takes 1 bytes each"),
    "floats": ("input.npy", lambda a: a.astype(np.float16), "elements of type <f2, but input takes <i1"),
    "unsigned": ("input.npy", lambda a: a.view(np.uint8), "is no code of 8 bits"),
    "range": (
        "golden.npy",
        lambda a: a | 1 << 13,
        "element 0 is no code of 13 bits without sign",
    ),
    "golden": ("golden.npy", lambda a: a[:-1], "golden.npy has too few frames"),
    "weights": ("weights.npy", lambda a: a[1:], "weights.npy holds 135 bytes, but the kernel takes 180"),
    "packing": ("weights.npy", lambda a: a * 0 - 64, "the weights are too large for this kernel's packing"),
}


@pytest.mark.parametrize("case", list(WRONG_DATA))
def test_wrong_data(case: str, conv: HostBuild, tmp_path: Path) -> None:
    file, change, message = WRONG_DATA[case]
    data = changed_data(conv, tmp_path)
    array = np.load(data / file)
    if case == "unsigned":
        array[0, 0, 0, 0] = -1
    np.save(data / file, change(array))
    done = conv.stand_in(str(data), cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ") and message in done.stderr


def test_weights_too_large_at_a_point_are_refused(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    """By the host program and by hlsgen.runtime: three weights of 16, more than five times."""
    made = host_build("winograd", tmp_path_factory)
    assert made.stand_in(str(made.build / "tb"), cwd=tmp_path).returncode == 0
    data = changed_data(made, tmp_path)
    weights = np.load(data / "weights.npy")
    (packing,) = read_interface(made.build).packing
    assert packing.point_limits == (514, 255, 514, 514) and packing.chain > 5
    assert packing.holds(weights) and not packing.holds(weights * 0 - 16)
    np.save(data / "weights.npy", weights * 0 - 16)
    done = made.stand_in(str(data), cwd=tmp_path)
    assert done.returncode == 2 and "the weights are too large for this kernel's packing" in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("nowhere",), "cannot read nowhere/input.npy"),
        (("data", "--frames", "14"), "holds 13 frames, fewer than --frames"),
        (("data", "--frames", "none"), '--frames takes a whole number from 1 to 1073741824, not "none"'),
        (("data", "--repeat", "0"), "--repeat takes a whole number from 1"),
        (("data", "--fast", "1"), "--fast is unknown"),
        (("data", "--chunk"), "its value is missing"),
        (("data", "more"), '"more" is one argument too many'),
        (("data", "-o", "/dev/null/out"), "cannot make /dev/null/out"),
    ],
)
def test_wrong_use(options: tuple[str, ...], message: str, conv: HostBuild, tmp_path: Path) -> None:
    (tmp_path / "data").symlink_to(conv.build / "tb")
    done = conv.stand_in(*options, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ") and message in done.stderr


def test_no_xclbin_shows_the_usage(conv: HostBuild, tmp_path: Path) -> None:
    done = run([conv.folder / "host"], cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("error: the .xclbin file is missing\nusage: conv_host XCLBIN [DATA=../tb]")


def trouble(made: HostBuild, container: str, tmp_path: Path, *options: str) -> str:
    """What is said about an .xclbin of the stand-in; the program must end at once with status 4."""
    path = tmp_path / "other.xclbin"
    path.write_text(container)
    done = run([made.folder / "host", path, made.build / "tb", *options], cwd=tmp_path)
    assert done.returncode == 4, done.stdout + done.stderr
    assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1
    return done.stderr


def test_xclbin_of_something_else(conv: HostBuild, tmp_path: Path) -> None:
    text = (conv.folder / "stand_in.xclbin").read_text()
    missing = run([conv.folder / "host", "none.xclbin", conv.build / "tb"], cwd=tmp_path)
    assert missing.returncode == 4 and "error: cannot open none.xclbin; make xclbin" in missing.stderr
    assert "is no .xclbin file that XRT can read" in trouble(conv, "", tmp_path)
    said = trouble(conv, text.replace("conv_2", "second"), tmp_path)
    assert "has no compute unit conv_2 of kernel conv; looked for: conv_1, conv_2, conv_3; it has: " in said
    assert "it has: conv_1, second, conv_3 (nk= in vitis/link.cfg names them)" in said
    said = trouble(conv, text.replace(" conv ", " other "), tmp_path)
    assert "has no kernel conv; it has: other" in said
    said = trouble(conv, text.replace(" biases*", ""), tmp_path)
    assert (
        "takes (input, weights, output, frames), but this host program gives (input, weights, biases, "
        in said
    )
    said = trouble(conv, text.replace("weights* biases*", "biases* weights*"), tmp_path)
    assert "they are not of the same build" in said
    said = trouble(conv, text, tmp_path, "--device", "3")
    assert "cannot open device 3: Could not open device with index '3'" in said
    assert "it is neither an index nor a PCIe address" in trouble(conv, text, tmp_path, "--device", "card")


def test_kernels_of_a_lane_share_a_bank(tasks: HostBuild, tmp_path: Path) -> None:
    library = tasks.folder / "kernels.so"
    moved = [
        type(kernel)(
            name=kernel.name,
            arguments=kernel.arguments,
            units={
                unit: [bank + 1 for bank in banks] if unit == "net_fc_2" else banks
                for unit, banks in kernel.units.items()
            },
        )
        for kernel in kernels(tasks.build)
    ]
    text = stand_in_xclbin(tmp_path / "moved", library, moved).read_text()
    said = trouble(tasks, text, tmp_path)
    assert "net_fc_2 reaches pool in memory group" in said and "sp= in vitis/link.cfg" in said


def test_a_stuck_unit_is_named(made: HostBuild, tmp_path: Path) -> None:
    unit = made.units[-1]
    start = time.monotonic()
    # slow calls: no other unit takes its share
    env = {"STAND_IN_STUCK": unit, "STAND_IN_CALL_MS": "50"}
    done = made.stand_in(
        str(made.build / "tb"), "--timeout", "1", "--singles", "0", "--chunk", "1", cwd=tmp_path, env=env
    )
    assert time.monotonic() - start < 20
    assert done.returncode == 4
    assert done.stderr.startswith(f"error: compute unit {unit} has not finished a call within 1 s; --")


def test_arguments_and_units_are_those_of_the_kernels(made: HostBuild) -> None:
    steps = {}
    for step in interface(made.build)["steps"]:
        of = step["kernels"] or [step["kernel"]] * len(step["units"])
        for name in dict.fromkeys(of):
            units = [unit for unit, one in zip(step["units"], of, strict=True) if one == name]
            steps[name] = {**step, "units": units}
    linked = {kernel.name: kernel for kernel in kernels(made.build)}
    assert list(steps) == list(linked)
    for name, step in steps.items():
        wanted = arguments(source_of(made.build, name), name)
        assert [one["port"] for one in step["arguments"]] == [one.name for one in wanted]
        in_memory = [one["source"] in ("tensor", "constants", "memory") for one in step["arguments"]]
        assert in_memory == [one.pointer for one in wanted]
        assert list(dict.fromkeys(step["units"])) == list(linked[name].units)


def test_emitted_text_reads_as_written_by_hand(made: HostBuild) -> None:
    for path in (made.build / "host").iterdir():
        text = path.read_text()
        assert "{%" not in text and "\n\n\n" not in text, path
        assert not any(line != line.rstrip() for line in text.splitlines()), path
        assert max(map(len, text.splitlines())) <= 160, path
