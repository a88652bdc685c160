// the place is counted in bytes: é
#pragma oss task device(fpga) in([4]x) num_instances(0)
void f(const int *x) {}
