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
