#include <ap_int.h>

void f(const ap_uint<1024> *in) {
#pragma HLS interface m_axi port=in offset=slave bundle=gmem
}
