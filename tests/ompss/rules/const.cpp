#pragma oss task device(fpga) \
    copy_in([8]x) \
    copy_out([8]y)
void f(const int *x, const int *y) { // EXPECT Out/inout localmem with const qualifier. This parameter can't be sent to the FPGA local memory if it is marked as const and as an out/inout. Consider removing const
}

#pragma oss task device(fpga) copy_deps out([8]y)
void g(int *const y) {
    y[0] = 1;
}
