// Arrays that are split by pragmas that stand elsewhere, and by the vendor's compiler for itself, and what becomes of
// loops around.
#include "ap_fixed.h"
#include "ap_int.h"
#include "hls_stream.h"

// two copies of a word that is read and written, in a loop that nobody asked to pipeline
void halves(hls::stream<int> &in, hls::stream<int> &out, int columns) {
    int sums[128];
    for (int i = 0; i < columns; ++i)
        sums[i & 127] = in.read();
    work: for (int i = 0; i < columns; ++i) {
#pragma HLS unroll factor=2
        sums[i] = 2 * sums[i] - 256;
    }
    for (int i = 0; i < columns; ++i)
        out.write(sums[i & 127]);
}

// a function that splits the row which it is given
static void four_words(ap_uint<64> row[64], unsigned *address, hls::stream<ap_uint<256> > &in, int *left) {
#pragma HLS inline
#pragma HLS array_partition variable=row type=cyclic factor=4
    const ap_uint<256> word = in.read();
    const int taken = *left < 4 ? *left : 4;
    *left -= taken;
    for (int i = 0; i < 4; ++i) {
#pragma HLS unroll
        row[*address + i] = word.range(64 * i + 63, 64 * i);
    }
    *address += taken;
}
void rows_given(hls::stream<ap_uint<256> > &in, ap_uint<64> *out, int words, int each) {
    ap_uint<64> weights[2][64];
#pragma HLS array_partition variable=weights type=block factor=2 dim=1
    unsigned row = 0, address = 0;
    int left = each;
    work: for (int i = 0; i < words; ++i) {
#pragma HLS pipeline
        four_words(weights[row], &address, in, &left);
        if (left <= 0) {
            left = each;
            address = 0;
            ++row;
        }
    }
    *out = weights[words & 1][each & 63];
}

// structs with arrays, in an array that a pragma splits
struct box {
    float least[8];
    float most[8];
    float middle[8];
};
static box boxes[4][16];
void structs_split(const float at[8], float to[8], int which, unsigned char count) {
#pragma HLS array_partition variable=boxes dim=2 cyclic factor=2
    if (which < 0) {
        for (int i = 0; i < 8; ++i) {
#pragma HLS pipeline off
            to[i] = boxes[-which][count].least[i] + boxes[-which][count].most[i] + boxes[-which][count].middle[i];
        }
        return;
    }
    work: for (int i = 0; i < 8; ++i) {
#pragma HLS pipeline II=1
        boxes[which][count].least[i] = boxes[which][count].most[i] = boxes[which][count].middle[i] = at[i];
    }
}

// the greatest of 2 x 2 pixels of four channels, of two rows of a memory of a named kind
void two_rows(hls::stream<ap_int<32> > &in, hls::stream<ap_int<32> > &out, int height, int width) {
    ap_int<8> rows[2][256][4];
#pragma HLS array_partition variable=rows complete dim=3
#pragma HLS bind_storage variable=rows type=ram_2p impl=lutram
    for (int y = 0; y < height; ++y) {
        const int row = y & 1;
        work: for (int x = 0; x < width; ++x) {
#pragma HLS pipeline II=1
            const ap_int<32> word = in.read();
            for (int c = 0; c < 4; ++c) {
#pragma HLS unroll
                rows[row][x][c] = word.range(8 * c + 7, 8 * c);
            }
            if ((y & 1) && (x & 1)) {
                ap_int<32> all = 0;
                for (int c = 0; c < 4; ++c) {
#pragma HLS unroll
                    const ap_int<8> a = rows[0][x - 1][c], b = rows[0][x][c], d = rows[1][x - 1][c], e = rows[1][x][c];
                    ap_int<8> greatest = a;
                    if (b > greatest) greatest = b;
                    if (d > greatest) greatest = d;
                    if (e > greatest) greatest = e;
                    all.range(8 * c + 7, 8 * c) = greatest;
                }
                out.write(all);
            }
        }
    }
}

// a pipelined loop of one iteration between others: the pixels are the pipeline
void one_channel(hls::stream<float> &in, const float weights[4], hls::stream<float> &out) {
    float sums[4];
#pragma HLS array_partition variable=sums complete
    for (int y = 0; y < 10; ++y) {
        work: for (int x = 0; x < 10; ++x) {
            for (int o = 0; o < 4; ++o) {
#pragma HLS unroll
                sums[o] = 0;
            }
            for (int c = 0; c < 1; ++c) {
#pragma HLS pipeline II=1
                const float pixel = in.read();
                for (int o = 0; o < 4; ++o)
                    sums[o] += pixel * weights[o + c];
            }
            for (int o = 0; o < 4; ++o)
                out.write(sums[o] > 0 ? sums[o] : 0);
        }
    }
}

void pooled(const ap_fixed<16, 3> in[36], ap_fixed<16, 3> out[25]) {
    ap_fixed<16, 3> kept[1][6][6] = {0};
    for (int i = 0; i < 6; ++i) {
        for (int j = 0; j < 6; ++j) {
#pragma HLS pipeline
            kept[0][i][j] = in[i * 6 + j];
        }
    }
    for (int i = 0; i < 5; ++i) {
    work:
        for (int j = 0; j < 5; ++j) {
#pragma HLS pipeline
            out[i * 5 + j] = kept[0][i][j] + kept[0][i + 1][j] + kept[0][i][j + 1] + kept[0][i + 1][j + 1];
        }
    }
}
