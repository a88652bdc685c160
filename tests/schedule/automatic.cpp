// Loops without pragmas: test_automatic.py says which the vendor's compiler pipelines and which it unrolls.
#include <ap_fixed.h>
#include <hls_stream.h>

typedef ap_fixed<16, 3> word;

extern "C" void initialised(const word x[100][7], word y[100]) {
work:
    for (int i = 0; i < 100; ++i) {
#pragma HLS pipeline
        word sums[7] = {0};
        for (int j = 0; j < 7; ++j)
            sums[j] += x[i][j];
        y[i] = sums[0] + sums[6];
    }
}

extern "C" void pooled(const int in[6][6], int out[3][3]) {
    for (int i = 0; i < 3; ++i)
    parent:
        for (int j = 0; j < 3; ++j) {
            int most = 0;
            for (int k = 0; k < 2; ++k)
                for (int l = 0; l < 2; ++l)
                    most = in[2 * i + k][2 * j + l] > most ? in[2 * i + k][2 * j + l] : most;
            out[i][j] = most;
        }
}

extern "C" void wide(const int in[20][9][9], int out[20]) {
    for (int i = 0; i < 20; ++i) {
        int sum = 0;
    parent:
        for (int k = 0; k < 9; ++k)
        innermost:
            for (int l = 0; l < 9; ++l)
                sum += in[i][k][l];
        out[i] = sum;
    }
}

extern "C" void searched(const int in[20][8], int out[20]) {
    for (int i = 0; i < 20; ++i) {
        int at = 8;
    innermost:
        for (int k = 0; k < 8; ++k)
            if (in[i][k] == 0) {
                at = k;
                break;
            }
        out[i] = at;
    }
}

extern "C" void one_level(const int in[20][4][3], int parts[20][4], int out[20]) {
above:
    for (int i = 0; i < 20; ++i) {
        int sum = 0;
    parent:
        for (int k = 0; k < 4; ++k) {
            int most = 0;
            for (int l = 0; l < 3; ++l)
                most += in[i][k][l];
            parts[i][k] = most;
            sum += most;
        }
        out[i] = sum;
    }
}

extern "C" void split(const int in[23][20], int out[23]) {
    int rows[23][20];
#pragma HLS array_partition variable=rows complete dim=1
    for (int i = 0; i < 23; ++i)
        for (int j = 0; j < 20; ++j) {
#pragma HLS pipeline
            rows[i][j] = in[i][j] + out[i];
        }
parent:
    for (int j = 0; j < 20; ++j)
    innermost:
        for (int i = 0; i < 23; ++i)
            rows[i][j] += 3;
    for (int i = 0; i < 23; ++i) {
#pragma HLS pipeline
        out[i] = rows[i][in[i][0]];
    }
}

extern "C" void words_of_a_port(const float *words, float *out, int count) {
#pragma HLS interface m_axi port=words bundle=gmem0
#pragma HLS interface m_axi port=out bundle=gmem1
    int at = 0;
above:
    for (int n = 0; n < count; ++n) {
        float most = words[at];
        for (int k = 1; k < 8; ++k)
            most = most < words[at + k] ? words[at + k] : most;
        out[n] = most;
        at += 3;
    }
}

extern "C" void pooled_between_bounds(const float in[24 * 24], float out[12 * 12]) {
outer:
    for (int i = 0; i < 12; ++i)
    parent:
        for (int j = 0; j < 12; ++j) {
            float most = in[2 * i * 24 + 2 * j];
            for (int n = 2 * i; n < 2 * (i + 1); ++n)
            innermost:
                for (int m = 2 * j; m < 2 * (j + 1); ++m)
                    most = most < in[n * 24 + m] ? in[n * 24 + m] : most;
            out[12 * i + j] = most;
        }
}

