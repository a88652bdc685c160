// Dot products: floating point in a fixed order, fixed point exact, and two narrow products a DSP.
#ifndef HLSGEN_DOT_H
#define HLSGEN_DOT_H

#include <ap_fixed.h>
#include <ap_int.h>

#include "hlsgen/lanes.h"

namespace hlsgen {

// ---- Where an operation is built --------------------------------------------------------------------------

// Logic cells instead of DSP blocks, for what the board's DSPs do not reach.
struct in_fabric {
    static float add(float a, float b) {
#pragma HLS inline
        const float sum = a + b;
#pragma HLS bind_op variable=sum op=fadd impl=fabric
        return sum;
    }
    template <typename P, typename A, typename W>
    static P multiply(const A &a, const W &w) {
#pragma HLS inline
        const P product = a * w;
#pragma HLS bind_op variable=product op=mul impl=fabric
        return product;
    }
};

// fp32: adders of two DSPs. Fixed point: not bound, so that a product and its sum share one DSP.
struct in_dsp {
    static float add(float a, float b) {
#pragma HLS inline
        const float sum = a + b;
#pragma HLS bind_op variable=sum op=fadd impl=fulldsp
        return sum;
    }
    template <typename P, typename A, typename W>
    static P multiply(const A &a, const W &w) {
#pragma HLS inline
        return a * w;
    }
};

// ---- fp32 -------------------------------------------------------------------------------------------------

// Levels of a tree of two-input adders over n terms.
constexpr int levels_of(int n) { return n <= 1 ? 0 : 1 + levels_of((n + 1) / 2); }

// The products summed as a tree: at each level neighbours are added. The order is part of the result.
template <typename Where, int N>
inline float dot_tree(const float (&a)[N], const float (&w)[N]) {
#pragma HLS inline
    float term[N];
#pragma HLS array_partition variable=term complete
    for (int n = 0; n < N; ++n) {
#pragma HLS unroll
        const float product = a[n] * w[n];
#pragma HLS bind_op variable=product op=fmul impl=maxdsp
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

// ---- Fixed point ------------------------------------------------------------------------------------------

// S must hold every sum exactly; then the order does not matter. A chain, as DSPs cascade: not balanced into a tree.
template <typename Where, typename S, typename P, typename A, typename W, int N>
inline S dot_chain(const A (&a)[N], const W (&w)[N]) {
#pragma HLS inline
#pragma HLS expression_balance off
    S sum = 0;
    for (int n = 0; n < N; ++n) {
#pragma HLS unroll
        sum += Where::template multiply<P>(a[n], w[n]);
    }
    return sum;
}

// ---- Two products a DSP -----------------------------------------------------------------------------------
//
// (w1 * 2^18 + w0) * a holds w1 * a above bit 18 and w0 * a below it. Such products may be added as long as the
// lower sum fits 18 bits with its sign; then the lower lane's sign is all that the upper lane must give back.
constexpr int LANE_BITS = 18;
constexpr int PACKED_BITS = 27;
constexpr int DSP_BITS = 48;

// Bits of two codes of CODE_BITS beside each other, the lower of which may lend one; those of the port at the most.
constexpr int pair_bits(int code_bits) {
    return LANE_BITS + code_bits + 1 < PACKED_BITS ? LANE_BITS + code_bits + 1 : PACKED_BITS;
}

// Sums of products of words that hold two numbers each, LANE bits apart. No more than CHAIN products are added
// before the lanes are taken apart, so that they stay in the DSPs' cascade; the caller guarantees
// |sum of CHAIN lower products| < 2^(LANE - 1).
template <int LANE, int CHAIN, int SUM_BITS, int PAIR_BITS, int FACTOR_BITS, int N>
inline void sum_of_pairs(const ap_int<PAIR_BITS> (&pair)[N], const ap_int<FACTOR_BITS> (&factor)[N],
                         ap_int<SUM_BITS> &lower, ap_int<SUM_BITS> &upper) {
#pragma HLS inline
#pragma HLS expression_balance off
    lower = 0;
    upper = 0;
    for (int first = 0; first < N; first += CHAIN) {
#pragma HLS unroll
        ap_int<DSP_BITS> both = 0;
        for (int n = first; n < first + CHAIN && n < N; ++n) {
#pragma HLS unroll
            both += pair[n] * factor[n];
        }
        const ap_int<LANE> low = both;
        const ap_int<DSP_BITS - LANE> high = both >> LANE;
        const ap_uint<1> lent = both[LANE - 1];  // to a lower sum below zero
        lower += low;
        upper += high + lent;
    }
}

// Two dot products of one input with two rows of weights, all as integer codes.
template <int CHAIN, int SUM_BITS, int CODE_BITS, int A_BITS, int N>
inline void dot_packed(const ap_int<A_BITS> (&a)[N], const ap_int<CODE_BITS> (&w0)[N], const ap_int<CODE_BITS> (&w1)[N],
                       ap_int<SUM_BITS> &sum0, ap_int<SUM_BITS> &sum1) {
#pragma HLS inline
    ap_int<pair_bits(CODE_BITS)> pair[N];
#pragma HLS array_partition variable=pair complete
    for (int n = 0; n < N; ++n) {
#pragma HLS unroll
        pair[n] = (ap_int<pair_bits(CODE_BITS)>(w1[n]) << LANE_BITS) + w0[n];
    }
    sum_of_pairs<LANE_BITS, CHAIN>(pair, a, sum0, sum1);
}

// The same for fixed-point numbers: IN_BITS and WEIGHT_BITS are their widths, IN_CODE and WEIGHT_CODE those of their
// codes with a sign. S must hold every sum exactly, in SUM_BITS.
template <int CHAIN, int IN_BITS, int IN_CODE, int WEIGHT_BITS, int WEIGHT_CODE, int SUM_BITS, typename A, typename W,
          typename S, int N>
inline void dot_pair(const A (&a)[N], const W (&w0)[N], const W (&w1)[N], S &sum0, S &sum1) {
#pragma HLS inline
    ap_int<IN_CODE> code[N];
    ap_int<WEIGHT_CODE> low[N];
    ap_int<WEIGHT_CODE> high[N];
#pragma HLS array_partition variable=code complete
#pragma HLS array_partition variable=low complete
#pragma HLS array_partition variable=high complete
    for (int n = 0; n < N; ++n) {
#pragma HLS unroll
        code[n] = bits_of<IN_BITS>(a[n]);
        low[n] = bits_of<WEIGHT_BITS>(w0[n]);
        high[n] = bits_of<WEIGHT_BITS>(w1[n]);
    }
    ap_int<SUM_BITS> sum[2];
    dot_packed<CHAIN>(code, low, high, sum[0], sum[1]);
    const ap_uint<SUM_BITS> bits0 = sum[0];
    const ap_uint<SUM_BITS> bits1 = sum[1];
    set_bits<SUM_BITS>(sum0, bits0);
    set_bits<SUM_BITS>(sum1, bits1);
}

}  // namespace hlsgen

#endif
