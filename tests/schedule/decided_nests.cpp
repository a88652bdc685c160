// Nests, constants and calls of public designs in small: test_decided_nests.py says what the vendor's tool made of
// them.
#include <cmath>
#include <cstdio>
#include <ap_int.h>
#include <hls_stream.h>

const int POINTS = 64;
const int STAGES = int(log2(POINTS));
const ap_uint<8> NEXT = STAGES + 1;

extern "C" void computed_bound(int data[64]) {
work:
    for (int i = 0; i < STAGES; ++i)
        data[i] += NEXT;
}

extern "C" void printed(const int in[100], int out[100]) {
work:
    for (int i = 0; i < 100; ++i) {
        printf("%d\n", in[i]);
        out[i] = in[i] + 1;
    }
}

// sort_radix of MachSuite: sum[i] is read in front of the inner loop, which is unrolled
extern "C" void same_word(int bucket[2048], const int sum[128]) {
outer:
    for (int i = 0; i < 128; ++i)
    inner:
        for (int j = 0; j < 16; ++j)
            bucket[16 * i + j] += sum[i];
}

// its other nest: each iteration takes what the one before wrote
extern "C" void word_before(int bucket[2048]) {
outer:
    for (int i = 0; i < 128; ++i)
    inner:
        for (int j = 1; j < 16; ++j)
            bucket[16 * i + j] += bucket[16 * i + j - 1];
}

// nothing is read in front: one loop
extern "C" void moved(const int in[2048], int out[2048]) {
outer:
    for (int i = 0; i < 128; ++i)
    inner:
        for (int j = 0; j < 16; ++j)
            out[16 * i + j] = in[16 * i + j] + 1;
}

// a pragma about an array of the outer loop's body
extern "C" void split_within(const int in[64][64], int out[64][64]) {
outer:
    for (int i = 0; i < 64; ++i) {
        int words[32];
#pragma HLS array_partition variable=words complete
    inner:
        for (int k = 0; k < 64; k += 32) {
            for (int l = 0; l < 32; ++l) {
#pragma HLS unroll
                words[l] = in[i][k + l];
            }
            for (int l = 0; l < 32; ++l) {
#pragma HLS unroll
                out[i][k + l] = words[l] + 1;
            }
        }
    }
}

// counters of eight bits, in a type that C++ computes in int
extern "C" void narrow_counters(const unsigned char in[64][64], int out[64]) {
    unsigned char i, j;
outer:
    for (i = 0; i < 64; ++i) {
        int least = in[i][0];
    inner:
        for (j = 1; j < 64; ++j)
            if (in[i][j] < least)
                least = in[i][j];
        out[i] = least;
    }
}

// covariance of PolyBench: the nest is one loop, in which the sum begins anew
extern "C" void means(double n, const double data[100][80], double mean[80]) {
outer:
    for (int i = 0; i < 80; ++i) {
        mean[i] = 0.0;
    inner:
        for (int j = 0; j < 100; ++j)
            mean[i] += data[j][i];
        mean[i] /= n;
    }
}

// spmv_ellpack of MachSuite: what is read in front the nest writes, and the loops stay two
extern "C" void sums(const double data[100][80], double out[80]) {
outer:
    for (int i = 0; i < 80; ++i) {
        double sum = out[i];
    inner:
        for (int j = 0; j < 100; ++j)
            sum += data[j][i];
        out[i] = sum;
    }
}

static int product(const int a[8], const int b[8]) {
#pragma HLS inline off
#pragma HLS pipeline II=1
    int sum = 0;
    for (int i = 0; i < 8; ++i)
        sum += a[i] * b[i];
    return sum;
}

// a function that is pipelined as a whole, called beside a loop: the loop around both is none
extern "C" void called_beside(const int a[100][8], const int b[8], int out[100]) {
around:
    for (int t = 0; t < 4; ++t) {
    beside:
        for (int i = 0; i < 100; ++i)
            out[i] += a[i][t];
        out[t] = product(a[t], b);
    }
}

// called alone, it is a part of the loop's pipeline
extern "C" void called_alone(const int a[100][8], const int b[8], int out[100]) {
around:
    for (int t = 0; t < 100; ++t)
        out[t] = product(a[t], b);
}

// two indices of counters that nothing compares: whether they meet cannot be told
extern "C" void other_index(const int n, int h[256]) {
work:
    for (int i = 0; i < 256; ++i) {
#pragma HLS pipeline II=1
        h[(i * n) & 255] = h[i] * 3 + 1;
    }
}

// an index that is read: the tool knows no more of it
extern "C" void read_index(const unsigned char at[1000], const unsigned char other[1000], int h[256]) {
work:
    for (int i = 0; i < 1000; ++i) {
#pragma HLS pipeline II=1
        h[at[i]] = h[other[i]] * 3 + 1;
    }
}

// a function that turns bits around works on registers alone: its loop is unrolled within the other
static unsigned turned(unsigned x) {
    unsigned r = 0;
    for (int i = 0; i < 5; ++i) {
        r = (r << 1) | (x & 1);
        x >>= 1;
    }
    return r;
}

extern "C" void reordered(const int in[32], int out[32]) {
outer:
    for (int i = 0; i < 32; ++i)
        out[i] = in[turned(i)];
}

