// Sums of products of few bits in logic cells: a bit of the weights and a bit of the inputs make a plane, of which the
// products that are one are counted.
#ifndef HLSGEN_BIT_SUMS_H
#define HLSGEN_BIT_SUMS_H

#include <ap_int.h>

#include "hlsgen/lanes.h"

namespace hlsgen {

// Bits of a number from 0 to n.
constexpr int count_bits(int n) { return n < 1 ? 0 : 1 + count_bits(n / 2); }

inline ap_uint<1> majority(const ap_uint<1> &x, const ap_uint<1> &y, const ap_uint<1> &z) {
#pragma HLS inline
    return (x & y) | (x & z) | (y & z);
}

// How many of N bits are one. Each six of them make a number of three bits, each bit of which is a function of six
// bits, a LUT; so do the ones, the twos and the fours of these numbers again.
template <int N>
struct counting {
    static ap_uint<count_bits(N)> of(const ap_uint<1> (&bit)[N]) {
#pragma HLS inline
        constexpr int SIXES = (N + 5) / 6;
        ap_uint<1> ones[SIXES];
        ap_uint<1> twos[SIXES];
        ap_uint<1> fours[SIXES];
#pragma HLS array_partition variable=ones complete
#pragma HLS array_partition variable=twos complete
#pragma HLS array_partition variable=fours complete
        for (int s = 0; s < SIXES; ++s) {
#pragma HLS unroll
            ap_uint<1> x[6];
#pragma HLS array_partition variable=x complete
            for (int n = 0; n < 6; ++n) {
#pragma HLS unroll
                x[n] = 0;
                if (6 * s + n < N) x[n] = bit[6 * s + n];
            }
            const ap_uint<1> first = x[0] ^ x[1] ^ x[2];
            const ap_uint<1> second = x[3] ^ x[4] ^ x[5];
            const ap_uint<1> carry[3] = {majority(x[0], x[1], x[2]), majority(x[3], x[4], x[5]), first & second};
            ones[s] = first ^ second;
            twos[s] = carry[0] ^ carry[1] ^ carry[2];
            fours[s] = majority(carry[0], carry[1], carry[2]);
        }
        return counting<SIXES>::of(ones) + counting<SIXES>::of(twos) * 2 + counting<SIXES>::of(fours) * 4;
    }
};

template <>
struct counting<1> {
    static ap_uint<1> of(const ap_uint<1> (&bit)[1]) {
#pragma HLS inline
        return bit[0];
    }
};

// How many of N products of two bits are one: each three products are a function of six bits as well.
template <int N>
inline ap_uint<count_bits(N)> count_products(const ap_uint<1> (&a)[N], const ap_uint<1> (&b)[N]) {
#pragma HLS inline
    constexpr int THREES = (N + 2) / 3;
    ap_uint<1> ones[THREES];
    ap_uint<1> twos[THREES];
#pragma HLS array_partition variable=ones complete
#pragma HLS array_partition variable=twos complete
    for (int t = 0; t < THREES; ++t) {
#pragma HLS unroll
        ap_uint<1> product[3];
#pragma HLS array_partition variable=product complete
        for (int n = 0; n < 3; ++n) {
#pragma HLS unroll
            product[n] = 0;
            if (3 * t + n < N) product[n] = a[3 * t + n] & b[3 * t + n];
        }
        ones[t] = product[0] ^ product[1] ^ product[2];
        twos[t] = majority(product[0], product[1], product[2]);
    }
    return counting<THREES>::of(ones) + counting<THREES>::of(twos) * 2;
}

// What a bit of a code counts: the power of two of its place, of a sign the negative one.
template <int BITS, bool SIGNED>
inline bool is_sign(int place) {
#pragma HLS inline
    return SIGNED && place == BITS - 1;
}

// The dot product of numbers of IN_BITS and WEIGHT_BITS bits, plane by plane. S must hold it in SUM_BITS.
template <typename S, int IN_BITS, bool IN_SIGNED, int WEIGHT_BITS, bool WEIGHT_SIGNED, int SUM_BITS, typename A,
          typename W, int N>
inline S dot_planes(const A (&a)[N], const W (&w)[N]) {
#pragma HLS inline
    ap_int<SUM_BITS> sum = 0;
    for (int j = 0; j < IN_BITS; ++j) {
#pragma HLS unroll
        for (int i = 0; i < WEIGHT_BITS; ++i) {
#pragma HLS unroll
            ap_uint<1> inputs[N];
            ap_uint<1> weights[N];
#pragma HLS array_partition variable=inputs complete
#pragma HLS array_partition variable=weights complete
            for (int n = 0; n < N; ++n) {
#pragma HLS unroll
                inputs[n] = bits_of<IN_BITS>(a[n])[j];
                weights[n] = bits_of<WEIGHT_BITS>(w[n])[i];
            }
            const ap_int<SUM_BITS> plane = ap_int<SUM_BITS>(count_products(inputs, weights)) << (i + j);
            if (is_sign<IN_BITS, IN_SIGNED>(j) != is_sign<WEIGHT_BITS, WEIGHT_SIGNED>(i)) sum -= plane;
            else sum += plane;
        }
    }
    const ap_uint<SUM_BITS> bits = sum;
    S dot;
    set_bits<SUM_BITS>(dot, bits);
    return dot;
}

// The sum of numbers of IN_BITS bits, as a code: what all dot products of weights -1 and 1 with them share.
template <int IN_BITS, bool IN_SIGNED, int SUM_BITS, typename A, int N>
inline ap_int<SUM_BITS> total_of(const A (&a)[N]) {
#pragma HLS inline
    ap_int<SUM_BITS> total = 0;
    for (int j = 0; j < IN_BITS; ++j) {
#pragma HLS unroll
        ap_uint<1> inputs[N];
#pragma HLS array_partition variable=inputs complete
        for (int n = 0; n < N; ++n) {
#pragma HLS unroll
            inputs[n] = bits_of<IN_BITS>(a[n])[j];
        }
        const ap_int<SUM_BITS> plane = ap_int<SUM_BITS>(counting<N>::of(inputs)) << j;
        if (is_sign<IN_BITS, IN_SIGNED>(j)) total -= plane;
        else total += plane;
    }
    return total;
}

// The dot product with weights whose codes are -1 and 1: twice the inputs that a 1 multiplies, less all of them. Of
// inputs of a bit this is the count of an exclusive nor.
template <typename S, int IN_BITS, bool IN_SIGNED, int WEIGHT_BITS, int SUM_BITS, typename A, typename W, int N>
inline S dot_signs(const A (&a)[N], const W (&w)[N], const ap_int<SUM_BITS> &total) {
#pragma HLS inline
    ap_int<SUM_BITS> sum = -total;
    for (int j = 0; j < IN_BITS; ++j) {
#pragma HLS unroll
        ap_uint<1> inputs[N];
        ap_uint<1> positive[N];
#pragma HLS array_partition variable=inputs complete
#pragma HLS array_partition variable=positive complete
        for (int n = 0; n < N; ++n) {
#pragma HLS unroll
            const ap_uint<1> sign = bits_of<WEIGHT_BITS>(w[n])[WEIGHT_BITS - 1];
            inputs[n] = bits_of<IN_BITS>(a[n])[j];
            positive[n] = !sign;
        }
        const ap_int<SUM_BITS> plane = ap_int<SUM_BITS>(count_products(inputs, positive)) << (j + 1);
        if (is_sign<IN_BITS, IN_SIGNED>(j)) sum -= plane;
        else sum += plane;
    }
    const ap_uint<SUM_BITS> bits = sum;
    S dot;
    set_bits<SUM_BITS>(dot, bits);
    return dot;
}

}  // namespace hlsgen

#endif
