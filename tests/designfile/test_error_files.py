"""Each wrong design in errors/*.yaml says exactly what its .expect file holds, and ends with exit code 1.

Add a test by adding a .yaml file and running `pytest --update-golden`; then read what was written.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

import hlsgen

ERRORS = Path(__file__).parent / "errors"
DESIGNS = sorted(path.name for path in ERRORS.glob("*.yaml"))


def test_there_are_wrong_designs() -> None:
    assert len(DESIGNS) >= 115


def test_no_expectation_is_left_without_its_design() -> None:
    expected = {path.stem for path in ERRORS.glob("*.expect")}
    assert expected <= {Path(name).stem for name in DESIGNS}


@pytest.mark.parametrize("name", DESIGNS)
def test_wrong_design_says_what_is_expected(
    name: str, update_golden: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Read from its own folder, a design is named by its basename in every message.
    monkeypatch.chdir(ERRORS)
    with pytest.raises(hlsgen.DesignError) as caught:
        hlsgen.load(name).check()
    assert caught.value.exit_code == 1
    said = f"{caught.value}\n"
    expect = Path(name).with_suffix(".expect")
    if update_golden:
        expect.write_text(said, encoding="utf-8")
    assert expect.exists(), f"{expect} is missing; run pytest --update-golden and read what it writes"
    assert said == expect.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["layer-absurd.yaml", "output-too-large.yaml", "layer-too-much-work.yaml"])
def test_absurd_sizes_cost_neither_time_nor_memory(name: str) -> None:
    code = f"import hlsgen\ntry: hlsgen.load({name!r})\nexcept hlsgen.DesignError: print('refused')"

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))

    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ERRORS,
        preexec_fn=limited,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "refused\n", done.stderr
    assert time.perf_counter() - start < 20
