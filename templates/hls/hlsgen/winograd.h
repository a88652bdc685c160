// Winograd's F(2, 3) along the rows: two rows of a sum over three kernel rows by four products instead of six.
//
// With rows d0..d3 of a column and rows g0..g2 of the kernel, each product belongs to a point:
//
//   point   rows v     kernel u
//   0       d0 - d2    g0
//   1       d1 + d2    g0 + g1 + g2   (twice the textbook's, so that it is whole)
//   2       d2 - d1    g0 - g1 + g2   (likewise)
//   3       d1 - d3    g2
//
//   row 0 = u0 v0 + (u1 v1 + u2 v2) / 2,   row 1 = (u1 v1 - u2 v2) / 2 - u3 v3
//
// Both halves are whole numbers: the results are the convolution's, bit for bit.
#ifndef HLSGEN_WINOGRAD_H
#define HLSGEN_WINOGRAD_H

#include <ap_int.h>

#include "hlsgen/dot.h"

namespace hlsgen {

constexpr int POINTS = 4;

template <int BITS>
inline void rows_at_points(const ap_int<BITS> (&d)[4], ap_int<BITS + 1> (&v)[POINTS]) {
#pragma HLS inline
    v[0] = d[0] - d[2];
    v[1] = d[1] + d[2];
    v[2] = d[2] - d[1];
    v[3] = d[1] - d[3];
}

template <int BITS>
inline void kernel_at_points(const ap_int<BITS> (&g)[3], ap_int<BITS + 2> (&u)[POINTS]) {
#pragma HLS inline
    const ap_int<BITS + 1> outer = g[0] + g[2];
    u[0] = g[0];
    u[1] = outer + g[1];
    u[2] = outer - g[1];
    u[3] = g[2];
}

// The two rows of sums over all points. Only their own bits count: those above may be missing from the sums, but for
// one, which the halves take.
template <int BITS>
inline void rows_of_points(const ap_int<BITS + 1> (&sum)[POINTS], ap_int<BITS> (&row)[2]) {
#pragma HLS inline
    const ap_int<BITS + 1> both = sum[1] + sum[2];
    const ap_int<BITS + 1> difference = sum[1] - sum[2];
    row[0] = sum[0] + (both >> 1);
    row[1] = (difference >> 1) - sum[3];
}

// Two rows' words beside each other in a multiplier.
template <int LANE, int BITS>
inline ap_int<PACKED_BITS> beside(const ap_int<BITS> &lower, const ap_int<BITS> &upper) {
#pragma HLS inline
    return (ap_int<PACKED_BITS>(upper) << LANE) + lower;
}

// The two words of a multiplier again.
template <int LANE, int BITS>
inline void apart(const ap_int<PACKED_BITS> &word, ap_int<BITS> &lower, ap_int<BITS> &upper) {
#pragma HLS inline
    const ap_int<LANE> low = word;
    const ap_int<PACKED_BITS - LANE> high = word >> LANE;
    const ap_uint<1> lent = word[LANE - 1];
    lower = low;
    upper = high + lent;
}

// The sum of N products in logic cells.
template <int SUM_BITS, int A_BITS, int W_BITS, int N>
inline ap_int<SUM_BITS> sum_in_fabric(const ap_int<A_BITS> (&a)[N], const ap_int<W_BITS> (&w)[N]) {
#pragma HLS inline
    ap_int<SUM_BITS> sum = 0;
    for (int n = 0; n < N; ++n) {
#pragma HLS unroll
        sum += in_fabric::multiply<ap_int<A_BITS + W_BITS>>(a[n], w[n]);
    }
    return sum;
}

// The same in DSPs, as a cascade.
template <int SUM_BITS, int A_BITS, int W_BITS, int N>
inline ap_int<SUM_BITS> sum_in_dsp(const ap_int<A_BITS> (&a)[N], const ap_int<W_BITS> (&w)[N]) {
#pragma HLS inline
#pragma HLS expression_balance off
    ap_int<SUM_BITS> sum = 0;
    for (int n = 0; n < N; ++n) {
#pragma HLS unroll
        sum += a[n] * w[n];
    }
    return sum;
}

}  // namespace hlsgen

#endif
