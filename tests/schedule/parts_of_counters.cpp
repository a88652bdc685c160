// Indices that are a part of a counter.

void halves(const int in[192], int out[96]) {
#pragma HLS array_partition variable=in cyclic factor=16
#pragma HLS array_partition variable=out cyclic factor=8
    work: for (int i = 0; i < 192; i = i + 2) {
#pragma HLS pipeline II=1
#pragma HLS unroll factor=8
        out[i >> 1] = in[i] + in[i + 1];
    }
}

// An iteration reads what the one before has written.
void of_the_one_before(float a[200]) {
    work: for (int i = 2; i < 192; i = i + 2) {
#pragma HLS pipeline II=1
        a[i >> 1] = a[(i >> 1) - 1] * 3.0f;
    }
}

// Two iterations write the same word: a third of them is no counter.
void thirds(int a[200], int b) {
#pragma HLS array_partition variable=a cyclic factor=4
    work: for (int i = 0; i < 192; i = i + 3) {
#pragma HLS pipeline II=1
        a[i >> 1] = a[i >> 2] + b;
    }
}

// 560 iterations, 32 at a time: the last 16 leave it in the middle of a round.
void halves_with_a_rest(const int in[1120], int out[560]) {
#pragma HLS array_partition variable=in cyclic factor=64
#pragma HLS array_partition variable=out cyclic factor=32
    work: for (int i = 0; i < 1120; i = i + 2) {
#pragma HLS unroll factor=32
        out[i >> 1] = in[i] + in[i + 1];
    }
}
