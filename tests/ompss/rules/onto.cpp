#pragma oss task device(fpga) onto(1) // EXPECT Architecture bits not set in the onto clause: 33 -> SMP arch, 32 -> FPGA arch
void f() {}

#pragma oss task device(fpga) onto(0x600000000) // EXPECT Task type too wide: 2bits arch + 32bits hash
void g() {}

#pragma oss task device(fpga) onto(0x100000001)
void h() {}
