// A clause of Mercurium's.
#pragma oss task device(fpga) localmem([8]x) // EXPECT 'localmem' is a clause of OmpSs-1, which OmpSs-2@FPGA does not have
void f(int *x) {
    x[0] = 1;
}
