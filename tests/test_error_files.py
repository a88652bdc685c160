"""Each wrong design in errors/*.yaml says exactly what its .expect file holds.

Add a test by adding a .yaml file and running `pytest --update-golden`; then read what was written.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from hlsgen.errors import DesignError
from hlsgen.schema import load_design_file

ERRORS = Path(__file__).parent / "errors"
DESIGNS = sorted(path.name for path in ERRORS.glob("*.yaml"))


def test_there_are_wrong_designs() -> None:
    assert len(DESIGNS) >= 35


def test_no_expectation_is_left_without_its_design() -> None:
    expected = {path.stem for path in ERRORS.glob("*.expect")}
    assert expected <= {Path(name).stem for name in DESIGNS}


@pytest.mark.parametrize("name", DESIGNS)
def test_wrong_design_says_what_is_expected(
    name: str, update_golden: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Read from its own folder, a design is named by its basename in every message.
    monkeypatch.chdir(ERRORS)
    with pytest.raises(DesignError) as caught:
        load_design_file(Path(name))
    said = f"{caught.value}\n"
    expect = Path(name).with_suffix(".expect")
    if update_golden:
        expect.write_text(said, encoding="utf-8")
    assert expect.exists(), f"{expect} is missing; run pytest --update-golden and read what it writes"
    assert said == expect.read_text(encoding="utf-8")
