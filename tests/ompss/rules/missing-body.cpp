int scaled(int value); // EXPECT This function is depended by an fpga kernel, but we couldn't locate its body. Make sure it is visible in this translation unit.
int doubled(int value);
extern "C" {
int halved(int value); // EXPECT This function is depended by an fpga kernel, but we couldn't locate its body. Make sure it is visible in this translation unit.
}

#pragma oss task device(fpga) inout([8]x)
void f(int *x) {
    x[0] = scaled(doubled(x[0])) + halved(x[0]);
}

int doubled(int value) {
    return 2 * value;
}
