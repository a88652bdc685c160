"""Boards: the figures of the first two that were shipped, and what is refused in a board's name and file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import hlsgen
from hlsgen.base.data_files import data_folder
from hlsgen.base.errors import DesignError, Place, Problem
from hlsgen.targets.board import Board, list_boards, load_board
from tests.support.small_design import DESIGN

BOARDS = [
    "kv260",
    "pynq_z2",
    "u200",
    "u250",
    "u280",
    "u280_hbm",
    "u50",
    "u55c",
    "ultra96v2",
    "zcu102",
    "zcu104",
    "zcu106",
]
U200 = data_folder("boards") / "u200.yaml"


def problems_of(name: str | Path, **keys: Place | Path | None) -> tuple[Problem, ...]:
    with pytest.raises(DesignError) as caught:
        load_board(name, **keys)  # type: ignore[arg-type]
    return caught.value.problems


def changed(folder: Path, old: str, new: str) -> Path:
    text = U200.read_text(encoding="utf-8")
    assert old in text
    path = folder / "changed.yaml"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return path


def test_u200() -> None:
    board = load_board("u200")
    assert (board.part, board.flow, board.vitis_max) == ("xcu200-fsgd2104-2-e", "alveo", "2025.1")
    assert (board.clock_mhz, board.ait_board) == (220, "alveo_u200")
    total = board.total
    assert (total.lut, total.ff, total.bram18, total.uram, total.dsp) == (979_040, 1_958_080, 3720, 800, 5880)
    assert [slr.dsp for slr in board.slrs] == [2280, 1320, 2280]
    assert [(bank.name, bank.slr) for bank in board.memory.banks] == [
        ("DDR[0]", "SLR0"),
        ("DDR[1]", "SLR1"),
        ("DDR[2]", "SLR1"),
        ("DDR[3]", "SLR2"),
    ]
    assert (board.memory.port_bits, board.memory.ports, board.memory.efficiency) == (512, None, 0.8)


def test_zcu102() -> None:
    board = load_board("zcu102")
    assert (board.part, board.flow, board.vitis_max) == ("xczu9eg-ffvb1156-2-e", "zynqmp", None)
    (region,) = board.slrs
    assert (region.name, region.lut, region.bram18, region.uram, region.dsp) == ("PL", 274_080, 1824, 0, 2520)
    (bank,) = board.memory.banks
    assert (bank.gb_per_s, board.memory.port_bits, board.memory.ports) == (17.06, 128, 4)


@pytest.mark.parametrize("board", list_boards(), ids=lambda board: board.name)
def test_every_shipped_board(board: Board) -> None:
    assert load_board(board.name) == board
    assert (data_folder("boards") / f"{board.name}.yaml").exists()
    usable = board.usable
    assert (usable.lut, usable.ff, usable.bram, usable.uram, usable.dsp) == (0.7, 0.5, 0.8, 0.8, 0.8)


@pytest.mark.parametrize("board", [board.name for board in list_boards()])
def test_every_figure_has_a_source(board: str) -> None:
    lines = (data_folder("boards") / f"{board}.yaml").read_text(encoding="utf-8").splitlines()
    keys = (
        "part:",
        "platform:",
        "vitis_max:",
        "ait_board:",
        "clock_mhz:",
        "max_compute_units:",
        "usable:",
        "slrs:",
    )
    memory = ("  port_bits:", "  efficiency:", "  banks:")
    for number, line in enumerate(lines):
        if line.split(":")[0] in keys + memory:
            assert lines[number - 1].lstrip().startswith("#"), line


def test_boards_are_listed_by_name() -> None:
    assert [board.name for board in list_boards()] == BOARDS


NAMES = [
    "u290",
    "U200",
    "",
    "u200\n",
    "../boards/u200",
    "/etc/passwd",
    "u200.yml",
    "u*",
    "u200/",
    ".",
    "a" * 5000,
    "\0",
]


@pytest.mark.parametrize("name", NAMES)
def test_unknown_names_list_the_known_ones(name: str) -> None:
    place = Place(file="d.yaml", line=2, column=8)
    (problem,) = problems_of(name, place=place)
    assert problem.message.startswith("no board is called ")
    assert f"the boards are {', '.join(BOARDS)}" in problem.fix
    assert problem.place == place


def test_board_file_that_is_missing_is_reported_at_the_design(tmp_path: Path) -> None:
    place = Place(file="d.yaml", line=2, column=8)
    (problem,) = problems_of("none.yaml", folder=tmp_path, place=place)
    assert "does not exist" in problem.message and problem.place == place


def test_board_by_path(tmp_path: Path) -> None:
    path = changed(tmp_path, "name: u200", "name: mine")
    assert load_board(path).name == "mine"
    assert load_board("changed.yaml", folder=tmp_path).name == "mine"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("name: u200", "name: ../u", "`name` must be a board's name"),
        ("title: AMD Alveo U200", "title: ''", "`title` must be a line of 1 to 200"),
        ("title: AMD Alveo U200", "title: 3", "`title` must be text, not 3"),
        ("flow: alveo", "flow: alveos", "`flow` must be alveo or zynqmp or zynq"),
        ('vitis_max: "2025.1"', "vitis_max: 2025.1", "`vitis_max` must be text, not 2025.1"),
        ("clock_mhz: 220", "clock_mhz: 0", "`clock_mhz` must be a number from 50 to 800, not 0"),
        ("lut: 0.7", "lut: 1.5", "`lut` must be a number from 0 to 1, not 1.5"),
        ("lut: 0.7", "luts: 0.7", "`luts` is no key"),
        ("lut: 388160", "lut: -1", "`lut` must be a whole number from 0 to"),
        ("lut: 388160, ", "", "`lut` is missing"),
        ("name: SLR2", "name: SLR0", '`name` is "SLR0" a second time'),
        ('"DDR[3]"', '"DDR[0]"', '`name` is "DDR[0]" a second time'),
        ("slr: SLR2", "slr: SLR3", "`slr` must be one of the board's SLRs"),
        ("gb_per_s: 19.2", "gb_per_s: .inf", "`gb_per_s` must be a number from"),
        ("part: xcu200-fsgd2104-2-e", "", "`part` is missing"),
    ],
)
def test_wrong_board_files(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = changed(tmp_path, old, new)
    problem = problems_of(path)[0]
    assert problem.message.startswith(message)
    assert problem.place is not None and problem.place.file == str(path) and problem.place.line > 1


SLR_LINE = re.compile(r"\{name: SLR.*\}")


def with_slrs(folder: Path, kind: str, amount: int) -> Path:
    """The U200 with so much of a resource in each of its SLRs."""
    path = folder / "changed.yaml"
    slrs = SLR_LINE.sub(
        lambda line: re.sub(rf"\b{kind}: \d+", f"{kind}: {amount}", line[0]), U200.read_text(encoding="utf-8")
    )
    path.write_text(slrs, encoding="utf-8")
    return path


@pytest.mark.parametrize("kind", ["lut", "ff", "bram18"])
def test_a_board_without_what_every_kernel_needs(tmp_path: Path, kind: str) -> None:
    (problem,) = problems_of(with_slrs(tmp_path, kind, 0))
    assert problem.message == f"`slrs` have no {kind}, which every kernel needs"


@pytest.mark.parametrize(("kind", "amount"), [("dsp", 0), ("uram", 0), ("lut", 10**8), ("bram18", 10**8)])
def test_boards_with_little_and_with_much(tmp_path: Path, kind: str, amount: int) -> None:
    """All SLRs together may have more than one of them may say that it has."""
    path = with_slrs(tmp_path, kind, amount)
    assert getattr(load_board(path).total, kind) == 3 * amount
    (tmp_path / "small.yaml").write_text(re.sub(r"mapping: \{.*", "mapping: auto", DESIGN))
    total = hlsgen.load(tmp_path / "small.yaml", board=str(path)).estimate().as_json()["total"]
    assert total["interval_cycles"] > 0 and (kind != "dsp" or total["dsp"] == 0)


def test_a_memory_that_carries_nothing(tmp_path: Path) -> None:
    problem = problems_of(changed(tmp_path, "efficiency: 0.8", "efficiency: 0"))[0]
    assert problem.message.startswith("`efficiency` must be a number from 0.01 to 1, not 0")


@pytest.mark.parametrize(
    "part",
    [
        "xck26-sfvc784-2LV-c",
        "xcvu9p-flga2104-2L-e",
        "xcu280-fsvh2892-2L-e",
        "XCZU7EV-FFVC1156-2-E",
        "xcku5p-ffvb676-2-e",
        "xcau25p-ffvb676-2-e",
        "xazu3eg-sfvc784-1-i",
    ],
)
def test_parts_with_the_dsp_that_is_modelled(part: str, tmp_path: Path) -> None:
    assert load_board(changed(tmp_path, "part: xcu200-fsgd2104-2-e", f"part: {part}")).part == part


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ("xcvu9p-flga2104-2L-e", ""),
        ("xcvu190-flga2577-2-e", "of UltraScale+ parts, and xcvu190-flga2577-2-e is UltraScale:"),  # no plus
        ("xc7z045ffg900-2", "of UltraScale+ parts, and xc7z045ffg900-2 is Zynq-7000:"),
        ("engineering_sample\ndsp: DSP48E2", "engineering_sample is of no family that is known here"),
    ],
)
def test_cells_of_a_part_of_another_family_than_was_fitted(part: str, words: str, tmp_path: Path) -> None:
    path = with_slrs(tmp_path, "uram", 0)
    path.write_text(path.read_text().replace("part: xcu200-fsgd2104-2-e", f"part: {part}"))
    (tmp_path / "small.yaml").write_text(re.sub(r"mapping: \{.*", "mapping: auto", DESIGN))
    cost = hlsgen.load(tmp_path / "small.yaml", board=str(path)).estimate().as_json()["cost"]
    assert words in cost["routed"]["basis"] and words in cost["csynth"]["basis"]
    assert bool(words) == ("parts, and" in cost["routed"]["basis"])


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ("xc7z045ffg900-2", "a Zynq-7000 part, which has no URAM, but the SLRs have 800"),  # ZC706
        ("xc7vx690tffg1761-2", "a 7 series part, which has no URAM"),
        ("xcvc1902-vsva2197-2MP-e-S", "a Versal part: its DSP58 multiplies 27 x 24 bits"),  # VCK190
        ("xcv80-lsva4737-2MHP-e-S", "a Versal part: its DSP58"),
        ("xcku115-flvb2104-2-e", "a UltraScale part, which has no URAM, but the SLRs have 800"),
        ("10AX115S2F45I1SG", "whose family is not known, and so neither is its DSP"),  # Arria 10
        ("xc9z1-2", "whose family is not known"),
    ],
)
def test_parts_with_another_dsp_are_refused(part: str, words: str, tmp_path: Path) -> None:
    """Not built as if they were UltraScale+: DSPs would be counted for 27 x 18 bits and packed in 27."""
    path = changed(tmp_path, "part: xcu200-fsgd2104-2-e", f'part: "{part}"')
    (problem,) = problems_of(path)
    assert problem.message.startswith("`part` is") and words in problem.message
    assert "UltraScale" in problem.fix or "uram: 0" in problem.fix
    assert problem.place is not None and problem.place.line > 1


def test_a_part_of_no_known_name_can_say_what_dsp_it_has(tmp_path: Path) -> None:
    path = changed(tmp_path, "part: xcu200-fsgd2104-2-e", "part: engineering_sample\ndsp: DSP48E2")
    assert load_board(path).dsp == "DSP48E2"
    path = changed(tmp_path, "part: xcu200-fsgd2104-2-e", "part: xc7z020clg400-1\ndsp: DSP48E2")
    wrong = '`dsp` is DSP48E2, but "xc7z020clg400-1" is a Zynq-7000 part, which has DSP48E1'
    assert problems_of(path)[0].message == wrong
    path = changed(tmp_path, "part: xcu200-fsgd2104-2-e", "part: engineering_sample\ndsp: DSP48E1")
    assert load_board(path).multiplier.multiplier == "25 x 18"
    path = changed(tmp_path, "part: xcu200-fsgd2104-2-e", "part: engineering_sample\ndsp: DSP58")
    assert problems_of(path)[0].message.startswith("`dsp` must be DSP48E2 or DSP48E1")


def test_missing_data_folder_is_a_bug_not_a_design_error() -> None:
    with pytest.raises(FileNotFoundError, match="hlsgen has no nothing folder"):
        data_folder("nothing")


def test_a_copy_with_other_slrs_has_their_sum() -> None:
    board = load_board("u200")
    assert board.total.lut > 0
    slr = board.slrs[0].model_copy(update={"lut": 1000})
    assert board.model_copy(update={"slrs": (slr,)}).total.lut == 1000
