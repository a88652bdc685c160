#pragma oss task device(fpga) copy_deps in([8]x)
void f(const ap_uint<128> *x) {} // EXPECT elements of 'x' have 128 bits, and a copy keeps 64 of them

#pragma oss task device(fpga) in([8]x)
void g(const ap_uint<128> *x) {}
