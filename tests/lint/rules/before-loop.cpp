int f(const int (&x)[8]) {
    int sum = 0;
#pragma HLS pipeline II=1
    sums: for (int i = 0; i < 8; ++i) {
        sum += x[i];
    }
    return sum;
}
