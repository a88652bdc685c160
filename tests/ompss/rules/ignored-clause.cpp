#pragma oss task device(fpga) period(100) // EXPECT period the compiler takes it, but always makes tasks that are not periodic
void f(int *x) {
    x[0] = 1;
}
