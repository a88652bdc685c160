#pragma oss task device(fpga) instances(2) // EXPECT '#pragma oss task' has no clause 'instances'
void f(int *x) {
    x[0] = 1;
}
