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

#define STAGE(run, ...) run(__VA_ARGS__)

void f(hls::stream<int> &in, hls::stream<int> &a, hls::stream<int> &b, const int *x, hls::stream<int> &c,
       hls::stream<int> &d, int n) {
#pragma HLS dataflow
    hls::stream<int> middle("middle");
    hls::stream<int> lost("lost");
    STAGE(work, in, middle, n);
    STAGE(work, middle, a, n);
    STAGE(work, middle, b, n);
    read_all(x, c, n);
    read_all(x, lost, n);
}
