#pragma oss task device(fpga)
void f(int *x) {}

#pragma oss task device(fpga)
void f(float *x) {} // EXPECT Two accelerators use the same name: 'f'
