// The bits of a half, IEEE 754's binary16. hlsgen/lanes.h includes it before it packs elements.
#ifndef HLSGEN_HALF_H
#define HLSGEN_HALF_H

#include <ap_int.h>
#include <hls_half.h>

namespace hlsgen {

template <typename T>
struct width_of;

template <>
struct width_of<half> {
    static constexpr int BITS = 16;
};

union half_bits {
    half value;
    unsigned short bits;

    half_bits() {}  // the vendor's half has a constructor of its own in C-simulation
};

template <int BITS>
inline ap_uint<BITS> bits_of(const half &value) {
#pragma HLS inline
    half_bits both;
    both.value = value;
    return both.bits;
}

template <int BITS>
inline void set_bits(half &value, const ap_uint<BITS> &bits) {
#pragma HLS inline
    half_bits both;
    both.bits = bits.to_uint();
    value = both.value;
}

}  // namespace hlsgen

#endif