// what assigns the words of a stream is no loop of its own beside those of a pixel
struct window_t {
    float elements[3][3];
    void operator=(const window_t &other) {
        for (int y = 0; y < 3; ++y)
            for (int x = 0; x < 3; ++x) elements[y][x] = other.elements[y][x];
    }
};
extern "C" void padded(hls::stream<window_t> &in, hls::stream<window_t> &out) {
    for (int y = 0; y < 28; ++y)
        parent: for (int x = 0; x < 28; ++x) {
            window_t window = in.read();
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j) {
                    const int row = y + i - 1, column = x + j - 1;
                    if (row < 0 || row >= 28 || column < 0 || column >= 28) window.elements[i][j] = 0;
                }
            out.write(window);
        }
}

// what is left by `continue`, behind a variable of its own, ends the loop nowhere else; words on AXI-lite that the
// loops around move are read in each iteration
extern "C" void convolved(const float in[6 * 14 * 14], const float weights[6 * 9], float out[14 * 14]) {
#pragma HLS interface s_axilite port=weights
    for (int c = 0; c < 6; ++c)
        for (int y = 0; y < 14; ++y)
        parent:
            for (int x = 0; x < 14; ++x) {
                float sum = 0;
                for (int i = 0; i < 3; ++i)
                    for (int j = 0; j < 3; ++j) {
                        int row = y + i - 1, column = x + j - 1;
                        if (row < 0 || row >= 14 || column < 0 || column >= 14)
                            continue;
                        sum += in[(c * 14 + row) * 14 + column] * weights[c * 9 + 3 * i + j];
                    }
                out[y * 14 + x] = sum;
            }
}

// a small nest that writes an AXI port
extern "C" void updated(const int in[20], int *out) {
#pragma HLS interface m_axi port=out bundle=host
parent:
    for (int i = 0; i < 4; ++i) {
        out[i] = in[i];
        for (int j = 0; j < 4; ++j)
            out[4 + 4 * i + j] = in[4 + 4 * i + j];
    }
}

// a perfect nest, until its outer loop is unrolled by two: the inner one stands in it twice
extern "C" void halved(const short image[400], const short weights[25], int *out) {
    int sum = 0;
parent:
    for (int i = 0; i < 5; ++i) {
#pragma HLS unroll factor = 2
    innermost:
        for (int j = 0; j < 5; ++j) sum += image[16 * i + j] * weights[5 * i + j];
    }
    *out = sum;
}

// eight bytes are put together in a small function, which is inlined before loops are looked at
static unsigned long long load64(const unsigned char x[8]) {
    unsigned long long r = 0;
    for (unsigned i = 0; i < 8; ++i) r |= (unsigned long long)x[i] << 8 * i;
    return r;
}
extern "C" void absorbed(unsigned long long state[25], const unsigned char in[136]) {
parent:
    for (unsigned i = 0; i < 17; ++i) state[i] ^= load64(in + 8 * i);
}

// so is one that multiplies a window, of some seventy instructions (ssramsanjeev/CNN_HLS, 2025.1: II 1)
typedef unsigned char pixel;
static void filtered(const pixel in[3][3], const pixel by[3][3], pixel& out) {
    unsigned short first = 0, second = 0, third = 0;
    for (int i = 0; i < 3; ++i) {
        first += in[i][0] * by[i][0];
        second += in[i][1] * by[i][1];
        third += in[i][2] * by[i][2];
    }
    out = first + second + third;
}
extern "C" void sharpened(const pixel windows[126][3][3], const pixel by[3][3], pixel out[126]) {
parent:
    for (int i = 0; i < 126; ++i) filtered(windows[i], by, out[i]);
}

// the loops of one such function are together, whoever calls it
static void scaled(const int in[64][8], int out[64]) {
parent:
    for (int i = 0; i < 64; ++i) {
        int sum = 0;
    innermost:
        for (int j = 0; j < 8; ++j) sum += in[i][j];
        out[i] = sum;
    }
}
extern "C" void each_scaled(const int in[4][64][8], int out[4][64]) {
above:
    for (int k = 0; k < 4; ++k) scaled(in[k], out[k]);
}
