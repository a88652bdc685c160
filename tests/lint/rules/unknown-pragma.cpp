void f(int (&x)[4]) {
    for (int i = 0; i < 4; ++i) {
#pragma HLS pipelien II=1
        x[i] = i;
    }
    for (int i = 0; i < 4; ++i) {
#pragma HSL unroll
        x[i] += i;
    }
#pragma HLS
}
