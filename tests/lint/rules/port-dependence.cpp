void f(const int *in, int *out) {
#pragma HLS interface m_axi port=in offset=slave bundle=gmem
#pragma HLS interface m_axi port=out offset=slave bundle=gmem
    for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
#pragma HLS dependence variable=out inter false
        out[i] = in[i];
    }
}
