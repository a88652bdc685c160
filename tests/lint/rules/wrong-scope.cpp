void f(int (&x)[8], int *y) {
    if (x[0] > 0) {
#pragma HLS pipeline II=1
#pragma HLS interface m_axi port=y offset=slave bundle=gmem
        x[1] = *y;
    }
#pragma HLS protocol fixed
}
