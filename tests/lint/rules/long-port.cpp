void f(int *x, size_t n, unsigned long m) {
#pragma HLS interface m_axi port=x offset=slave bundle=gmem
    *x = n + m;
}
