"""Code that Vitis took without an error, by the logs beside it: the lint has none either."""

from __future__ import annotations

import pytest

from hlsgen.lint import Severity, lint

UNBRACED = """void f(int *x, int n) {
    for (int i = 0; i < 9; ++i)
#pragma HLS UNROLL
        x[i] = 1;
    for (int i = 0; i < n; ++i)
#pragma HLS loop_tripcount min=1 max=9
        for (int j = 0; j < n; ++j)
#pragma HLS loop_tripcount min=1 max=7
#pragma HLS pipeline II=1
        {
            x[i] = j;
        }
}
"""
"""HeRCLab/LSTM_accelerator, and the vendor's own Vitis_Libraries: no braces around a loop's body."""


def found(text: str) -> list[str]:
    files = {"a.cpp": text.encode()}
    return [one.rule.name for one in lint(files, files.get).findings]


def test_pragmas_of_a_loop_without_braces() -> None:
    assert found(UNBRACED) == []


@pytest.mark.parametrize(
    ("before", "rule"),
    [
        ("x[0] = 1;\n", "outside-loop"),
        ("for (int i = 0; i < 9; ++i) x[i] = 1;\n", "outside-loop"),
        ("for (int i = 0; i < 9; ++i) {}\n", "outside-loop"),
    ],
)
def test_behind_a_loop_is_not_in_it(before: str, rule: str) -> None:
    assert found(f"void f(int *x) {{\n{before}#pragma HLS unroll\n    x[1] = 2;\n}}\n") == [rule]


def test_a_template_whose_arguments_end_in_brackets_is_called() -> None:
    """awai54st/LUTNet: the parser takes the last bracket for a comparison."""
    text = """#include <hls_stream.h>
#include <ap_int.h>
template <int A, typename T> void work(T &in, T &out) { for (int i = 0; i < A; ++i) out.write(in.read()); }
void f(hls::stream<ap_uint<8>> &in, hls::stream<ap_uint<8>> &out) {
#pragma HLS dataflow interval=1
    hls::stream<ap_uint<8>> s("s");
    work<64 * 2, hls::stream<ap_uint<4 * 2>>>(in, s);
    work<64 * 2, hls::stream<ap_uint<4*2>>>(s, out);
}
"""
    assert found(text) == ["deprecated"]
    assert "dataflow-consumer" in found(text.replace(">>>(s, out)", ">>>(in, out)"))


def test_two_pragmas_of_one_loop_without_braces_contradict_each_other() -> None:
    text = UNBRACED.replace("#pragma HLS pipeline II=1", "#pragma HLS loop_tripcount min=2 max=3")
    assert found(text) == ["conflicting-pragmas"]


@pytest.mark.parametrize(
    ("first", "second", "rules"),
    [
        ("parts->a", "parts->b", []),  # projetoChi2p/ursa
        ("parts->a", "parts->a", ["conflicting-pragmas"]),
    ],
)
def test_members_are_partitioned_each_for_itself(first: str, second: str, rules: list[str]) -> None:
    split = "#pragma HLS array_partition variable={} {}\n"
    text = "struct P { int a[8]; int b[8]; };\nvoid f(P *parts) {\n"
    text += split.format(first, "complete") + split.format(second, "cyclic factor=2") + "}\n"
    assert found(text) == rules


@pytest.mark.parametrize(
    ("first", "second", "rules"),
    [("in[0]", "in[1]", []), ("in[0]", "in[0]", ["conflicting-pragmas"])],
)
def test_streams_of_an_array_have_each_a_depth(first: str, second: str, rules: list[str]) -> None:
    """Siddhartha123/zprize_msm_cloud_sync."""
    depths = f"#pragma HLS stream variable={first} depth=2\n#pragma HLS stream variable={second} depth=1\n"
    text = "#include <hls_stream.h>\nvoid f(int *x) {\n    hls::stream<int> in[2];\n" + depths + "}\n"
    assert found(text) == rules


@pytest.mark.parametrize(("width", "wide"), [(108, False), (1024, False), (1025, True)])
def test_ap_int_max_w_counts_in_steps_of_1024(width: int, wide: bool) -> None:
    """windy07/PDS_YOLO: what FINN writes around a converter of widths."""
    text = f"#define AP_INT_MAX_W 27\n#include <ap_int.h>\nvoid f(ap_uint<{width}> *x) {{\n"
    assert ("int-width" in found(text + "#pragma HLS inline\n}\n")) == wide


