void f(int (&x)[4]) {
#pragma HLS array_partition variable=x complet dim=1
    for (int i = 0; i < 4; ++i) {
#pragma HLS pipeline II=1 flush
        x[i] = i;
    }
}
