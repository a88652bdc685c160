#pragma oss task device(fpga)
void _f(int *x) {} // EXPECT '_f' is an invalid accelerator name. Must start with a letter
