void f(int *x) {
    #pragma oss task device(fpga) inout([8]x) // EXPECT device(fpga) is not supported in inline directives
    {
        x[0] = 1;
    }
}
