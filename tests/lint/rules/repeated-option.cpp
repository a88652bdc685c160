void f(int (&x)[4][4]) {
#pragma HLS array_partition variable=x dim=1 complete dim=2
}
