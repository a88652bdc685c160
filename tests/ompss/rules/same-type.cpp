#pragma oss task device(fpga) onto(0x100000001)
void f() {}

#pragma oss task device(fpga) onto(0x100000001) // EXPECT Two accelerators use the same type: '4294967297' (maybe you should use the onto clause)
void g() {}
