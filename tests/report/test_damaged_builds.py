"""Build folders with damage at random places: commands on them end with a message and a documented code."""

from __future__ import annotations

import contextlib
import copy
import json
import re
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from hlsgen import runtime
from hlsgen.base.errors import DesignError, OutputError, ToolError
from hlsgen.base.manifest import MANIFEST, foreign_files, is_build
from hlsgen.cli.commands import cli
from hlsgen.hardware.host_interface import HostInterface
from hlsgen.report.reading import read_report
from hlsgen.runtime.ddr_frames import packed, unpacked
from tests.support.report_builds import built
from tests.support.vendor_reports import cosim, csynth, utilisation

Damage = Callable[[bytes, np.random.Generator], bytes]
VALUES: list[Any] = [
    None,
    True,
    -1,
    0,
    1 << 70,
    1e308,
    0.5,
    "",
    "x\n\x1b[31m\ud800",
    [],
    [[]],
    {},
    {"a": None},
]
"""What stands in for any value of a document."""
CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f]|Traceback")
EXIT_CODES = {0, 1, 4}
ROUNDS = 24


def truncated(content: bytes, generator: np.random.Generator) -> bytes:
    return content[: int(generator.integers(len(content)))]


def flipped(content: bytes, generator: np.random.Generator) -> bytes:
    array = np.frombuffer(content, np.uint8).copy()
    array[generator.integers(len(array), size=3)] ^= np.uint8(1) << generator.integers(8, dtype=np.uint8)
    return array.tobytes()


def swapped(content: bytes, generator: np.random.Generator) -> bytes:
    """A value anywhere in a JSON document is another one, is gone, or stands twice; else as `flipped`."""
    try:
        document = json.loads(content)
    except ValueError:
        return flipped(content, generator)
    places = list(_places(document))
    for _ in range(int(generator.integers(1, 3))):
        holder, key = places[int(generator.integers(len(places)))]
        way = generator.integers(4)
        with_key = key in holder if isinstance(holder, dict) else key < len(holder)
        if not with_key:
            continue
        if way == 0:
            del holder[key]
        elif way == 1 and isinstance(holder, list):
            holder.append(copy.deepcopy(holder[key]))
        else:
            holder[key] = copy.deepcopy(VALUES[int(generator.integers(len(VALUES)))])
    return json.dumps(document).encode()


def _places(document: Any) -> Any:
    """(mapping or list, key or index) of every value."""
    if isinstance(document, dict | list):
        for key in list(document) if isinstance(document, dict) else range(len(document)):
            yield document, key
            yield from _places(document[key])


DAMAGES: list[Damage] = [truncated, flipped, swapped, swapped]


@pytest.fixture(scope="module")
def builds(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("builds")
    found = [built(kind, folder) for kind in ("layer", "dataflow")]
    for build in found:
        name = json.loads((build / "report.json").read_text())["design"]
        (build / "csynth.xml").write_text(csynth(top=name))
        (build / "cosim.rpt").write_text(cosim())
        (build / "utilization_routed.rpt").write_text(utilisation())
    return found


def damaged(build: Path, name: str, target: Path, seed: int) -> Path:
    """A copy of the build with one file damaged."""
    generator = np.random.default_rng([seed, *name.encode()])
    shutil.copytree(build, target)
    damage = DAMAGES[int(generator.integers(len(DAMAGES)))]
    (target / name).write_bytes(damage((build / name).read_bytes(), generator))
    return target


def run(*words: str) -> None:
    """That a command ends as documented: an exception that nothing handles fails the test."""
    result = CliRunner().invoke(cli, words, catch_exceptions=False)
    assert result.exit_code in EXIT_CODES, result.output
    assert not CONTROL.search(result.output)
    assert result.exit_code == 0 or "error: " in result.output


@pytest.mark.parametrize("name", ["report.json", "csynth.xml", "cosim.rpt", "utilization_routed.rpt"])
def test_report_compare_and_calibrate(name: str, builds: list[Path], tmp_path: Path) -> None:
    for seed in range(ROUNDS):
        build = builds[seed % len(builds)]
        (file,) = (path.name for path in build.iterdir() if path.name.endswith(name))
        target = damaged(build, file, tmp_path / f"{seed}", seed)
        run("compare", str(target))
        run("report", str(target))
        run("calibrate", str(target), "-o", str(tmp_path / "terms.yaml"), "--force")
        shutil.rmtree(target)


class Still:
    """Stands for a kernel: takes frames in the words that the interface says, and gives zeros."""

    fpga, measured_on = False, "nothing"

    def __init__(self, folder: Path, interface: HostInterface, data: Path) -> None:
        self.interface = interface

    def chunk(self, frames: int) -> int:
        return frames

    def run(self, inputs: dict[str, Any], chunk: int) -> tuple[dict[str, Any], list[float]]:
        tensors = {tensor.name: tensor for tensor in self.interface.tensors}
        for port in self.interface.inputs:
            packed(inputs[port.name], tensors[port.tensor])
        frames = len(next(iter(inputs.values())))
        shown = [tensors[port.tensor] for port in self.interface.outputs]
        return {one.name: unpacked(np.zeros(frames * one.frame_bytes, np.uint8), one) for one in shown}, [0.1]

    def close(self) -> None:
        pass


def test_runtime(builds: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hlsgen.runtime.simulation.Simulation", Still)
    for seed in range(4 * ROUNDS):
        build = builds[seed % len(builds)]
        target = damaged(build, "interface.json", tmp_path / f"{seed}", seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                with runtime.open(target) as net:
                    net.run([np.zeros((2, *port.shape)) for port in net.interface.inputs])
            except (DesignError, ToolError) as error:
                str(error).encode()
                assert not CONTROL.search(str(error))
        shutil.rmtree(target)


def test_documents_that_are_nested_deep_or_say_control_characters(builds: list[Path], tmp_path: Path) -> None:
    target = tmp_path / "build"
    shutil.copytree(builds[1], target)
    whole = (target / "interface.json").read_text()
    strange = [
        whole.replace(f'"{key}": "', f'"{key}": "\\u001b[31m', 1) for key in ("type", "container", "tensor")
    ]
    deep = "[" * 100_000
    for name, check, texts in (
        ("interface.json", runtime.open, (deep, *strange)),
        ("report.json", read_report, (deep, '{"design": "\\u001b[31m"}')),
    ):
        for text in texts:
            (target / name).write_text(text)
            with pytest.raises(DesignError) as caught:
                check(target)
            assert not CONTROL.search(str(caught.value))


def test_a_key_that_is_missing_is_named_as_the_document_has_it(builds: list[Path], tmp_path: Path) -> None:
    shutil.copytree(builds[1], tmp_path / "build")
    path = tmp_path / "build" / "report.json"
    document = json.loads(path.read_text())
    del document["graph"]["edges"][1]["from"]
    path.write_text(json.dumps(document))
    with pytest.raises(DesignError, match=r"`graph.edges.1.from` is missing"):
        read_report(path.parent)


def test_manifests_and_folders_that_are_no_designs(builds: list[Path], tmp_path: Path) -> None:
    (listing,) = (
        name for name in (".hlsgen", ".hlsgen.json", "manifest.json") if (builds[0] / name).exists()
    )
    for seed in range(ROUNDS):
        target = damaged(builds[0], MANIFEST, tmp_path / f"{seed}", seed)
        is_build(target)
        with contextlib.suppress(OutputError):
            foreign_files(target)
        shutil.rmtree(target)
    for command in ("csim", "check", "build", "estimate", "explore"):
        run(command, str(builds[0]))
