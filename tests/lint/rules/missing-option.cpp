void f(int (&x)[4]) {
#pragma HLS array_partition complete
#pragma HLS array_partition variable=x cyclic
#pragma HLS bind_storage variable=x impl=bram
#pragma HLS latency
#pragma HLS allocation instances=mul limit=2
    for (int i = 0; i < 4; ++i) {
#pragma HLS loop_tripcount min=1
        x[i] = i;
    }
}
