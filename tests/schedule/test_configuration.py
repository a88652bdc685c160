"""Configurations of Vitis HLS: what is read of them, what is refused, and what is named and not obeyed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hlsgen.base.errors import DesignError
from hlsgen.schedule.component import Target
from hlsgen.schedule.configuration import amount, components_of_build, read_config, split_flags
from hlsgen.schedule.moved_files import MovedFiles


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("300MHz", 10 / 3),
        ("0.3GHz", 10 / 3),
        ("3.33ns", 3.33),
        ("3.33", 3.33),
        (" 5 ns ", 5.0),
        ("1e1", 10.0),
        ("27%", 2.7),
        ("abc", None),
        ("", None),
        ("0MHz", None),
        ("1.2.3", None),
        ("5 s", None),
        ("-3ns", None),
    ],
)
def test_amounts(text: str, ns: float | None) -> None:
    assert amount(text, 10.0) == (None if ns is None else pytest.approx(ns))


CONFIG = """part=xczu7ev-ffvc1156-2-e
# syn.top=not_this
[hls]
clock = 200MHz
clock_uncertainty=10%
flow_target=vitis
syn.file=a.cpp
syn.file=src/b.cpp
tb.file=tb.cpp
syn.cflags=-Isrc -I include -DN=4 -DFAST -O3 -std=c++14 -fplugin=evil.so
syn.top=top
"""


def test_a_configuration_is_read(tmp_path: Path) -> None:
    path = tmp_path / "kernel.cfg"
    path.write_text(CONFIG, encoding="utf-8")
    found = read_config(path)
    assert found is not None
    assert found.top == "top"
    assert found.files == (tmp_path / "a.cpp", tmp_path / "src" / "b.cpp")
    assert found.include_folders == (tmp_path / "src", tmp_path / "include")
    assert dict(found.defines) == {"N": "4", "FAST": "1"}
    assert found.flags == ("-std=c++14",)
    assert found.target == Target(part="xczu7ev-ffvc1156-2-e", clock_ns=5.0, uncertainty_ns=0.5)
    assert components_of_build(tmp_path) == [replace(found, folder=tmp_path)]


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("clock = 200MHz", "clock = fast", "clock is 'fast'"),
        ("clock = 200MHz", "freqhz=fast", "freqhz is 'fast'"),
        ("clock = 200MHz", "freqhz=5NS", "freqhz is '5NS'"),
        ("clock = 200MHz", "freqhz=27%", "freqhz is '27%'"),
        ("clock = 200MHz", "freqhz=0", "freqhz is '0'"),
        ("clock = 200MHz", "platform=xilinx_zcu104_base_202510_1", "has no clock"),
        ("clock = 200MHz", "platform=my_own", "has no clock"),
        ("part=xczu7ev-ffvc1156-2-e\n", "", "has no part"),
        ("clock_uncertainty=10%", "clock_uncertainty=much", "clock_uncertainty is 'much'"),
        ("clock_uncertainty=10%", "clock_uncertainty=200%", "kept back"),
        ("part=xczu7ev-ffvc1156-2-e", "part=nonsense", "nothing is known of a part 'nonsense'"),
    ],
)
def test_a_wrong_configuration_is_named(tmp_path: Path, before: str, after: str, message: str) -> None:
    path = tmp_path / "kernel.cfg"
    path.write_text(CONFIG.replace(before, after), encoding="utf-8")
    with pytest.raises(DesignError) as caught:
        read_config(path)
    assert message in str(caught.value)
    assert caught.value.problems[0].fix


@pytest.mark.parametrize(
    ("lines", "part", "ns"),
    [
        ("part=xczu7ev-ffvc1156-2-e", "xczu7ev-ffvc1156-2-e", 10.0),  # the tool's default
        ("part=xczu7ev-ffvc1156-2-e\nfreqhz=200000000", "xczu7ev-ffvc1156-2-e", 5.0),
        ("platform=xilinx_vck190_base_202320_1\nfreqhz=312.5MHz", "xcvc1902-vsva2197-2MP-e-S", 3.2),
        ("platform=/opt/u250/xilinx_u250_gen3x16_xdma_4_1_202210_1.xpfm", "xcu250-figd2104-2L-e", 1000 / 300),
        ("platform=xilinx_zcu102_base_202320_1\nclock=8ns", "xczu9eg-ffvb1156-2-e", 8.0),
    ],
)
def test_the_clock_may_be_the_tools_or_the_platforms(
    tmp_path: Path, lines: str, part: str, ns: float
) -> None:
    path = tmp_path / "kernel.cfg"
    text = CONFIG.replace("part=xczu7ev-ffvc1156-2-e\n", f"{lines}\n").replace("clock = 200MHz\n", "")
    path.write_text(text, encoding="utf-8")
    found = read_config(path)
    assert found is not None
    assert found.target.part == part
    assert found.target.clock_ns == pytest.approx(ns)
    assert found.target.uncertainty_ns == pytest.approx(ns / 10)


def test_other_configurations_are_of_no_kernel(tmp_path: Path) -> None:
    path = tmp_path / "link.cfg"
    path.write_text("[connectivity]\nnk=top:1:top_1\n", encoding="utf-8")
    assert read_config(path) is None
    with pytest.raises(DesignError, match="holds no configuration of a kernel"):
        components_of_build(tmp_path)


def test_flags_of_a_command_line(tmp_path: Path) -> None:
    """Folders also as Windows has them."""
    line = r"""-DNAME=\"n\" -I'a b' -DA="it's" -I..\inc\top -DX=1=2 -D Y -DB="it's" -std=gnu++17 -Wall"""
    (tmp_path / "prj").mkdir()
    (tmp_path / "inc/top").mkdir(parents=True)
    includes, defines, flags = split_flags(line, MovedFiles(tmp_path / "prj").include_folder)
    assert includes == (tmp_path / "prj/a b", tmp_path / "inc/top")
    assert defines == {"X": "1=2", "Y": "1", "NAME": '"n"', "A": "it's", "B": "it's"}
    assert flags == ("-std=gnu++17",)


