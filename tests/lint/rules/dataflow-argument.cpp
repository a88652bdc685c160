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

void f(hls::stream<int> &in, hls::stream<int> &out, int n) {
    int twice = 2 * n;
    for (int i = 0; i < 4; ++i) {
#pragma HLS dataflow
        hls::stream<int> a("a");
        hls::stream<int> b("b");
        work(in, a, n + 1);
        work(a, b, n);
        work(b, out, twice);
    }
}
