// Dot products with four products a DSP.
//
// Weights side by side times the inputs of one pixel, or of two side by side: four products, LANE bits apart. Such
// products may be added as long as each sum fits LANE bits with its sign; a lower sum below zero has lent one to the
// next.
#ifndef HLSGEN_QUADS_H
#define HLSGEN_QUADS_H

#include <ap_fixed.h>
#include <ap_int.h>

#include "hlsgen/dot.h"
#include "hlsgen/lanes.h"

namespace hlsgen {

constexpr int QUAD = 4;
constexpr int FACTOR_BITS = 18;

// Four dot products: of QUAD / PIXELS rows of weights with the inputs of PIXELS pixels, sum by sum the pixels of a row
// of weights. IN_BITS, IN_CODE, WEIGHT_BITS, WEIGHT_CODE and SUM_BITS are those of dot_pair. No more
// than CHAIN products are added before the lanes are taken apart: the caller guarantees |sum of CHAIN products| <
// 2^(LANE - 1) in each.
template <int PIXELS, int LANE, int CHAIN, int IN_BITS, int IN_CODE, int WEIGHT_BITS, int WEIGHT_CODE, int SUM_BITS,
          typename A, typename W, typename S, int N>
inline void dot_quad(const A (&a)[PIXELS][N], const W (&w)[QUAD / PIXELS][N], S (&dot)[QUAD]) {
#pragma HLS inline
#pragma HLS expression_balance off
    static_assert(QUAD * LANE <= DSP_BITS, "four sums must fit a DSP's adder");
    static_assert((QUAD - PIXELS) * LANE + WEIGHT_CODE <= PACKED_BITS, "the weights must fit a DSP's wide port");
    static_assert((PIXELS - 1) * LANE + IN_CODE <= FACTOR_BITS, "the inputs must fit a DSP's narrow port");
    ap_int<SUM_BITS> sum[QUAD];
#pragma HLS array_partition variable=sum complete
    for (int q = 0; q < QUAD; ++q) {
#pragma HLS unroll
        sum[q] = 0;
    }
    for (int begin = 0; begin < N; begin += CHAIN) {
#pragma HLS unroll
        ap_int<DSP_BITS> lanes = 0;
        for (int n = begin; n < begin + CHAIN && n < N; ++n) {
#pragma HLS unroll
            ap_int<PACKED_BITS> weights = 0;
            for (int i = 0; i < QUAD / PIXELS; ++i) {
#pragma HLS unroll
                const ap_int<WEIGHT_CODE> code = bits_of<WEIGHT_BITS>(w[i][n]);
                weights += ap_int<PACKED_BITS>(code) << (i * PIXELS * LANE);
            }
            ap_int<FACTOR_BITS> inputs = 0;
            for (int p = 0; p < PIXELS; ++p) {
#pragma HLS unroll
                const ap_int<IN_CODE> code = bits_of<IN_BITS>(a[p][n]);
                inputs += ap_int<FACTOR_BITS>(code) << (p * LANE);
            }
            lanes += weights * inputs;
        }
        for (int q = 0; q < QUAD; ++q) {
#pragma HLS unroll
            const ap_int<LANE> own = lanes >> (q * LANE);
            sum[q] += own;
            if (q > 0) sum[q] += ap_uint<1>(lanes[q * LANE - 1]);
        }
    }
    for (int q = 0; q < QUAD; ++q) {
#pragma HLS unroll
        const ap_uint<SUM_BITS> bits = sum[q];
        set_bits<SUM_BITS>(dot[q], bits);
    }
}

}  // namespace hlsgen

#endif
