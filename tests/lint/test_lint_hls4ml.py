"""The lint on what hls4ml writes: code that Vitis takes with a warning at each weight, and no error."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlsgen.lint import lint
from tests.support.command_line import document


@pytest.mark.parametrize("io_type", ["io_parallel", "io_stream"])
def test_a_project_of_hls4ml_has_no_error(tmp_path: Path, io_type: str) -> None:
    """Judge: the log of each such project that is public has HLS 214-113 at each weight, as a warning."""
    hls4ml = pytest.importorskip("hls4ml")
    torch = pytest.importorskip("torch")
    layers = torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(144, 5)
    model = torch.nn.Sequential(*layers)
    config = hls4ml.utils.config_from_pytorch_model(
        model, (1, 8, 8), granularity="name", default_precision="ap_fixed<16,6>", default_reuse_factor=4
    )
    hls4ml.converters.convert_from_pytorch_model(
        model,
        input_shape=(1, 8, 8),
        hls_config=config,
        output_dir=str(tmp_path / "project"),
        backend="Vitis",
        io_type=io_type,
    ).write()
    found = document("lint", str(tmp_path / "project/firmware/myproject.cpp"))
    assert found["errors"] == 0
    assert [one["rule"] for one in found["findings"]] == ["dataflow-global"] * 4


REGION = """#include <hls_stream.h>
void copy(hls::stream<int> &in, hls::stream<int> &out);
void f(hls::stream<int> &in, hls::stream<int> &out) {
#pragma HLS dataflow
    hls::stream<int> a("a");
    copy(in, a);
    NEXT
}
"""
READS = "copy(a, out);"
ONCE = "    if (out.empty()) copy(a, out);\n"
"""No stage of a dataflow region."""


@pytest.mark.parametrize(
    ("code", "rules"),
    [
        (f"{ONCE}", {"dataflow-condition"}),
        (f"{READS}\n#ifndef __SYNTHESIS__\n{ONCE}#endif\n", set()),
        (f"{READS}\n#ifndef __SYNTHESIS__  // of C-simulation\n{ONCE}#endif  // C-simulation\n", set()),
        (f"#ifdef __SYNTHESIS__\n    {READS}\n#else\n{ONCE}#endif\n", set()),
        (f"#ifdef __HLS_SYN__\n    {READS}\n#else\n{ONCE}#endif\n", set()),
        (f"{READS}\n#if !defined(AESL_SYN)\n{ONCE}#endif\n", set()),
        (f"#if defined(__SYNTHESIS__)\n    {READS}\n#else\n{ONCE}#endif\n", set()),
        (f"#if !defined __SYNTHESIS__\n{ONCE}#else\n    {READS}\n#endif\n", set()),
        (f"{READS}\n#ifndef __SYNTHESIS__\n#ifdef DEBUG\n{ONCE}#else\n{ONCE}#endif\n{ONCE}#endif\n", set()),
        (f"{READS}\n#ifndef __SYNTHESIS__\n#elif defined DEBUG\n#else\n#endif\n", set()),
        (f"#ifdef __SYNTHESIS__\n{ONCE}#else\n    {READS}\n#endif\n", {"dataflow-condition"}),
        (f"#ifdef __SYNTHESIS__\n{ONCE}#endif\n", {"dataflow-condition"}),
        ("#ifndef __SYNTHESIS__\n#pragma HLS pipelin\n#endif\n    copy(a, out);\n", set()),
        ("#ifdef __SYNTHESIS__\n#pragma HLS pipelin\n#endif\n    copy(a, out);\n", {"unknown-pragma"}),
        ("auto& b = a;\n    copy(b, out);\n", set()),
        ("auto& b = a;\n    auto& c = b;\n    copy(c, out);\n", set()),
        ("auto& b = in;\n    copy(b, out);\n", {"dataflow-consumer"}),
        ("copy(static_cast<hls::stream<int>&>(a), out);\n", set()),
        ("copy((hls::stream<int>&)a, out);\n", set()),
        ("copy(static_cast<hls::stream<int>&>(in), out);\n", {"dataflow-consumer"}),
        ("Narrower<8, 4> b(a, 3);\n    copy(b, out);\n", set()),
        ("Narrower<8, 4> b(a, 3 * 3);\n    copy(static_cast<hls::stream<int>&>(b), out);\n", set()),
        ("hls::stream<int> b;\n    copy(a, out);\n", set()),
        ("int n = 0;\n    n = counted(a);\n", {"dataflow-return"}),
        ("int n = 0;\n    n = a.read();\n", {"dataflow-return"}),
        ("switch (3) { case 3: copy(a, out); }\n", {"dataflow-condition"}),
        ("copy(a, out);\n    copy(a, in);\n", {"dataflow-consumer"}),
        ("ap_uint<3> b(7);\n", {"dataflow-consumer"}),
        ("for (int i = 0; i < 9; ++i) out.write(a.read());\n", {"dataflow-statement"}),
        ("copy(a, out);\n    for (int i = 0; i < 9; ++i) a.read();\n", {"dataflow-statement"}),
    ],
)
def test_what_is_not_synthesised_and_other_names(code: str, rules: set[str]) -> None:
    texts = {"region.cpp": REGION.replace("NEXT", code).encode()}
    found = {one.rule.name for one in lint(texts, texts.get).findings}
    assert found >= rules and bool(found) == bool(rules), found


@pytest.mark.parametrize(
    ("loop", "rules"),
    [
        ("for (int i = 0; i < 9; ++i) { parts[0].write(i); parts[1].write(i); }", {"dataflow-statement"}),
        ("for (int i = 0; i < 9; ++i) parts[i & 1].write(i);", {"dataflow-statement"}),
        ("", {"dataflow-producer"}),
    ],
)
def test_a_loop_in_a_region_is_a_stage(loop: str, rules: set[str]) -> None:
    """Xilinx/finn-hlslib splits a stream so in front of two stages (HLS 214-114, a warning)."""
    text = """#include <hls_stream.h>
void copy(hls::stream<int> &in, hls::stream<int> &out) { out.write(in.read()); }
void f(hls::stream<int> (&out)[2]) {
#pragma HLS dataflow
    hls::stream<int> parts[2];
    LOOP
    copy(parts[0], out[0]);
    copy(parts[1], out[1]);
}
"""
    files = {"split.cpp": text.replace("LOOP", loop).encode()}
    assert {one.rule.name for one in lint(files, files.get).findings} == rules
