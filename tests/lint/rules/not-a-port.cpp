void f(int *input, int n) {
#pragma HLS interface m_axi port=inputs offset=slave bundle=gmem
#pragma HLS interface ap_ctrl_none port=n
    *input = n;
}
