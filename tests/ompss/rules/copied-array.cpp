#pragma oss task device(fpga) copy_in(x) // EXPECT Expected this to be an array if it is intended to be placed in the local memory of the FPGA. You might want to use the copy_deps, copy_in, copy_out and/or copy_inout parameters in the oss task
void f(const int *x) {}
