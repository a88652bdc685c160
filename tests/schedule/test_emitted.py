"""What hlsgen emits compiles to IR with a mark for each pragma, and so do hls4ml's kernels."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hlsgen.base.output import write_files
from hlsgen.emit.dataflow import dataflow_files
from hlsgen.emit.plan import KernelNames
from hlsgen.hardware.conv_folding import Folding
from hlsgen.layers.conv2d import Conv2d
from hlsgen.schedule.front_end import FrontEnd, compile_to_ir
from hlsgen.targets.board import load_board
from hlsgen.timing.fifos import fifo_depths
from tests.support.header_programs import reference_include
from tests.support.kernels import conv, emit_kernel
from tests.support.layers.emitted import emitted_examples, pipeline_of_examples
from tests.support.schedule_ir import marks, needs_llvm, optimised

KERNELS = {
    "float": (conv((4, 12, 10), 4), Folding(rows=2, pe=2, simd=2, fabric_pe=1)),
    "packed": (
        conv((4, 12, 10), 4, input_type="fixed<8,3>", weight_type="fixed<8,1>", bias=False),
        Folding(rows=1, pe=4, simd=1, order="channels"),
    ),
}


def assert_marked(front: FrontEnd) -> None:
    """Every pragma has its mark, but those of templates and functions that nothing uses."""
    assert front.dropped == ()
    calls = re.findall(r"call void @_ZN9hls_marks(?:4here|8variable)\w*\(i32 noundef (\d+)", front.ir)
    marked = {front.pragmas[int(index)] for index in calls}
    unmarked = [pragma for pragma in front.pragmas if pragma not in marked]
    beside = [pragma for pragma in unmarked if Path(pragma.file).parent.name != "hlsgen"]
    assert {pragma.name for pragma in beside} <= {"inline"}
    assert {"interface", "pipeline", "unroll"} <= {pragma.name for pragma in marked}


@needs_llvm
@pytest.mark.parametrize("case", list(KERNELS))
def test_a_convolution_of_its_own_compiles(tmp_path: Path, case: str) -> None:
    layer, folding = KERNELS[case]
    assert isinstance(layer, Conv2d)
    emit_kernel(layer, folding, tmp_path)
    (source,) = (path for path in tmp_path.rglob("*.cpp") if not path.name.endswith("_tb.cpp"))
    assert_marked(compile_to_ir([source], include_folders=[source.parent]))


@needs_llvm
def test_every_template_of_a_stage_compiles(tmp_path: Path) -> None:
    pipeline = pipeline_of_examples(emitted_examples())
    pipeline = pipeline.with_depths(fifo_depths(pipeline))
    files = dataflow_files(pipeline, KernelNames(kernel="examples", source="test.yaml"), load_board("u200"))
    write_files(tmp_path, files)
    source = tmp_path / "src" / "examples.cpp"
    front = compile_to_ir([source], include_folders=[source.parent])
    assert_marked(front)
    assert "__hls_stream_read" in front.ir


HLS4ML = """#include "ap_fixed.h"
#include "nnet_utils/nnet_activation.h"
#include "nnet_utils/nnet_activation_stream.h"
#include "nnet_utils/nnet_batchnorm.h"
#include "nnet_utils/nnet_conv1d_stream.h"
#include "nnet_utils/nnet_conv2d.h"
#include "nnet_utils/nnet_conv2d_stream.h"
#include "nnet_utils/nnet_dense.h"
#include "nnet_utils/nnet_dense_stream.h"
#include "nnet_utils/nnet_layernorm.h"
#include "nnet_utils/nnet_merge_stream.h"
#include "nnet_utils/nnet_padding_stream.h"
#include "nnet_utils/nnet_pooling_stream.h"
#include "nnet_utils/nnet_recurrent.h"
#include "nnet_utils/nnet_sepconv2d_stream.h"
typedef ap_fixed<16, 6> T;
typedef nnet::array<T, 16> words;
struct dense_config : nnet::dense_config {
    static const unsigned n_in = 8, n_out = 16, io_type = nnet::io_parallel, strategy = nnet::latency;
    static const unsigned reuse_factor = 2, n_zeros = 0, n_nonzeros = 128, multiplier_limit = 64;
    static const bool store_weights_in_bram = false;
    typedef ap_fixed<24, 10> accum_t;
    typedef T bias_t;
    typedef T weight_t;
    typedef ap_uint<1> index_t;
    template <class X, class Y> using product = nnet::product::mult<X, Y>;
    template <class A, class B, class C> using kernel = nnet::DenseLatency<A, B, C>;
};
struct relu_config : nnet::activ_config {
    static const unsigned n_in = 16, table_size = 1024, io_type = nnet::io_parallel, reuse_factor = 1;
    typedef ap_fixed<18, 8> table_t;
};
void top(T x[8], T y[16], T w[128], T b[16], hls::stream<words> &in, hls::stream<words> &out) {
    #pragma HLS INTERFACE ap_vld port=x,y
    #pragma HLS ARRAY_RESHAPE variable=x complete dim=0
    #pragma HLS PIPELINE
    T h[16];
    #pragma HLS ARRAY_PARTITION variable=h complete dim=0
    nnet::dense<T, T, dense_config>(x, h, w, b);
    nnet::sigmoid<T, T, relu_config>(h, y);
    nnet::relu<words, words, relu_config>(in, out);
}
"""


@needs_llvm
def test_the_kernels_of_hls4ml_compile(tmp_path: Path) -> None:
    folder = reference_include().parent
    (tmp_path / "top.cpp").write_text(HLS4ML, encoding="utf-8")
    front = compile_to_ir([tmp_path / "top.cpp"], include_folders=[folder])
    assert front.dropped == ()
    found = [front.pragmas[index] for index, _, _ in marks(optimised(front.ir))]
    assert {"interface", "array_reshape", "array_partition", "pipeline", "unroll"} <= {
        one.name for one in found
    }
    # two of one pragma's variables have a mark each
    assert sum(one.name == "interface" for one in found) == 2
