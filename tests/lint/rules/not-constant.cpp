void f(int (&x)[64], int n) {
    int parts = n / 2;
    for (int i = 0; i < 64; ++i) {
#pragma HLS unroll factor=parts
        x[i] = i;
    }
    for (int i = 0; i < 64; ++i) {
#pragma HLS loop_tripcount max=n
        x[i] += i;
    }
}
