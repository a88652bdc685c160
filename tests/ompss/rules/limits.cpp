#pragma oss task device(fpga) in(a[0], b[0], c[0], d[0], e[0], f[0], g[0], h[0]) out(i[0])
void too_many(int *a, int *b, int *c, int *d, int *e, int *f, int *g, int *h, int *i) { // EXPECT task 'too_many' has 9 dependences, and the hardware takes 8
}
