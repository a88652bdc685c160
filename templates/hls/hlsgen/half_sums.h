// half: its adders, sums of its products, and its way to float and back.
#ifndef HLSGEN_HALF_SUMS_H
#define HLSGEN_HALF_SUMS_H

#include "hlsgen/dot.h"
#include "hlsgen/half.h"
#include "hlsgen/lanes.h"

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

// ---- Words in float, in which averages are computed -------------------------------------------------------

template <int N>
inline lanes<float, N> widened(const lanes<half, N> &word) {
#pragma HLS inline
    lanes<float, N> wide;
    for (int l = 0; l < N; ++l) {
#pragma HLS unroll
        wide.lane[l] = word.lane[l];
    }
    return wide;
}

template <int N>
inline lanes<half, N> narrowed(const lanes<float, N> &word) {
#pragma HLS inline
    lanes<half, N> narrow;
    for (int l = 0; l < N; ++l) {
#pragma HLS unroll
        narrow.lane[l] = word.lane[l];
    }
    return narrow;
}

}  // namespace hlsgen

#endif
