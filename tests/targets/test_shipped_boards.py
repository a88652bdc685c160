"""The boards that are shipped against others' figures: FINN's platforms, AIT's boards; a design on each."""

from __future__ import annotations

import json
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import hlsgen
from hlsgen.base.data_files import data_folder
from hlsgen.base.errors import DesignError
from hlsgen.targets.board import board_json_schema, board_template, list_boards, load_board
from hlsgen.targets.device_family import BOARDS_WITHOUT_A_FILE, family_of
from tests.support.small_design import DESIGN

NAMES = [board.name for board in list_boards()]
FINN = {
    "u50": [(374400, 748800, 1128, 304, 2592), (368160, 736320, 1128, 304, 2760)],
    "u250": [(375000, 750000, 1152, 320, 2880)] * 4,
    "u280": [
        (400800, 801600, 1200, 320, 2736),
        (382080, 764160, 1152, 320, 2880),
        (380640, 761280, 1152, 320, 2880),
    ],
    "u55c": [
        (386000, 773000, 1200, 320, 2664),
        (364000, 729000, 1152, 320, 2784),
        (381000, 763000, 1200, 320, 2856),
    ],
    "ultra96v2": [(71000, 142000, 412, 0, 360)],
    "zcu102": [(274000, 548000, 1824, 0, 2520)],
    "pynq_z2": [(53200, 2 * 53200, 280, 0, 220)],
    "zcu104": [(230000, 460000, 610, 92, 1728)],
    "u200": [
        (385920, 771840, 1428, 320, 2268),
        (199680, 399360, 840, 160, 1320),
        (385920, 771840, 1428, 320, 2268),
    ],
}
"""LUT, FF, BRAM18, URAM and DSP of each SLR: FINN's src/finn/util/platforms.py, compute_resources."""
PARTS = {
    "u50": "xcu50-fsvh2104-2L-e",
    "u200": "xcu200-fsgd2104-2-e",
    "u250": "xcu250-figd2104-2L-e",
    "u280": "xcu280-fsvh2892-2L-e",
    "u280_hbm": "xcu280-fsvh2892-2L-e",
    "u55c": "xcu55c-fsvh2892-2L-e",
    "ultra96v2": "xczu3eg-sbva484-1-i",
    "zcu102": "xczu9eg-ffvb1156-2-e",
    "zcu104": "xczu7ev-ffvc1156-2-e",
    "kv260": "xck26-sfvc784-2LV-c",
    "pynq_z2": "xc7z020clg400-1",
    "vck190": "xcvc1902-vsva2197-2MP-e-S",
    "vek280": "xcve2802-vsvh1760-2MP-e-S",
}
"""part_map of FINN's src/finn/util/basic.py."""


@pytest.mark.parametrize("name", FINN)
def test_what_finn_says_is_free(name: str) -> None:
    """Within 5 %: FINN rounds device totals (BRAM of the ZU3EG, URAM of the ZU7EV)."""
    for slr, theirs in zip(load_board(name).slrs, FINN[name], strict=True):
        ours = (slr.lut, slr.ff, slr.bram18, slr.uram, slr.dsp)
        assert ours == pytest.approx(theirs, rel=0.05), slr.name


@pytest.mark.parametrize("name", PARTS)
def test_parts_are_finns(name: str) -> None:
    ours = BOARDS_WITHOUT_A_FILE.get(name) or load_board(name).part
    assert ours == PARTS[name]


def ait_boards() -> dict[str, Any]:
    """What AIT says of each of its boards; skips the test where it is not installed."""
    found = find_spec("ait")
    if found is None or not found.submodule_search_locations:
        pytest.skip("ait is not installed: pip install 'hlsgen[deploy]'")
    folder = Path(found.submodule_search_locations[0]) / "backend/xilinx/board"
    return {file.parent.name: json.loads(file.read_text()) for file in folder.glob("*/board_info.json")}


def test_boards_of_ait() -> None:
    """Part, SLRs, banks and their bytes; and no UltraScale+ board lacks the name of one that AIT has."""
    theirs = ait_boards()
    ours = [board for board in list_boards() if board.ait_board is not None]
    assert {board.ait_board for board in ours} == {
        name for name, one in theirs.items() if name != "common" and modelled(one["chip_part"])
    }
    for board in ours:
        one = theirs[str(board.ait_board)]
        assert board.part.lower() == one["chip_part"].lower()
        memory = one["memory"]
        assert len(board.slrs) == int(one["arch"].get("slr", {"num": "1"})["num"])
        assert len(board.memory.banks) == int(memory.get("num_banks", "1"))
        size = int(memory.get("bank_size", memory.get("size")), 0) * len(board.memory.banks)
        assert board.memory.size_gb is not None
        # "4 GB" of a data sheet is a little less than AIT's 4 GiB
        assert board.memory.size_gb == pytest.approx(size / 1e9, rel=0.075)


def modelled(part: str) -> bool:
    family = family_of(part)
    return family is not None and family.dsp.name == "DSP48E2"


def test_memory_as_amd_says() -> None:
    """77 GB/s of the DDR cards with four banks, 460 of the HBM (UG1393, "HBM Configuration and Use")."""
    for name, total in {"u200": 77, "u250": 77, "u280_hbm": 460, "u50": 460, "u55c": 460}.items():
        assert sum(bank.gb_per_s for bank in load_board(name).memory.banks) == pytest.approx(total, rel=0.005)
    hbm = load_board("u280_hbm")
    assert [bank.name for bank in hbm.memory.banks] == [f"HBM[{number}]" for number in range(32)]
    # measured by AMD's "HBM Bandwidth" example on all channels of a U280
    assert 460 * hbm.memory.efficiency == pytest.approx(421.3, rel=0.01)


