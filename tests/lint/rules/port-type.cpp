void f(hls::stream<int> &in, int n, ap_uint<32> m, int *x) {
#pragma HLS interface m_axi port=in offset=slave bundle=gmem
#pragma HLS interface m_axi port=n offset=slave bundle=gmem
#pragma HLS interface bram port=m
#pragma HLS interface m_axi port=return
#pragma HLS interface m_axi port=x offset=slave bundle=gmem
    *x = n + m + in.read();
}
