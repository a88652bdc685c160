#pragma oss task device(fpga) num_instances(1) num_instances(2) // EXPECT directive '#pragma oss task' cannot contain more than one 'num_instances' clause
void f(int *x) {
    x[0] = 1;
}
