#include <ap_int.h>

constexpr int LANES = 80;

template <int W>
ap_uint<W> same(const ap_uint<W> &x) {
#pragma HLS inline
    return x;
}

void f(ap_uint<LANES * 16> &word) {
    word = same<LANES * 16>(word);
}
