#pragma oss task device(fpga) in([8]x)
void f(const int *x); // EXPECT #pragma oss task device(fpga)' can only be applied to functions with bodies for now
