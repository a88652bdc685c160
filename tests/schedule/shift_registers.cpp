// Shift registers of the vendor's library, as line buffers of streams.

#include <ap_fixed.h>
#include <ap_shift_reg.h>
#include <hls_stream.h>

extern "C" {

// the rows of a picture above the one that arrives; the larger of the two words of a column
void rows_above(hls::stream<ap_fixed<16, 6>> &in, hls::stream<ap_fixed<16, 6>> &out) {
    static ap_shift_reg<ap_fixed<16, 6>, 32> line;
    for (int i = 0; i < 1024; i++) {
#pragma HLS pipeline II=1
        const ap_fixed<16, 6> word = in.read();
        const ap_fixed<16, 6> above = line.shift(word);
        out.write(above > word ? above : word);
    }
}

// a register behind the other, moved under a condition
void two_rows(hls::stream<ap_fixed<16, 6>> &in, hls::stream<ap_fixed<16, 6>> &out, const bool moves[1024]) {
    static ap_shift_reg<ap_fixed<16, 6>, 32> lines[2];
#pragma HLS array_partition variable=lines complete
    for (int i = 0; i < 1024; i++) {
#pragma HLS pipeline II=1
        ap_fixed<16, 6> word = in.read();
        for (int row = 0; row < 2; row++) {
            word = lines[row].shift(word, 31, moves[i]);
        }
        out.write(word);
    }
}

// one register that is moved twice in an iteration
void moved_twice(const int in[1024], int out[1024]) {
    static ap_shift_reg<int, 16> line;
    for (int i = 0; i < 1024; i++) {
#pragma HLS pipeline II=1
        out[i] = line.shift(line.shift(in[i]) + i);
    }
}

// one that an index looks into
void looked_into(const unsigned char at[1024], int out[1024]) {
    static ap_shift_reg<int, 16> line;
    for (int i = 0; i < 1024; i++) {
#pragma HLS pipeline II=1
        out[i] = line.shift(i, at[i] & 15);
    }
}
}
