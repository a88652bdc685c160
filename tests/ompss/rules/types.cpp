#pragma oss task device(fpga)
void f0(int *x) {}

#pragma oss task device(fpga)
void f1(int *x) {}

#pragma oss task device(fpga)
void f2(int *x) {}

#pragma oss task device(fpga)
void f3(int *x) {}

#pragma oss task device(fpga)
void f4(int *x) {}

#pragma oss task device(fpga)
void f5(int *x) {}

#pragma oss task device(fpga)
void f6(int *x) {}

#pragma oss task device(fpga)
void f7(int *x) {}

#pragma oss task device(fpga)
void f8(int *x) {}

#pragma oss task device(fpga)
void f9(int *x) {}

#pragma oss task device(fpga)
void f10(int *x) {}

#pragma oss task device(fpga)
void f11(int *x) {}

#pragma oss task device(fpga)
void f12(int *x) {}

#pragma oss task device(fpga)
void f13(int *x) {}

#pragma oss task device(fpga)
void f14(int *x) {}

#pragma oss task device(fpga)
void f15(int *x) {}

#pragma oss task device(fpga) // EXPECT Max number of accelerator types supported by POM is 16, but design has 17
void f16(int *x) {}
