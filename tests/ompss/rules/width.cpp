#pragma oss task device(fpga) in([8]x)
void f(const int *x, long n) { // EXPECT 'long' has another width on the FPGA than on the host
    for (size_t i = 0; i < 8; ++i) { // EXPECT 'size_t' has another width on the FPGA than on the host
    }
    long long wide = n;
    unsigned long long wider = wide;
}
