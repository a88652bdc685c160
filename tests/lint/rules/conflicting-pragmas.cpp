void f(int (&x)[8], int (&y)[8]) {
#pragma HLS array_partition variable=x complete
#pragma HLS array_partition variable=x cyclic factor=2
#ifdef FAST
#pragma HLS inline
#else
#pragma HLS inline off
#endif
    for (int i = 0; i < 8; ++i) {
#pragma HLS pipeline II=1
#pragma HLS pipeline II=2
        x[i] = i;
    }
    for (int i = 0; i < 8; ++i) {
#pragma HLS dataflow
#pragma HLS pipeline II=2
        stage(y[i]);
    }
}
