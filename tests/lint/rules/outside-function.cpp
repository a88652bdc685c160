static int table[4];
#pragma HLS array_partition variable=table complete

struct word {
#pragma HLS aggregate variable=lane
    int lane[4];
};

int f(int i) { return table[i]; }
