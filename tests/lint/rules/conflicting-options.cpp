void f(int (&x)[8], int (&y)[8]) {
#pragma HLS array_partition variable=x cyclic block factor=2
#pragma HLS array_partition variable=y cyclic type=block factor=2
#pragma HLS dependence variable=x class=array inter false
#pragma HLS stream variable=y off type=fifo
    for (int i = 0; i < 8; ++i) {
#pragma HLS pipeline off style=flp
        x[i] = i;
    }
    for (int i = 0; i < 8; ++i) {
#pragma HLS pipeline rewind style=flp
        y[i] = i;
    }
}
