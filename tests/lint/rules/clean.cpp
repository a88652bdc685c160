// Spellings that the vendor's front end takes, all of them: nothing is found here.
#include <ap_int.h>
#include "hls_stream.h"

#define DEPTH 64
#define STAGE(run, ...) run(__VA_ARGS__)
#define PACK(x)

namespace layer {

constexpr int ROWS = 4, COLUMNS = 2 * ROWS + (ROWS > 2 ? 1 : 0);
const unsigned MASK = 0xF & ~1;
enum { TAPS = 9 };
static const int TABLE[TAPS] = {};

template <typename T, int N>
struct word {
    T lane[N];

    T sum() const {
#pragma HLS inline
#pragma HLS array_partition variable=lane complete
        T all = 0;
        for (int n = 0; n < N; ++n) {
#pragma HLS unroll
            all += lane[n];
        }
        return all;
    }
};

template <int FACTOR, typename T>
void spread(const T (&from)[ROWS][COLUMNS], T (&to)[ROWS][COLUMNS]) {
#pragma HLS INLINE OFF
#pragma hls Array_Partition Variable=to Dim = 2 Type = Cyclic Factor = FACTOR / 2
#pragma HLS array_partition variable=from block factor=2 dim=1 // behind the words
#pragma HLS array_reshape variable=from dim=2 \
    cyclic factor=(COLUMNS - 1) / 2
    rows: for (int r = 0; r < ROWS; ++r) {
#pragma HLS loop_tripcount min=1 max=ROWS avg=2
#pragma HLS loop_flatten off
        columns: for (int c = 0; c < COLUMNS; ++c) {
#pragma HLS pipeline II=1 style=flp
#pragma HLS dependence variable=to inter RAW distance=FACTOR true
#pragma HLS dependence variable=to type=intra dependent=false direction=war
#pragma HLS dependence class=array inter false
            to[r][c] = from[r][c];
        }
    }
}

void load(const ap_uint<512> *memory, hls::stream<int> &out, int words) {
#pragma HLS inline off
    unsigned const STEP = 4;
    words: for (int i = 0; i < words; i += STEP) {
#pragma HLS pipeline rewind II=STEP /* as many as there are */ style=stp
#pragma HLS loop_tripcount max=1024
        out.write((int)memory[i]);
    }
}

void work(hls::stream<int> &in, hls::stream<int> &out, hls::stream<int> (&parts)[2], int words) {
    static int state[2][COLUMNS];
#pragma HLS array_partition variable=state dim=0 complete
#pragma HLS bind_storage variable=state type=ram_2p impl=lutram latency=1
#pragma HLS reset variable=state
    int kept[TAPS], total = 0;
#pragma HLS array_partition variable=kept
#pragma HLS bind_storage variable=TABLE type=rom_np impl=bram
#pragma HLS bind_op variable=total op=add impl=dsp latency=2
#pragma HLS bind_op variable=total op=mul
#pragma HLS expression_balance off
#pragma HLS allocation operation instances=mul limit=2
#pragma HLS allocation type=function instances=load limit=MASK
#pragma HLS allocation function instances=spread<2, \
    int> limit=1
    PACK(kept)
    auto twice = [](int x) {
#pragma HLS inline
        return 2 * x;
    };
    for (int i = 0; i < words; ++i) {
#pragma HLS pipeline off
#pragma HLS latency min=1 max=8
        total = twice(in.read());
        if (total > 0) {
#pragma HLS occurrence cycle=4
            out.write(total + TABLE[i % TAPS] + state[i & 1][0] + kept[0]);
        }
        {
#pragma HLS protocol mode=fixed
            parts[0].write(i);
        }
    }
    do {
#pragma HLS unroll factor=2 skip_exit_check
#pragma HLS performance target_ti=1000 target_tl=2e3
        parts[1].write(total--);
    } while (total > 0);
    _Pragma("HLS stable variable=total")
}

void store(hls::stream<int> &in, hls::stream<int> (&parts)[2], hls::burst_maxi<ap_uint<512> > memory, int words) {
    for (int i = 0; i < words; ++i) {
        const int part = parts[0].read() + parts[1].read();
        memory.write(in.read() + part);
    }
}

void fill(int block[ROWS], int n) {
    for (int r = 0; r < ROWS; ++r) block[r] = n;
}
void drain(const int block[ROWS], hls::stream<int> &out) {
    for (int r = 0; r < ROWS; ++r) out << block[r];
}
void sink(hls::stream<int> &in) { in.read(); }

}  // namespace layer

struct pair {
    int a, b;
};

extern "C" void clean(const ap_uint<512> *input, hls::burst_maxi<ap_uint<512> > output, ap_uint<8> *narrow,
                      hls::stream<int> &axis, int local[DEPTH], pair *pairs, int words, int &flag) {
#pragma HLS interface m_axi port=input offset=slave bundle=gmem0 max_widen_bitwidth=512 num_read_outstanding=32 max_read_burst_length=64 depth=DEPTH
#pragma HLS interface mode=m_axi port=output offset=slave bundle=gmem1 num_write_outstanding=16 max_write_burst_length=256 latency=64
#pragma HLS interface m_axi port=narrow,pairs bundle="gmem2" offset=direct name=narrow_port channel=1
#pragma HLS interface axis register both port=axis depth=16
#pragma HLS interface bram port=local storage_type=ram_1p latency=2
#pragma HLS interface ap_none register port=words
#pragma HLS interface ap_vld port=flag
#pragma HLS interface s_axilite port=input bundle=control offset=0x10
#pragma HLS interface s_axilite port=return bundle=control
#pragma HLS interface ap_ctrl_chain port=return
#pragma HLS stable variable=words
#pragma HLS aggregate variable=pairs compact=auto
#pragma HLS dataflow disable_start_propagation
    hls::stream<int, 4> first("first");
    hls::stream<int> second("second");
#pragma HLS stream variable=second depth=DEPTH type=fifo
    hls::stream<int> parts[2];
#pragma HLS stream variable=parts depth=4
    assert(words % 8 == 0 && "whole words");
    STAGE(layer::load, input, first, words);
    layer::work(first, second, parts, words);
    layer::store(second, parts, output, words);
}

void blocks(hls::stream<int> &out, int n) {
    rounds: for (int i = 0; i < 8; i++) {
#pragma HLS dataflow
        int block[layer::ROWS];
#pragma HLS stream variable=block type=pipo depth=2
#pragma HLS array_partition variable=block complete
        layer::fill(block, n);
        layer::drain(block, out);
    }
}

void deal(hls::stream<int> (&out)[2], int n) {
    for (int i = 0; i < n; ++i) out[i % 2].write(i);
}
void take(hls::stream<int> &in, int n) {
    for (int i = 0; i < n; ++i) in.read();
}
void dealt(int n) {
#pragma HLS dataflow
    hls::stream<int> each[2];
#pragma HLS stream variable=each depth=2
    deal(each, n);
    take(each[0], n);
    take(each[1], n);
}

void pairs_of(pair (&x)[2]) {
#pragma HLS disaggregate variable=x
#pragma HLS aggregate variable=x bit
#pragma HLS function_instantiate variable=x
#pragma HLS inline
#pragma HLS inline recursive
#pragma HLS top name=pairs_of
    for (pair &one : x) {
#pragma HLS pipeline
        one.a = one.b;
    }
    // #pragma HLS nothing
    const char *text = "\
#pragma HLS nothing";
    (void)text;
}
struct index {
    int value;

    operator int() const {
#pragma HLS inline
        return value;
    }
};
#pragma GCC diagnostic push
#pragma once
