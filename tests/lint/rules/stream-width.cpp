#include <ap_fixed.h>
#include <ap_int.h>
#include <hls_stream.h>

constexpr int CHANNELS = 300;

template <typename T, int N>
struct row {
    T element[N];
};

struct pair {
    row<ap_fixed<16, 6>, CHANNELS> both[2];
    float scale;
};

typedef row<ap_fixed<16, 6>, CHANNELS> row_t;

void double_rows(hls::stream<row_t> &in, hls::stream<row<ap_uint<8>, CHANNELS> > &out);

void f(hls::stream<ap_uint<512> > &narrow, hls::stream<row<ap_uint<8>, 512> > &widest, hls::stream<pair> &pairs);
