// Tables of numbers that no `const` names, as hls4ml's networks have their weights.

#include <ap_fixed.h>

typedef ap_fixed<8, 2> word_t;
typedef ap_fixed<20, 8> sum_t;

word_t never_written[4] = {0.25, 0.5, -0.328125, 0.015625};
word_t written[4] = {0.25, 0.5, -0.328125, 0.015625};
word_t other[4] = {0.75, 0.25, 0.5, 1.0};

static sum_t product(const word_t data[4], const word_t weights[4]) {
    sum_t sum = 0;
    for (int i = 0; i < 4; i++) {
#pragma HLS unroll
        sum += data[i] * weights[i];
    }
    return sum;
}

static void alone(const word_t data[4], const word_t weights[4], sum_t out[1]) {
#pragma HLS pipeline II=1
#pragma HLS array_partition variable=data complete
#pragma HLS array_partition variable=weights complete
    out[0] = product(data, weights);
}

static void with_either(const word_t data[4], const word_t weights[4], sum_t out[1]) {
#pragma HLS pipeline II=1
#pragma HLS array_partition variable=data complete
#pragma HLS array_partition variable=weights complete
    out[0] = product(data, weights);
}

extern "C" void layer(const word_t in[64][4], sum_t out[64][4], int exchanged) {
#pragma HLS array_partition variable=in complete dim=2
    written[exchanged & 3] = 1;
    for (int i = 0; i < 64; i++) {
        word_t data[4];
        for (int k = 0; k < 4; k++) data[k] = in[i][k];
        alone(data, never_written, &out[i][0]);
        with_either(data, other, &out[i][1]);
        with_either(data, written, &out[i][2]);
        out[i][3] = product(data, written);
    }
}

// products of 8 x 8 bits with sums behind them, without and with a limit on multipliers
extern "C" void merged(const signed char a[64], const signed char b[64], int out[64]) {
    for (int i = 0; i < 64; i++) {
#pragma HLS pipeline II=1
        out[i] = a[i] * b[i] + i;
    }
}

extern "C" void limited(const signed char a[64], const signed char b[64], int out[64]) {
    for (int i = 0; i < 64; i++) {
#pragma HLS pipeline II=1
#pragma HLS allocation operation instances=mul limit=1
        out[i] = a[i] * b[i] + i;
    }
}

extern "C" void by_known(const word_t in[64][4], sum_t out[64]) {
#pragma HLS array_partition variable=in complete dim=2
    for (int i = 0; i < 64; i++) {
#pragma HLS pipeline II=1
        out[i] = product(in[i], never_written);
    }
}

extern "C" void by_written(const word_t in[64][4], sum_t out[64], int exchanged) {
#pragma HLS array_partition variable=in complete dim=2
#pragma HLS array_partition variable=written complete
    written[exchanged & 3] = 1;
    for (int i = 0; i < 64; i++) {
#pragma HLS pipeline II=1
        out[i] = product(in[i], written);
    }
}
