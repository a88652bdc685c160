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

int count(hls::stream<int> &in) { return in.read(); }
int g(hls::stream<int> &in) { return in.read(); }

void f(hls::stream<int> &in, hls::stream<int> &other) {
#pragma HLS dataflow
    int found;
    found = g(other);
    count(in);
}