@pytest.mark.parametrize("name", NAMES)
def test_a_design_on_every_board(name: str, tmp_path: Path) -> None:
    """Kernels lie in SLRs and at banks that the board has, and take no more than is usable."""
    file = tmp_path / "small.yaml"
    file.write_text(DESIGN.replace("u200", name))
    document = hlsgen.load(file, board=name).estimate().as_json()
    board = load_board(name)
    assert document["total"]["interval_cycles"] > 0
    known = {slr.name for slr in board.slrs}
    assert document["slrs"] and {slr["name"] for slr in document["slrs"]} <= known
    banks = {bank.name for bank in board.memory.banks}
    assert {bank for slr in document["slrs"] for bank in slr["ddr"]} <= banks


@pytest.mark.parametrize("name", sorted(BOARDS_WITHOUT_A_FILE))
def test_well_known_boards_without_a_file_are_refused_with_the_reason(name: str) -> None:
    for asked in (name, name.upper(), name.replace("_", "-")):
        with pytest.raises(DesignError) as caught:
            load_board(asked)
        (problem,) = caught.value.problems
        assert "kv260" in problem.fix
        if name.startswith("v"):
            assert problem.message.startswith(f'"{asked}" cannot be a target: its part is')
            assert "DSP58 multiplies 27 x 24" in problem.message
            assert "a board with an UltraScale+ part" in problem.fix
        else:
            part = BOARDS_WITHOUT_A_FILE[name]
            assert problem.message == f'there is no file of "{asked}", whose part is "{part}"'
            assert "hlsgen boards --template >" in problem.fix


@pytest.mark.parametrize(
    ("asked", "meant"), [("u20", "u200"), ("u28", "u280"), ("zcu", "zcu102"), ("kv620", "kv260")]
)
def test_the_nearest_board_is_offered(asked: str, meant: str) -> None:
    """The first that begins so, where one does: as close as others, it is the likeliest."""
    with pytest.raises(DesignError, match=f"did you mean '{meant}'"):
        load_board(asked)


def test_a_board_without_a_name_in_ait(tmp_path: Path) -> None:
    """Only the bitstreams of ompss/ want AIT's name, and say so; where there is one, all is as before."""
    made = {}
    for name in ("zcu102", "zcu104"):
        file = tmp_path / "small.yaml"
        file.write_text(DESIGN)
        made[name] = hlsgen.load(file, board=name).build(tmp_path / name).folder / "ompss"
    assert "BOARD       ?= zcu102\n" in (made["zcu102"] / "Makefile").read_text()
    assert "ait_board" not in (made["zcu102"] / "Makefile").read_text()
    done = subprocess.run(
        ["make", "bitstream-p"], cwd=made["zcu104"], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0 and "the board file of zcu104 has no ait_board" in done.stderr
    done = subprocess.run(
        ["make", "bitstream-p", "BOARD=x"], cwd=made["zcu104"], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0 and "ait_board" not in done.stderr


def test_a_board_file_in_the_folder_is_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.yaml").write_text(board_template())
    (tmp_path / "sub").mkdir()
    with pytest.raises(DesignError, match=r"did you mean \./mine\.yaml\? the boards are"):
        load_board("mine", folder=tmp_path)
    with pytest.raises(DesignError) as caught:  # no word with a path in it is looked for
        load_board("../mine", folder=tmp_path / "sub")
    assert "did you mean ./" not in str(caught.value)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DesignError, match=r"did you mean \./mine\.yaml\?"):
        load_board("mine")
    assert load_board("./mine.yaml").name == "my_board"


def test_the_template_has_every_key_and_is_a_board(tmp_path: Path) -> None:
    """As it is, and with all that is commented out."""
    text = board_template()
    (tmp_path / "mine.yaml").write_text(text)
    board = load_board(tmp_path / "mine.yaml")
    assert (board.ait_board, board.max_compute_units, board.link) == (None, 31, None)
    lines = [
        line.replace("# ", "", 1) if line.lstrip().startswith("# ") and is_key(line) else line
        for line in text.splitlines()
    ]
    (tmp_path / "all.yaml").write_text("\n".join(lines))
    whole = load_board(tmp_path / "all.yaml")
    schema = board_json_schema()
    for model, keys in ((whole, schema), (whole.memory, schema["$defs"]["Memory"])):
        assert set(model.model_fields_set) == set(keys["properties"])
    # what is commented out is the default, but for these examples
    examples = {"vitis_max", "ait_board", "dsp", "link", "memory"}
    for key in set(schema["properties"]) - examples - board.model_fields_set:
        assert getattr(whole, key) == getattr(board, key), key
    assert whole.memory.efficiency == board.memory.efficiency


def is_key(line: str) -> bool:
    return line.lstrip().removeprefix("# ").split(":")[0] in {
        *board_json_schema()["properties"],
        *board_json_schema()["$defs"]["Memory"]["properties"],
    }


def test_every_shipped_file_says_where_each_assumption_is_one() -> None:
    """A card without a measured link says so, and no Zynq has one."""
    for board in list_boards():
        text = (data_folder("boards") / f"{board.name}.yaml").read_text(encoding="utf-8")
        assert (board.link is not None) == (board.flow == "alveo")
        assert board.link is None or "xbutil validate" in text.split("\nlink:")[0].rsplit("\n\n", 1)[1]
