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
    int rounds = n / 2;
    for (int i = 1; i < n; ++i) {
#pragma HLS dataflow
        work(in, out, n);
    }
    for (int i = 0; i < rounds; ++i) {
#pragma HLS dataflow
        work(in, out, n);
    }
    for (int i = 0; i < n; i += 2) {
#pragma HLS dataflow
        work(in, out, n);
    }
    while (n > 0) {
#pragma HLS dataflow
        work(in, out, n);
    }
}
