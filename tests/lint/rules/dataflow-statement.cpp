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
#pragma HLS dataflow
    hls::stream<int> middle("middle");
    n = n + 1;
    for (int i = 0; i < 4; ++i) n += i;
    work(in, middle, n);
    work(middle, out, n);
}
