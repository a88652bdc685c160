// Sums of floats that the iteration before has left.

void total(const float a[64], float out[1]) {
    float sum = 0;
    add: for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        sum += a[i];
    }
    out[0] = sum;
}

void total_in_four(const float a[64], float out[1]) {
    float sum = 0;
    add: for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=4
        sum += a[i];
    }
    out[0] = sum;
}

void apart(const float a[64], float out[64]) {
    add: for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        out[i] = a[i] + 1.5f;
    }
}

// Each sum is of nine steps: its word is that of the step before, or another one.
void windows(const float a[8][10][10], const float w[8][3][3], float out[8][8][8]) {
    rows: for (int y = 0; y < 8; ++y) {
        for (int x = 0; x < 8; ++x) {
            for (int c = 0; c < 8; ++c) {
                for (int i = 0; i < 3; ++i) {
                    add: for (int j = 0; j < 3; ++j) {
#pragma HLS pipeline II=1
                        if (i == 0 && j == 0) out[c][y][x] = 0;
                        out[c][y][x] += a[c][y + i][x + j] * w[c][i][j];
                    }
                }
            }
        }
    }
}

// Nobody asks for a pipeline.
void by_itself(const float a[100], float out[1]) {
    float sum = 0;
    add: for (int i = 0; i < 100; ++i) sum += a[i];
    out[0] = sum;
}

void four_at_a_time(const float a[4][64], float out[1]) {
#pragma HLS array_partition variable=a complete dim=1
    float sum = 0;
    add: for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        for (int k = 0; k < 4; ++k) sum += a[k][i];
    }
    out[0] = sum;
}

// S12P/sisyphus-fpga24-artifact atax: the pragma names no II.
void without_interval(const float a[8][64], const float x[64], float out[8]) {
#pragma HLS array_partition variable=a complete dim=1
    float y[8];
#pragma HLS array_partition variable=y complete
    for (int i = 0; i < 8; ++i) y[i] = 0;
    add: for (int j = 0; j < 64; ++j) {
#pragma HLS pipeline
        for (int i = 0; i < 8; ++i) y[i] += a[i][j] * x[j];
    }
    for (int i = 0; i < 8; ++i) out[i] = y[i];
}

// Sums of a row in turn, a word of each of four banks in an iteration: a word comes again once the loop around goes on.
template <int WORDS, bool OWN>
void in_turn(const float a[100], const float b[100][WORDS], float out[WORDS]) {
#pragma HLS inline
#pragma HLS array_partition variable=b cyclic factor=4 dim=2
#pragma HLS array_partition variable=out cyclic factor=4
    float sums[WORDS];
#pragma HLS array_partition variable=sums cyclic factor=4
    for (int j = 0; j < WORDS; ++j) sums[j] = 0;
    for (int k = 0; k < 100; ++k) {
        add: for (int j = 0; j < WORDS; ++j) {
#pragma HLS pipeline II=1
#pragma HLS unroll factor=4
            sums[j] = sums[j] + a[k] * (OWN ? sums[j] : b[k][j]);
        }
    }
    for (int j = 0; j < WORDS; ++j) out[j] = sums[j];
}
void four_in_turn(const float a[100], const float b[100][16], float out[16]) { in_turn<16, false>(a, b, out); }
void ten_in_turn(const float a[100], const float b[100][40], float out[40]) { in_turn<40, false>(a, b, out); }
void twelve_in_turn(const float a[100], const float b[100][48], float out[48]) { in_turn<48, true>(a, b, out); }
void forty_in_turn(const float a[100], const float b[100][160], float out[160]) { in_turn<160, true>(a, b, out); }
