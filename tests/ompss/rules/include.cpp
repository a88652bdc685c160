#include "sizes.h" // EXPECT only headers that end in .fpga.h reach the accelerator, and "sizes.h" does not
#include "types.fpga.h"
#include <cstdio>
// #include "old.h"

#pragma oss task device(fpga) in([8]x)
void f(const int *x) {}