// the nest has four iterations, and a[i][k] is read in front of the inner loop: that is unrolled
extern "C" void small_product(const int a[2][2], const int b[2][2], int y[2][2]) {
#pragma HLS array_partition variable=a dim=2
#pragma HLS array_partition variable=b dim=2
#pragma HLS array_partition variable=y dim=2
outer:
    for (int i = 0; i < 2; ++i)
    inner:
        for (int j = 0; j < 2; ++j) {
            int sum = 0;
            for (int k = 0; k < 2; ++k) {
#pragma HLS unroll
                sum += a[i][k] * b[k][j];
            }
            y[i][j] = sum;
        }
}

// syr2k of PolyBench with AXI ports: the next word was asked for when the last one's write was answered
extern "C" void scaled(int *words) {
#pragma HLS interface m_axi port=words bundle=gmem
work:
    for (int i = 0; i < 1000; ++i) {
#pragma HLS pipeline II=1
        words[i] += 3;
    }
}

// a matrix behind its sizes: the constant of an index, col - 1, leads to a size (22naresn/GEMM gp.cpp, 2025.1: II 2)
struct Sized {
    int rows, cols;
    int words[64][64];
};

extern "C" void ends_by_a_word(const int in[4096], int rows, int cols, int *row) {
    static Sized sized;
    sized.rows = rows;
    sized.cols = cols;
    for (int i = 0; i < 4096; ++i)
        sized.words[i / 64][i % 64] = in[i];
    int found = -1;
work:
    for (int r = 0; r < sized.rows; ++r) {
        int word = sized.words[r][sized.cols - 1];
        if (word == 0)
            continue;
        if (word == 1) {
            found = r;
            break;
        }
    }
    *row = found;
}

// the copies of an unrolled loop multiply under branches of their own; 13 neighbours in 16 banks
// (zhren711/fastvit_hls dwconv_ip.cpp, 2024.2: II 1)
extern "C" void tile(const ap_int<8> words[4096], ap_int<8> out[13][13], int height, int width, int row, int pad) {
#pragma HLS array_partition variable=words cyclic factor=16
#pragma HLS bind_storage variable=words type=RAM_1P impl=BRAM
#pragma HLS array_partition variable=out complete dim=2
work:
    for (int r = 0; r < 13; ++r) {
#pragma HLS pipeline II=1
        for (int c = 0; c < 13; ++c) {
            const int at_r = row + r, at_c = c - pad;
            const bool inside = at_r >= 0 && at_r < height && at_c >= 0 && at_c < width;
            out[r][c] = inside ? words[at_r * width + at_c] : ap_int<8>(0);
        }
    }
}

// sums that an index chooses among registers (kabazoka/NTU-Special-Project-on-AAHLS matrix_mul.cpp, 2022.1: II 4)
extern "C" void adds_to_chosen(const float in[16], float out[16]) {
    float sums[16];
#pragma HLS array_partition variable=sums complete
    for (int i = 0; i < 16; ++i)
#pragma HLS unroll
        sums[i] = out[i];
work:
    for (int i = 0; i < 16; ++i) {
#pragma HLS pipeline II=1
        sums[i] += in[i];
    }
    for (int i = 0; i < 16; ++i)
#pragma HLS unroll
        out[i] = sums[i];
}

// a callee splits eight bytes of what a pointer leads to (j1hye0n/vitis_hls fips202.c, 2024.2: II 4)
static unsigned long long eight(const unsigned char bytes[8]) {
#pragma HLS inline
#pragma HLS array_partition variable=bytes complete
    unsigned long long word = 0;
    for (int i = 0; i < 8; ++i)
#pragma HLS unroll
        word |= (unsigned long long)bytes[i] << (8 * i);
    return word;
}

extern "C" void absorbed(const unsigned char *in, unsigned long long out[17], int from) {
#pragma HLS interface mode=ap_memory port=in depth=2048
work:
    for (int i = 0; i < 17; ++i) {
#pragma HLS pipeline II=1
        out[i] = eight(&in[from + 8 * i]);
    }
}

// sixteen parts of one word, each read under a branch (hijoouzc/UpConv_Block_HLS, 2024.2: II 1)
extern "C" void parts_of_a_word(const ap_uint<256> in[64], ap_uint<256> out[64], int many) {
#pragma HLS interface mode=ap_memory port=in
work:
    for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        ap_uint<256> word = 0;
        for (int part = 0; part < 16; ++part) {
#pragma HLS unroll
            if (16 * i + part < many)
                word.range(16 * part + 15, 16 * part) = in[i].range(16 * part + 15, 16 * part) * 3;
        }
        out[i] = word;
    }
}

// a chain of four elements, each of which keeps its word and hands on those of the elements behind it
static void element(hls::stream<int> &before, hls::stream<int> &behind, int out[2], const unsigned at) {
    int kept[2];
rows:
    for (unsigned row = 0; row < 2; ++row) {
        if (at < 3) {
        words:
            for (unsigned word = 0; word < 4 - at; ++word) {
#pragma HLS pipeline II=1
                const int read = before.read();
                if (word == 0)
                    kept[row] = read;
                else
                    behind.write(read);
            }
        } else {
#pragma HLS pipeline II=1
            kept[row] = before.read();
        }
    }
sums:
    for (unsigned row = 0; row < 8; ++row) {
#pragma HLS pipeline II=1
        out[row % 2] = kept[row % 2];
#pragma HLS dependence variable=kept inter false
    }
}

extern "C" void elements(hls::stream<int> pipes[5], int out[4][2]) {
#pragma HLS array_partition variable=pipes complete
#pragma HLS array_partition variable=out complete dim=1
    for (unsigned at = 0; at < 4; ++at) {
#pragma HLS unroll
        element(pipes[at], pipes[at + 1], out[at], at);
    }
}
