void f(int *x, int *y) {
#pragma HLS interface port=x m_axi offset=slave bundle=gmem
#pragma HLS interface port=y bundle=gmem
}
