// Kernels whose cells follow from rules that public utilisation reports show.
#include <ap_int.h>
#include <hls_stream.h>

// The tutorial's product of two matrices, 3 x 3: csynth of 2024.2 says 374 LUT, 135 FF, 2 DSP (xc7z020, 10 ns).
void matrices(char a[3][3], char b[3][3], short res[3][3]) {
    Row: for (int i = 0; i < 3; ++i) {
        Col: for (int j = 0; j < 3; ++j) {
#pragma HLS pipeline
            res[i][j] = 0;
            Product: for (int k = 0; k < 3; ++k) res[i][j] += a[i][k] * b[k][j];
        }
    }
}

void dot_balanced(const ap_int<16> a[16], const ap_int<16> b[16], ap_int<40> out[64]) {
#pragma HLS array_partition variable=a complete
#pragma HLS array_partition variable=b complete
    work: for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        ap_int<40> sum = 0;
        for (int k = 0; k < 16; ++k) sum += (a[k] + i) * b[k];
        out[i] = sum;
    }
}

void dot_as_written(const ap_int<16> a[16], const ap_int<16> b[16], ap_int<40> out[64]) {
#pragma HLS expression_balance off
#pragma HLS array_partition variable=a complete
#pragma HLS array_partition variable=b complete
    work: for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        ap_int<40> sum = 0;
        for (int k = 0; k < 16; ++k) sum += (a[k] + i) * b[k];
        out[i] = sum;
    }
}

static void scale(const float *in, float *out, float by) {
#pragma HLS inline off
    each: for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        out[i] = in[i] * by;
    }
}

void once(const float in[64], float out[64], float by) { scale(in, out, by); }

void one_after_the_other(const float in[64], float out[64], float by) {
    float between[64];
    scale(in, between, by);
    scale(between, out, by);
}

// 12 products a round, II 4: 3 cores.
void shared_cores(const float a[16], const float b[16], float out[64]) {
#pragma HLS array_partition variable=a complete
#pragma HLS array_partition variable=b complete
    work: for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=4
        float most = 0;
        for (int k = 0; k < 12; ++k) {
            const float product = a[k] * b[k];
            if (product > most) most = product;
        }
        out[i] = most + i;
    }
}

static const int TABLE[8] = {0, 3, 1, 2, 7, 5, 4, 6};

void few_values(const unsigned char at[64], bool out[64]) {
    work: for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        out[i] = TABLE[at[i] & 7] + TABLE[(at[i] >> 3) & 7] > 9;
    }
}

static void produce(const int in[64], hls::stream<int> &words) {
    each: for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        words.write(in[i]);
    }
}

static void consume(hls::stream<int> &words, int out[64]) {
    each: for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        out[i] = words.read();
    }
}

void two_processes(const int in[64], int out[64]) {
#pragma HLS dataflow
    hls::stream<int> words;
    produce(in, words);
    consume(words, out);
}

// A product behind a loop, of which the low half is kept.
void behind_a_loop(const int in[64], int out[64], int rows, int factor) {
    rows: for (int row = 0; row < rows; ++row) {
        int sum = 0;
        each: for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
            sum ^= in[i];
        }
        out[row] = sum * factor;
    }
}

// Eight registers that go through both loops, of which the inner one has as many iterations as an argument says.
void carried_through(const int in[64], int out[8], int rows, int columns) {
    int held[8] = {};
#pragma HLS array_partition variable=held complete
    rows: for (int row = 0; row < rows; ++row) {
        columns: for (int column = 0; column < columns; ++column) {
#pragma HLS pipeline II=1
            for (int k = 7; k > 0; --k) held[k] = held[k - 1];
            held[0] = in[column & 63];
        }
    }
    for (int k = 0; k < 8; ++k) {
#pragma HLS unroll
        out[k] = held[k];
    }
}

void sign_chooses(const ap_int<32> in[64], const ap_int<8> a[64], const ap_int<8> b[64], ap_int<8> out[64]) {
    each: for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        out[i] = in[i] < 0 ? a[i] : b[i];
    }
}

void in_logic_cells(const ap_int<12> a[64], const ap_int<12> b[64], ap_int<24> out[64]) {
    each: for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        const ap_int<24> product = a[i] * b[i];
#pragma HLS bind_op variable=product op=mul impl=fabric
        out[i] = product;
    }
}

static void give(const int in[64], hls::stream<int> &words) {
    each: for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        words.write(in[i]);
    }
}

// Its variables begin without a value.
static void delay(hls::stream<int> &words, int out[64]) {
    int held[8];
#pragma HLS array_partition variable=held complete
    each: for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        const int oldest = held[7];
        for (int k = 7; k > 0; --k) held[k] = held[k - 1];
        held[0] = words.read();
        out[i] = oldest;
    }
}

static void both(const int in[64], int out[64]) {
#pragma HLS dataflow
    hls::stream<int> words;
    give(in, words);
    delay(words, out);
}

void processes_in_a_loop(const int in[64], int out[64], int times) {
    times: for (int i = 0; i < times; ++i) both(in, out);
}
