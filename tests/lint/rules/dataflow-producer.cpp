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

void f(hls::stream<int> &in, hls::stream<int> &other, hls::stream<int> &out, int n) {
#pragma HLS dataflow
    hls::stream<int> middle("middle");
    hls::stream<int> empty("empty");
    work(in, middle, n);
    work(other, middle, n);
    work(middle, out, n);
    hls::stream<int> end("end");
    work(empty, end, n);
    read_all(0, end, n);
}

void deal(hls::stream<int> (&out)[2], int n) {
    for (int i = 0; i < n; ++i) out[i % 2].write(i);
}

void take(hls::stream<int> &in, int n) {
    for (int i = 0; i < n; ++i) in.read();
}

void g(hls::stream<int> &in, hls::stream<int> &out, int n) {
#pragma HLS dataflow
    hls::stream<int> each[2];
    deal(each, n);
    work(in, each[1], n);
    work(each[0], out, n);
    take(each[1], n);
}
