int table[8];

#pragma oss task device(fpga) copy_in([8]table) // EXPECT 'table' is no parameter of the task's function, so it cannot be copied
void f(int *x) {
    x[0] = table[0];
}
