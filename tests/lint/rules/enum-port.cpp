enum mode { FAST, SLOW };

void f(int *x, mode how) {
#pragma HLS interface m_axi port=x offset=slave bundle=gmem
#pragma HLS interface s_axilite port=how
    *x = how == FAST;
}
