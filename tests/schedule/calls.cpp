// Functions that are pipelined as a whole: what a call leaves in a static its next call reads
#include <string.h>

#include "ap_int.h"
#include "hls_burst_maxi.h"
#include "hls_stream.h"

using Word = ap_int<13>;

static Word delayed(Word x) {
    static Word line[34];
    line[33] = x;
    for (int n = 0; n < 33; ++n) {
#pragma HLS unroll
        line[n] = line[n + 1];
    }
    return line[0];
}

// The structure of a delay line in public code, for which Vitis has II 1 and registers
ap_int<18> sum_of_delayed(Word x) {
#pragma HLS pipeline II=1
    static ap_int<18> sum = 0;
    sum += x - delayed(x);
    return sum;
}

void moved_by_the_library(Word x, Word y[1]) {
#pragma HLS pipeline II=1
    static Word line[34];
    y[0] = line[33];
    memmove(line + 1, line, 33 * sizeof(Word));
    line[0] = x;
}

int weighted(int x) {
#pragma HLS pipeline II=1
    static int line[32];
    for (int n = 31; n > 0; --n) line[n] = line[n - 1];
    line[0] = x;
    int total = 0;
    for (int n = 0; n < 32; ++n) total += line[n] * (n + 3);
    return total;
}

// Written at a place that is known at run time alone: stays a memory, with one write a call
int counted(int x) {
#pragma HLS pipeline II=1
    static int counts[64];
    counts[x & 63] += 1;
    return counts[5];
}

// Each call waits for the sum of the last one
float added_up(float x) {
#pragma HLS pipeline II=1
    static float sum = 0;
    sum += x;
    return sum;
}

void rolled_within(int const in[64], int n, int out[64]) {
outer:
    for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        int sum = 0;
    inner:
        for (int j = 0; j < n; ++j) sum += in[j];
        out[i] = sum;
    }
}

void asked_and_read(hls::burst_maxi<int> in, int out[64]) {
    for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        in.read_request(4 * i, 1);
        out[i] = in.read();
    }
}

void flushed_with_a_memory(hls::stream<int>& in, hls::stream<int>& out) {
    int kept[256];
    for (int i = 0; i < 256; ++i) {
#pragma HLS pipeline II=1 style=flp
        const int sum = (i < 16 ? 0 : kept[i - 16]) + in.read();
        kept[i] = sum;
        out.write(sum);
    }
}

void stalled_with_a_memory(hls::stream<int>& in, hls::stream<int>& out) {
    int kept[256];
    for (int i = 0; i < 256; ++i) {
#pragma HLS pipeline II=1
        const int sum = (i < 16 ? 0 : kept[i - 16]) + in.read();
        kept[i] = sum;
        out.write(sum);
    }
}

void flushed_alone(hls::stream<int>& in, hls::stream<int>& out) {
    for (int i = 0; i < 256; ++i) {
#pragma HLS pipeline II=1 style=flp
        out.write(in.read() + 1);
    }
}
