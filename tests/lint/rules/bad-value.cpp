constexpr int NONE = 0;

void f(int (&x)[4], int (&y)[4]) {
#pragma HLS array_partition variable=x cyclic=2
#pragma HLS bind_storage variable=x type=ram_3p impl=bram
#pragma HLS bind_storage variable=y type=ram_t2p impl=lutram
#pragma HLS stream variable=x depth=1.5
#pragma HLS stream variable=y depth
#pragma HLS inline off=true
#pragma HLS latency min=4 max=2
    for (int i = 0; i < 4; ++i) {
#pragma HLS pipeline II=0 style=fast
        x[i] = i;
    }
    for (int i = 0; i < 4; ++i) {
#pragma HLS unroll factor=NONE
#pragma HLS loop_tripcount max=8 \
        min=8+1
        y[i] = i;
    }
#pragma HLS aggregate variable=x compact=bits
#pragma HLS dependence variable=1 inter false
#pragma HLS performance target_ti=fast/2
#pragma HLS expression_balance @ off
}
