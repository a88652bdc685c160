void f(int (&x)[8], int (&y)[8]) {
#pragma HLS array_partition variable=x complete factor=2
    for (int i = 0; i < 8; ++i) {
#pragma HLS dependence variable=y inter RAW distance=2 false
        y[i] = x[i];
    }
}
