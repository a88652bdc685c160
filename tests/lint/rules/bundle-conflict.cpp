void f(const int *in, int *out, int n) {
#pragma HLS interface m_axi port=in offset=slave bundle=gmem max_read_burst_length=64
#pragma HLS interface m_axi port=out offset=slave bundle=gmem max_read_burst_length=16
#pragma HLS interface ap_memory port=out
#pragma HLS interface s_axilite port=n bundle=gmem
    *out = *in + n;
}
