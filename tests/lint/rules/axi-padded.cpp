#include <ap_int.h>

constexpr int LANES = 3;
typedef ap_uint<LANES * 32> word_t;

void f(const word_t *in, const ap_int<23> *bias) {
#pragma HLS interface m_axi port=in offset=slave bundle=a
#pragma HLS interface m_axi port=bias offset=slave bundle=c
}
