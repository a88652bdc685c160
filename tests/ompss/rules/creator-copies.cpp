#pragma oss task device(fpga) inout([8]x)
void leaf(int *x) {
    x[0] = 1;
}

#pragma oss task device(fpga) copy_deps inout([8]x) // EXPECT task 'root' creates tasks, so that it has no local memory to copy into
void root(int *x) {
    leaf(x);
#pragma oss taskwait
}
