#pragma oss task device(fpga) inout([8]x)
void f(int *x) {
#pragma oss taskyield // EXPECT taskyield is not supported in the FPGA's code
    x[0] = 1;
}
