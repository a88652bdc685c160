#include <hls_stream.h>

void read_all(const int *in, hls::stream<int> &out, int n);
void work(hls::stream<int> &in, hls::stream<int> &out, int n) {
    for (int i = 0; i < n; ++i) out.write(in.read());
}
void fill(int (&x)[64], int n) {
    for (int i = 0; i < 64; ++i) x[i] = n;
}
void drain(const int (&x)[64], hls::stream<int> &out) {
    for (int i = 0; i < 64; ++i) out.write(x[i]);
}

void copy(const int (&x)[64], int (&y)[64], hls::stream<int> &out) {
    for (int i = 0; i < 64; ++i) y[i] = x[i];
}
void join(const int (&x)[64], hls::stream<int> &in) {
    for (int i = 0; i < 64; ++i) in.read();
}
void make(int (&x)[64], hls::stream<int> &out) {
    for (int i = 0; i < 64; ++i) {
        x[i] = i;
        out.write(i);
    }
}

void f(int n) {
#pragma HLS dataflow
    int block[64];
    hls::stream<int> a("a");
    hls::stream<int> b("b");
    make(block, a);
    work(a, b, n);
    join(block, b);
}
