#include <ap_int.h>

typedef hls::vector<ap_uint<512>, 4> wide_t;

void f(hls::burst_maxi<wide_t> out, const ap_int<23> *bias) {
#pragma HLS interface m_axi port=out offset=slave bundle=b
#pragma HLS interface m_axi port=bias offset=slave bundle=c
}
