void helper(int *x) {
#pragma HLS interface m_axi port=x offset=slave bundle=gmem
    *x = 1;
}

template <typename T>
void generic(T *x) {
#pragma HLS interface m_axi port=x offset=slave bundle=gmem
    *x = 1;
}

void top(int *x) {
#pragma HLS interface m_axi port=x offset=slave bundle=gmem
    helper(x);
}
