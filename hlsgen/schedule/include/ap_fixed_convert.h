// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// Rounding and overflow: any number as the bits of a fixed-point type.
#ifndef HLSGEN_SCHEDULE_AP_FIXED_CONVERT_H
#define HLSGEN_SCHEDULE_AP_FIXED_CONVERT_H

#include "ap_int.h"

namespace ap_exact {

// x with more bits of fraction; N holds the result.
template <class N, int Left, class T>
AP_INLINE constexpr N aligned(T x) {
    if constexpr (Left == 0) return static_cast<N>(x);
    else return static_cast<N>(static_cast<N>(x) * (static_cast<N>(1) << Left));
}

// Whether a number is to be rounded up: `half`: the first dropped bit; `rest`: whether one of the others is set; `odd`:
// the last kept one.
template <ap_q_mode Q>
AP_INLINE constexpr bool rounds_up(bool negative, bool odd, bool half, bool rest) {
    if constexpr (Q == AP_RND) return half;
    else if constexpr (Q == AP_RND_ZERO) return half && (negative || rest);
    else if constexpr (Q == AP_RND_MIN_INF) return half && rest;
    else if constexpr (Q == AP_RND_INF) return half && (!negative || rest);
    else if constexpr (Q == AP_RND_CONV) return half && (odd || rest);
    else if constexpr (Q == AP_TRN_ZERO) return negative && (half || rest);
    else return false;
}

// x / 2**right, rounded, as a signed number. x has W bits with sign S.
template <int W, bool S, int Right, ap_q_mode Q>
AP_INLINE constexpr auto rounded(value_t<W, S> x) {
    constexpr int kept = larger(W - Right, 1);  // of the bits of x
    constexpr int wide = kept + 1 + !S;         // with a carry, and a sign
    typedef value_t<wide, true> N;
    typedef ubits_t<W> U;
    const bool negative = S && x < 0;
    const N floor = Right < W ? static_cast<N>(x >> smaller(Right, W - 1)) : static_cast<N>(negative ? -1 : 0);
    if constexpr (Q == AP_TRN) return floor;
    else {
        const bool half = Right <= W ? get_bit<W, false>(static_cast<U>(x), smaller(Right, W) - 1) : negative;
        constexpr int below = smaller(Right - 1, W);
        bool rest = false;
        if constexpr (below > 0) rest = static_cast<ubits_t<larger(below, 1)>>(x) != 0;
        if constexpr (Right - 1 > W && S) rest = rest || negative;
        return static_cast<N>(floor + static_cast<N>(static_cast<ubits_t<1>>(rounds_up<Q>(negative, (floor & 1) != 0, half, rest))));
    }
}

// x * 2**Left, a signed number of W2 bits, as the bits of a type of W bits; `sign`: the first dropped bit.
template <int W, bool S, ap_o_mode O, int Left, int W2>
AP_INLINE constexpr bits_t<W, S> limited(value_t<W2, true> x, bool sign) {
    constexpr int wide = larger(W2 + Left, W + 1 + !S);  // holds x and both limits
    typedef value_t<wide, true> N;
    const N all = aligned<N, Left>(x);
    const bits_t<W, S> wrapped = wrap<W, S>(all);
    if constexpr (O == AP_WRAP || (S && W2 + Left <= W && O != AP_SAT_SYM)) return wrapped;
    else {
        constexpr N top = (static_cast<N>(1) << (W - S)) - 1;
        constexpr N bottom = !S ? 0 : O == AP_SAT_SYM && W > 1 ? -top : -top - 1;
        const bool above = all > top, below = all < bottom;
        if constexpr (O == AP_SAT_ZERO) return above || below ? bits_t<W, S>(0) : wrapped;
        else if constexpr (O == AP_WRAP_SM) {
            const bool flipped = (above || below) && sign != (value<W, S>(wrapped) < 0);
            return flipped ? wrap<W, S>(~static_cast<ubits_t<W>>(wrapped)) : wrapped;
        } else return above ? wrap<W, S>(top) : below ? wrap<W, S>(bottom) : wrapped;
    }
}

// x * 2**-Right, x a number of W2 bits with sign S2.
template <int W, bool S, ap_q_mode Q, ap_o_mode O, int W2, bool S2, int Right>
AP_INLINE constexpr bits_t<W, S> converted(value_t<W2, S2> x) {
    if constexpr (Right > 0) {
        constexpr int kept = larger(W2 - Right, 1) + 1 + !S2;
        bool sign = S2 && x < 0;
        if constexpr (O == AP_WRAP_SM && W + Right < W2) sign = get_bit<W2, false>(static_cast<ubits_t<W2>>(x), W + Right);
        return limited<W, S, O, 0, kept>(rounded<W2, S2, Right, Q>(x), sign);
    } else if constexpr (O == AP_WRAP) {
        return -Right >= W ? bits_t<W, S>(0) : wrap<W, S>(static_cast<ubits_t<W>>(static_cast<ubits_t<W>>(x) << smaller(-Right, W - 1)));
    } else {
        bool sign = S2 && x < 0;
        if constexpr (O == AP_WRAP_SM && W + Right < 0) sign = false;
        else if constexpr (O == AP_WRAP_SM && W + Right < W2) sign = get_bit<W2, false>(static_cast<ubits_t<W2>>(x), W + Right);
        return limited<W, S, O, -Right, W2 + !S2>(x, sign);
    }
}

// A floating-point number, as the bits of a type with the given fraction.
template <int W, bool S, ap_q_mode Q, ap_o_mode O, int Fraction, class P>
AP_INLINE constexpr bits_t<W, S> converted_parts(const P& parts) {
    constexpr int digits = P::fraction + 1;
    constexpr int wide = larger(digits, W) + 3;
    typedef value_t<wide, true> N;
    typedef ubits_t<wide> U;
    const N size = static_cast<N>(parts.size);
    const N x = parts.negative ? static_cast<N>(-size) : size;
    const int right = P::fraction - parts.exponent - Fraction;
    const int down = right > 0 ? (right < digits + 1 ? right : digits + 1) : 0;
    const int left = right < 0 ? -right : 0;
    N kept = static_cast<N>(x >> down);
    if constexpr (Q != AP_TRN) {
        const N dropped = static_cast<N>(x - static_cast<N>(kept << down));  // 0 .. 2**down - 1
        const bool half = down > 0 && get_bit<wide, true>(dropped, down - 1);
        const bool rest = down > 1 && static_cast<U>(static_cast<U>(dropped) << (wide - down + 1)) != 0;
        kept = static_cast<N>(kept + static_cast<N>(static_cast<ubits_t<1>>(rounds_up<Q>(x < 0, (kept & 1) != 0, half, rest))));
    }
    const bits_t<W, S> wrapped = wrap<W, S>(shifted_left(static_cast<U>(kept), left, wide));
    if constexpr (O == AP_WRAP) return wrapped;
    else {
        // what is shifted left is compared before the shift, which could lose bits
        constexpr N top = (static_cast<N>(1) << (W - S)) - 1;
        constexpr bool symmetric = O == AP_SAT_SYM && W > 1;
        constexpr N bottom = !S ? 0 : symmetric ? -top : -top - 1;
        const N last = shifted_right(top, left, wide);
        const N first = symmetric ? (S ? -last : N(0)) : left < W ? shifted_right(bottom, left, wide) : N(0);
        const bool above = kept > last, below = kept < first;
        if constexpr (O == AP_SAT_ZERO) return above || below ? bits_t<W, S>(0) : wrapped;
        else if constexpr (O == AP_WRAP_SM) {
            const N floor = static_cast<N>(x >> down);
            const bool sign = W >= left && (shifted_right(floor, W - left, wide) & 1) != 0;
            const bool flipped = (above || below) && sign != (value<W, S>(wrapped) < 0);
            return flipped ? wrap<W, S>(~static_cast<ubits_t<W>>(wrapped)) : wrapped;
        } else return above ? wrap<W, S>(top) : below ? wrap<W, S>(bottom) : wrapped;
    }
}

// The nearest floating-point number (halves to even) to a fixed-point number of W bits, I of them integer.
template <class F, class Raw, int Fraction, int Exponent, int W, int I, bool S>
AP_INLINE constexpr F floating(value_t<W, S> x) {
    constexpr int wide = larger(W, Fraction + 2) + 1;
    const bool negative = S && x < 0;
    const ubits_t<W> size = negative ? static_cast<ubits_t<W>>(0 - static_cast<ubits_t<W>>(x)) : static_cast<ubits_t<W>>(x);
    const int zeros = __builtin_clzg(size, W);
    const ubits_t<wide> normal = static_cast<ubits_t<wide>>(static_cast<ubits_t<wide>>(size) << (wide - W + zeros));
    const Raw kept = static_cast<Raw>(normal >> (wide - Fraction - 1));
    const bool half = get_bit<wide, false>(normal, wide - Fraction - 2);
    const bool rest = static_cast<ubits_t<wide - Fraction - 2>>(normal) != 0;
    // a carry out of the fraction goes on into the exponent, which is one less here for the leading 1
    const int exponent = I - zeros - 2 + ((1 << (Exponent - 1)) - 1);
    const Raw raw = (static_cast<Raw>(exponent) << Fraction) + kept + static_cast<Raw>(half && (rest || (kept & 1) != 0));
    const Raw sign = static_cast<Raw>(static_cast<Raw>(negative) << (Fraction + Exponent));
    return size == 0 ? F(0) : __builtin_bit_cast(F, static_cast<Raw>(raw | sign));
}

}  // namespace ap_exact

#endif