MOVED = r"""part=xczu7ev-ffvc1156-2-e
[hls]
clock=5ns
syn.top=fir
syn.file=D:/work/dsp/prj/fir.cpp
syn.file=E:\other\dsp\lib\taps.cpp
syn.file=/home/somebody/gone.cpp
syn.cflags=-ID:/work/dsp/lib/inc -IC:\Xilinx\include
"""


def test_files_of_another_machine_are_found_by_their_ends(tmp_path: Path) -> None:
    """JJstin/SmartSentry: full paths of the machine on which Vitis' editor wrote them. Each is told; of what
    is not there by any end the name stays."""
    project = tmp_path / "dsp/prj"
    for name in ("dsp/prj/fir.cpp", "dsp/lib/taps.cpp", "dsp/lib/inc/taps.h", "gone.cpp"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("", encoding="utf-8")
    path = project / "hls_config.cfg"
    path.write_text(MOVED, encoding="utf-8")
    found = read_config(path)
    assert found is not None
    fir, taps, gone = found.files
    assert fir.samefile(project / "fir.cpp") and taps.samefile(tmp_path / "dsp/lib/taps.cpp")
    assert gone == Path("/home/somebody/gone.cpp")  # a last name alone counts in the project's folder only
    assert found.include_folders[0].samefile(tmp_path / "dsp/lib/inc") and len(found.include_folders) == 2
    assert found.moved == tuple(
        f"{path}: {name} is not there: {there} is taken for it"
        for name, there in [
            ("D:/work/dsp/lib/inc", found.include_folders[0]),
            ("D:/work/dsp/prj/fir.cpp", fir),
            (r"E:\other\dsp\lib\taps.cpp", taps),
        ]
    )


def test_a_tool_that_was_run_in_a_folder_around(tmp_path: Path) -> None:
    """martmartalb/vitis_hls_brightness_match: config/hls_config.cfg names src/ip/brightness_match.cpp."""
    for name in ("src/b.cpp", "config/a.cpp"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("", encoding="utf-8")
    path = tmp_path / "config/kernel.cfg"
    path.write_text(CONFIG.replace("src/b.cpp", "./src/b.cpp"), encoding="utf-8")
    found = read_config(path)
    assert found is not None and len(found.moved) == 2  # and the folder src of -I
    assert found.files[0] == path.with_name("a.cpp") and found.files[1].samefile(tmp_path / "src/b.cpp")


def test_an_open_quote_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DesignError, match="open a quote that nothing closes"):
        split_flags("-DNAME='x", Path)


def test_the_flags_of_a_file_count(tmp_path: Path) -> None:
    path = tmp_path / "kernel.cfg"
    lines = "syn.file=a.cpp\nsyn.file=src/b.cpp\n"
    path.write_text(CONFIG.replace(lines, "syn.file_cflags=c.cpp,-Ideep -DC=2\n" + lines), encoding="utf-8")
    found = read_config(path)
    assert found is not None
    assert found.files == (tmp_path / "a.cpp", tmp_path / "src/b.cpp", tmp_path / "c.cpp")
    assert found.include_folders[-1] == tmp_path / "deep" and found.defines["C"] == "2"


def test_headers_that_a_configuration_lists_are_not_compiled(tmp_path: Path) -> None:
    """Andre-coder/KKNN-FPGA-Verilog-Vitis, as Vitis' own editor writes it: on its own each of them would be
    a file that defines what the others define."""
    path = tmp_path / "kernel.cfg"
    path.write_text(CONFIG.replace("syn.file=a.cpp", "syn.file=knn.h\nsyn.file=a.cpp"), encoding="utf-8")
    found = read_config(path)
    assert found is not None and found.files == (tmp_path / "a.cpp", tmp_path / "src/b.cpp")
    headers = CONFIG.replace("a.cpp", "knn.h").replace("syn.file=src/b.cpp\n", "")
    path.write_text(headers, encoding="utf-8")
    with pytest.raises(DesignError, match=r"syn\.file is .*, which is no C and no C\+\+ by its name"):
        read_config(path)


def test_a_file_of_another_language_is_named(tmp_path: Path) -> None:
    path = tmp_path / "kernel.cfg"
    path.write_text(CONFIG.replace("syn.file=a.cpp", "syn.file=a.cl"), encoding="utf-8")
    found = read_config(path)
    assert found is not None and found.files == (tmp_path / "src/b.cpp",)
    assert [one for one in found.ignored if "a.cl is no C" in one]


def test_nothing_of_a_clock_may_be_kept_back(tmp_path: Path) -> None:
    path = tmp_path / "kernel.cfg"
    path.write_text(CONFIG.replace("clock_uncertainty=10%", "clock_uncertainty=0"), encoding="utf-8")
    found = read_config(path)
    assert found is not None and found.target.uncertainty_ns == 0.0


def test_what_is_asked_for_goes_before(tmp_path: Path) -> None:
    """A share of the clock is one of the clock that is asked for."""
    path = tmp_path / "kernel.cfg"
    path.write_text(CONFIG, encoding="utf-8")
    found = read_config(path, {"part": "xcu200-fsgd2104-2-e", "clock": "10ns", "syn.top": "other"})
    assert found is not None and found.top == "other"
    assert found.target == Target(part="xcu200-fsgd2104-2-e", clock_ns=10.0, uncertainty_ns=1.0)


@pytest.mark.parametrize(
    ("option", "ignored"),
    [
        ("syn.compile.pipeline_loops=64", False),
        ("syn.compile.pipeline_loops=0", False),
        ("syn.compile.pipeline_loops=6", True),
        ("syn.compile.name_max_length=80", False),
        ("syn.compile.unsafe_math_optimizations=1", False),
        ("syn.compile.enable_auto_rewind=0", True),
        ("syn.op=op:mul impl:dsp", True),
        ("syn.rtl.reset=all", False),
    ],
)
def test_options_are_obeyed_or_named(tmp_path: Path, option: str, ignored: bool) -> None:
    path = tmp_path / "kernel.cfg"
    path.write_text(f"{option}\n{CONFIG}", encoding="utf-8")
    found = read_config(path)
    assert found is not None
    key = option.partition("=")[0]
    assert found.ignored == ((f"{path}:1: {key} is not obeyed",) if ignored else ())
    assert found.target.pipelines_unasked == (option != "syn.compile.pipeline_loops=0")
