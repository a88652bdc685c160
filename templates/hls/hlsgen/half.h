// half, IEEE 754's binary16: its bits in words, its adders, and sums of its products.
//
// Included before hlsgen/lanes.h, so that what that header packs finds the bits of a half.
#ifndef HLSGEN_HALF_H
#define HLSGEN_HALF_H

#include <ap_int.h>
#include <hls_half.h>

namespace hlsgen {

// ---- Bits -------------------------------------------------------------------------------------------------

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

#include "hlsgen/dot.h"

namespace hlsgen {

// ---- Where an operation is built --------------------------------------------------------------------------

// Logic cells instead of DSP blocks, for what the board's DSPs do not reach.
struct half_in_fabric {
    static half add(const half &a, const half &b) {
#pragma HLS inline
        const half sum = a + b;
#pragma HLS bind_op variable=sum op=hadd impl=fabric
        return sum;
    }
};

// Adders of two DSPs.
struct half_in_dsp {
    static half add(const half &a, const half &b) {
#pragma HLS inline
        const half sum = a + b;
#pragma HLS bind_op variable=sum op=hadd impl=fulldsp
        return sum;
    }
};

// ---- Sums of products -------------------------------------------------------------------------------------

// The products summed as a tree: at each level neighbours are added. Each operation rounds to half, so the order is
// part of the result.
template <typename Where, int N>
inline half half_dot_tree(const half (&a)[N], const half (&w)[N]) {
#pragma HLS inline
    half term[N];
#pragma HLS array_partition variable=term complete
    for (int n = 0; n < N; ++n) {
#pragma HLS unroll
        const half product = a[n] * w[n];
#pragma HLS bind_op variable=product op=hmul impl=maxdsp
        term[n] = product;
    }
    constexpr int LEVELS = levels_of(N);
    for (int level = 0; level < LEVELS; ++level) {
#pragma HLS unroll
        const int step = 1 << level;
        for (int n = 0; n + step < N; n += 2 * step) {
#pragma HLS unroll
            term[n] = Where::add(term[n], term[n + step]);
        }
    }
    return term[0];
}

// The same in float: a product of two halves is exact there.
template <typename Where, int N>
inline float widened_dot_tree(const half (&a)[N], const half (&w)[N]) {
#pragma HLS inline
    float wide_a[N], wide_w[N];
#pragma HLS array_partition variable=wide_a complete
#pragma HLS array_partition variable=wide_w complete
    for (int n = 0; n < N; ++n) {
#pragma HLS unroll
        wide_a[n] = a[n];
        wide_w[n] = w[n];
    }
    return dot_tree<Where>(wide_a, wide_w);
}

}  // namespace hlsgen

#endif
