// Words that an iteration knows already, banks that are chosen once, and partitions that the tool infers:
// the loops of public designs in small.

extern "C" {

// UCLA-VAST/Stream-HLS, streamhls/220_DSPs/opt5/gemm: an unrolled contraction, with a first value and a last one
void contraction(float a[240][4], float b[240], float first, float out[4][220]) {
#pragma HLS array_partition variable=a cyclic factor=8 dim=1
#pragma HLS array_partition variable=a complete dim=2
#pragma HLS array_partition variable=b cyclic factor=8
#pragma HLS array_partition variable=out complete dim=1
    float c[4][220];
#pragma HLS array_partition variable=c cyclic factor=4 dim=1
    for (int k = 0; k < 30; k++) {
        for (int j = 0; j < 220; j++) {
#pragma HLS pipeline II=1
            for (int u = 0; u < 8; u++) {
                for (int i = 0; i < 4; i++) {
                    if (u + k * 8 == 0) c[i][j] = first;
                    c[i][j] = c[i][j] + a[u + k * 8][i] * b[u + k * 8];
                    if (u + k * 8 - 239 == 0) out[i][j] = c[i][j];
                }
            }
        }
    }
}

// pom/gemm of the same: two steps of a sum in one iteration, of an array of the interface
void two_steps(float a[120][2], float b[220], float c[220]) {
#pragma HLS array_partition variable=a complete dim=2
    for (int k = 0; k < 120; k++) {
        for (int j = 0; j < 220; j++) {
#pragma HLS pipeline II=1
            c[j] = c[j] + a[k][0] * b[j];
            c[j] = c[j] + a[k][1] * b[j];
        }
    }
}

// what may be read in between stays written
void read_between(int a[64], const int at[64], int out[64]) {
    for (int i = 0; i < 64; i++) {
#pragma HLS pipeline II=1
        a[i] = i;
        out[i] = a[at[i]];
        a[i] = 2 * i;
    }
}

// a part of a word leaves the other parts as they were
void parts(short a[64][2], const short b[64]) {
#pragma HLS array_reshape variable=a complete dim=2
    for (int i = 0; i < 64; i++) {
#pragma HLS pipeline II=1
        a[i][0] = b[i];
        a[i][1] = i;
    }
}

// scalehls/atax: neighbours of an index whose bank stays run-time are in banks of their own
float zeros(int which) {
    float v[390];
#pragma HLS array_partition variable=v cyclic factor=15
    for (int i = 0; i < 30; i++) {
#pragma HLS pipeline II=1
        for (int c = 0; c < 13; c++) v[i * 13 + c] = 0;
    }
    return v[which];
}

// but not those of two indices that move apart from each other
float two_starts(int which, int first, int second) {
    float v[390];
#pragma HLS array_partition variable=v cyclic factor=15
    for (int i = 0; i < 30; i++) {
#pragma HLS pipeline II=1
        for (int c = 0; c < 2; c++) {
            v[i + first + c] = 0;
            v[i + second + c] = 1;
        }
    }
    return v[which];
}

// cnns/opt5/DepthwiseSeparableConvBlock: both dimensions of the sums are split, and that of what is read by
// 14, where an index of the kernel is added to its neighbours
void two_dimensions(float in[8][112][112], float weights[9], float out[8][112][112]) {
    float x[112][126], sums[112][112];
    for (int i = 0; i < 112; i++) {
        for (int j = 0; j < 126; j++) x[i][j] = in[0][i][j % 112];
    }
    for (int i = 0; i < 56; i++) {
        for (int k = 0; k < 9; k++) {
            for (int j = 0; j < 8; j++) {
#pragma HLS pipeline II=1
                for (int u = 0; u < 2; u++) {
                    for (int w = 0; w < 14; w++) {
                        if (k == 0) sums[u + i * 2][w + j * 14] = 0;
                        sums[u + i * 2][w + j * 14] += x[u + i * 2][w + j * 14 + k] * weights[k];
                    }
                }
            }
        }
    }
    out[0][0][0] = sums[in[0][0][0] > 0 ? 1 : 0][0];
}

// cnns/opt5/ResidualBlock: an array of the interface is not split, 4 reads of its 2 ports
void of_interface(const float weights[16][16][9], float out[72][8]) {
    for (int k = 0; k < 9; k++) {
        for (int i = 0; i < 8; i++) {
#pragma HLS pipeline II=1
            float sum = 0;
            for (int u = 0; u < 2; u++) {
                for (int w = 0; w < 2; w++) sum += weights[w + i * 2][u + 2][k];
            }
            out[i][k % 8] = sum;
        }
    }
}

// jichengzh/fpt_LLM, 2022.2: an index runs over two of 64 blocks, and the copies two blocks from each other
void over_blocks(unsigned short x[49152], unsigned short y[49152]) {
#pragma HLS array_partition variable=x block factor=64
#pragma HLS array_partition variable=y block factor=64
    for (int i = 0; i < 1536; i++) {
#pragma HLS pipeline II=1
        for (int u = 0; u < 64; u += 2) y[i + u * 768] = x[i + u * 768] + 1;
    }
}

// hank17168/2024_Fall_NTU_AAHLS hls_FIRN11MAXI, 2022.1: words of an array on AXI-lite are read in front of the loop
void axi_lite(const int coefficients[12], const int in[64], int out[64]) {
#pragma HLS interface s_axilite port=coefficients
    int taps[11];
#pragma HLS array_partition variable=taps complete
    for (int i = 0; i < 64; i++) {
#pragma HLS pipeline II=1
        int sum = 0;
        for (int k = 10; k >= 0; k--) {
            taps[k] = k ? taps[k - 1] : in[i];
            sum += taps[k] * coefficients[k];
        }
        out[i] = sum;
    }
}
}