def test_a_copy_reads_and_writes() -> None:
    """nguyencanhtrung/vivado-hls-practice, but that the copy is the only stage here that has the array."""
    text = """#include <string.h>
void twice(const int *x, int *y) { for (int i = 0; i < 64; ++i) y[i] = 2 * x[i]; }
void f(const int *in, int *out) {
#pragma HLS dataflow
    int a[64], b[64];
    memcpy(a, in, sizeof(a));
    twice(a, b);
    memcpy(out, b, sizeof(b));
}
"""
    assert "dataflow-consumer" not in found(text) and "dataflow-producer" not in found(text)
    lost = found(text.replace("twice(a, b);", ""))
    assert "dataflow-producer" in lost


def test_a_region_ends_with_what_it_returns() -> None:
    """Johnnyjax/Cholesky_HPC: the top returns 0."""
    text = "void g(int *x);\nint f(int *x) {\n#pragma HLS dataflow\n    g(x);\n    return 0;\n}\n"
    assert found(text) == []
    early = text.replace("    g(x);\n    return 0;\n", "    return 0;\n    g(x);\n")
    assert found(early) == ["dataflow-exit"]


def test_rules_of_the_canonical_form_are_warnings() -> None:
    files = {
        "a.cpp": b"""void g(int *x, int n);
int h(int *x);
void f(int *x, int n) {
#pragma HLS dataflow
    if (n) g(x, 1);
    n = h(x);
    g(x, n + 1);
}
"""
    }
    said = {one.rule.name: one.rule.severity for one in lint(files, files.get).findings}
    assert {"dataflow-condition", "dataflow-return", "dataflow-argument"} <= set(said)
    assert {said[name] for name in said if name != "dataflow-consumer"} == {Severity.WARNING}


@pytest.mark.parametrize(
    ("array", "call", "rules"),
    [
        ("const int a[4] = {3, 1, 4, 1};", "drain(a, x);", []),  # xmihol00/pynq_ml
        ("int a[4];", "drain(a, x);", ["dataflow-producer"]),
        ("int a[4];", "fill(a, 3);", []),  # onioncc/GNN_Acc: room that one stage alone uses
    ],
)
def test_arrays_may_be_tables_or_room(array: str, call: str, rules: list[str]) -> None:
    text = """void fill(int (&y)[4], int n) { for (int i = 0; i < 4; ++i) y[i] = n; }
void drain(const int (&y)[4], int *out) { for (int i = 0; i < 4; ++i) out[i] = y[i]; }
"""
    assert found(f"{text}void f(int *x) {{\n#pragma HLS dataflow\n    {array}\n    {call}\n}}\n") == rules


def test_a_stage_whose_value_is_taken_has_its_streams() -> None:
    """QSHANSSS/ESE5320_SoC: length = lzw_compute(instream, ..., outstream)."""
    text = """#include <hls_stream.h>
void copy(hls::stream<int> &in, hls::stream<int> &out) { out.write(in.read()); }
int counted(hls::stream<int> &in) { return in.read(); }
int f(hls::stream<int> &in) {
#pragma HLS dataflow
    hls::stream<int> s;
    int n = 0;
    copy(in, s);
    n = counted(s);
    return n;
}
"""
    assert found(text) == ["dataflow-return"]


@pytest.mark.parametrize(
    ("second", "rules"), [("streams[1], out[1]", []), ("streams[0], out[1]", ["dataflow-consumer"])]
)
def test_a_task_is_given_elements(second: str, rules: list[str]) -> None:
    """minsikky/PDES-FPGA-VITIS: hls::task t_0(lpcore_kernel<0>, streams[0], ...)."""
    text = """#include <hls_task.h>
template <int N> void core(hls::stream<int> &in, hls::stream<int> &out) { out.write(in.read()); }
void deal(hls::stream<int> &in, hls::stream<int> (&out)[2]) { out[0].write(in.read()); out[1].write(1); }
void f(hls::stream<int> &in, hls::stream<int> (&out)[2]) {
#pragma HLS dataflow
    hls::stream<int> streams[2];
    hls::task t_in(deal, in, streams);
    hls::task t_0(core<0>, streams[0], out[0]);
    hls::task t_1(core<1>, SECOND);
}
"""
    assert found(text.replace("SECOND", second)) == rules
