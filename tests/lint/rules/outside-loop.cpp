int f(const int (&x)[8]) {
#pragma HLS unroll factor=2
    int sum = 0;
    for (int i = 0; i < 8; ++i) {
        if (x[i] > 0) {
#pragma HLS loop_tripcount max=8
            sum += x[i];
        }
    }
    return sum;
}
