int f(int i) {
    int rows[4][8] = {};
    int one = i;
#pragma HLS array_partition variable=rows complete dim=3
#pragma HLS array_partition variable=one complete
    return rows[0][i] + one;
}
