int f(int i) {
#pragma HLS array_partition variable=table complete
    int table[4] = {1, 2, 3, 4};
    return table[i];
}
