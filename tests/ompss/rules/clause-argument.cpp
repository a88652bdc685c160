#pragma oss task device(fpga) copy_deps(x) in([8]x) // EXPECT 'copy_deps' takes no argument
void f(const int *x) {}

#pragma oss task device(fpga) num_instances in([8]x) // EXPECT 'num_instances' needs an argument in brackets
void g(const int *x) {}
