#define UNROLL _Pragma("HLS unroll")

void f(int (&x)[4]) {
#pragma HLS inline
    for (int i = 0; i < 4; ++i) {
        UNROLL
        x[i] = 0;
    }
}
