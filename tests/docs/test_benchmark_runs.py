"""Every benchmark runs, in a form that takes a minute or so; and each calls what is there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.places import ROOT

FOLDER = ROOT / "benchmarks"
QUICK = {
    "clocks.py": ["designs/conv.yaml", "--clocks", "220", "--boards", "u200"],
    "conv.py": ["--quick"],
    "explore.py": ["designs/digits.yaml", "--sizes", "--boards", "1"],
    "fit_terms.py": ["--check"],
    "fuzz.py": ["--cases", "12", "--csim", "6"],
    "gallery.py": ["--list"],
    "large.py": ["--no-explore", "vgg_cifar@32"],
    "networks.py": ["--quick", "--no-hls4ml", "designs/digits.yaml"],
    "peers.py": ["--networks", "resnet8", "--styles", "dataflow"],
    "pipeline.py": ["--size", "32", "--batch", "4", "--micro-batches", "2"],
    "predict.py": [],
    "rematerialise.py": ["--size", "32", "--batch", "4", "--rounds", "1", "--network", "resnet18"],
    "splits.py": ["--rounds", "1"],
    "sweep.py": ["--jobs", "4", "--workers", "1"],
    "tasks.py": [],
}
"""The arguments of a short run."""
NOT_ALONE = {
    "adders.py": "da4ml, with which it compares",
    "auto.py": "hours of networks",
    "channel_points.py": "models that were downloaded",
    "gallery_page.py": "writes docs/gallery.md",
    "gallery_types.py": "models that were downloaded",
    "hls4ml_layer.py": "a part of conv.py",
    "hls4ml_networks.py": "a part of networks.py",
    "network_worker.py": "a part of networks.py",
    "processors.py": "models that were downloaded",
    "schedule.py": "checkouts of public repositories",
    "schedule_folds.py": "results of schedule.py",
}


def scripts() -> set[str]:
    return {path.name for path in FOLDER.glob("*.py") if "__main__" in path.read_text(encoding="utf-8")}


def test_every_benchmark_has_a_quick_form_or_a_reason() -> None:
    assert scripts() == QUICK.keys() | NOT_ALONE.keys()


@pytest.mark.nightly
@pytest.mark.parametrize("name", QUICK)
def test_a_quick_form_runs(name: str, tmp_path: Path) -> None:
    words = [str(ROOT / one) if one.startswith("designs/") else one for one in QUICK[name]]
    text = (FOLDER / name).read_text(encoding="utf-8")
    if '"--json"' in text:
        words += ["--json", str(tmp_path / "found.json")]
    done = subprocess.run(
        [sys.executable, str(FOLDER / name), *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "Traceback" not in done.stderr


@pytest.mark.nightly
def test_benchmarks_call_what_is_there() -> None:
    """A file that overwrites another one leaves its callers with names that it lacks."""
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--explicit-package-bases", "benchmarks"],
        cwd=ROOT,
        env={"MYPYPATH": "benchmarks", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
    )
    wrong = re.findall(r".*\[(?:attr-defined|call-arg|name-defined)\]", done.stdout)
    assert not wrong, "\n".join(wrong)
