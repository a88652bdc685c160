void f(int x[64]) {
#pragma HLS interface m_axi port=x offset=slave bundle=gmem
#pragma HLS array_partition variable=x cyclic factor=4
    x[0] = 1;
}
