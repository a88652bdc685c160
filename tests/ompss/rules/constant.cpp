// Sizes of what is copied, and the number of instances.
#pragma oss task device(fpga) copy_in([n]x) // EXPECT Expected this to evaulate to a constant unsigned integer
void f(const int *x, int n) {}

#pragma oss task device(fpga) num_instances(0) // EXPECT Expected this to evaulate to a constant unsigned integer
void g() {}

#pragma oss task device(fpga) copy_deps in([n]x) // EXPECT Expected this to evaulate to a constant unsigned integer
void h(const int *x, int n) {}

// The second dimension of the parameter's own type.
#pragma oss task device(fpga) copy_in([1]x) // EXPECT Expected this to evaulate to a constant unsigned integer
void i(int n, int (*x)[n]) {}

// Without a copy the size is free.
#pragma oss task device(fpga) in([n]x)
void j(const int *x, int n) {}
