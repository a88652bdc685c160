// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// Rounding and overflow: any number as the bits of a fixed-point type.
#ifndef HLSGEN_SCHEDULE_AP_FIXED_CONVERT_H
#define HLSGEN_SCHEDULE_AP_FIXED_CONVERT_H

#include "ap_int.h"

namespace ap_exact {

// x with more bits of fraction; N holds the result.
template <class N_, int Left_, class T_>
AP_INLINE constexpr N_ aligned(T_ x) {
    if constexpr (Left_ == 0) return static_cast<N_>(x);
    else return static_cast<N_>(static_cast<N_>(x) * (static_cast<N_>(1) << Left_));
}

// Whether a number is to be rounded up: `half`: the first dropped bit; `rest`: whether one of the others is set; `odd`:
// the last kept one.
template <ap_q_mode Q_>
AP_INLINE constexpr bool rounds_up(bool negative, bool odd, bool half, bool rest) {
    if constexpr (Q_ == AP_RND) return half;
    else if constexpr (Q_ == AP_RND_ZERO) return half && (negative || rest);
    else if constexpr (Q_ == AP_RND_MIN_INF) return half && rest;
    else if constexpr (Q_ == AP_RND_INF) return half && (!negative || rest);
    else if constexpr (Q_ == AP_RND_CONV) return half && (odd || rest);
    else if constexpr (Q_ == AP_TRN_ZERO) return negative && (half || rest);
    else return false;
}

// x / 2**right, rounded, as a signed number. x has W bits with sign S.
template <int W_, bool S_, int Right_, ap_q_mode Q_>
AP_INLINE constexpr auto rounded(value_t<W_, S_> x) {
    constexpr int kept = larger(W_ - Right_, 1);  // of the bits of x
    constexpr int wide = kept + 1 + !S_;         // with a carry, and a sign
    typedef value_t<wide, true> N_;
    typedef ubits_t<W_> U_;
    const bool negative = S_ && x < 0;
    const N_ floor = Right_ < W_ ? static_cast<N_>(x >> smaller(Right_, W_ - 1)) : static_cast<N_>(negative ? -1 : 0);
    if constexpr (Q_ == AP_TRN) return floor;
    else {
        const bool half = Right_ <= W_ ? get_bit<W_, false>(static_cast<U_>(x), smaller(Right_, W_) - 1) : negative;
        constexpr int below = smaller(Right_ - 1, W_);
        bool rest = false;
        if constexpr (below > 0) rest = static_cast<ubits_t<larger(below, 1)>>(x) != 0;
        if constexpr (Right_ - 1 > W_ && S_) rest = rest || negative;
        return static_cast<N_>(floor + static_cast<N_>(static_cast<ubits_t<1>>(rounds_up<Q_>(negative, (floor & 1) != 0, half, rest))));
    }
}

// x * 2**Left, a signed number of W2 bits, as the bits of a type of W bits; `sign`: the first dropped bit.
template <int W_, bool S_, ap_o_mode O_, int Left_, int W2_>
AP_INLINE constexpr bits_t<W_, S_> limited(value_t<W2_, true> x, bool sign) {
    constexpr int wide = larger(W2_ + Left_, W_ + 1 + !S_);  // holds x and both limits
    typedef value_t<wide, true> N_;
    const N_ all = aligned<N_, Left_>(x);
    const bits_t<W_, S_> wrapped = wrap<W_, S_>(all);
    if constexpr (O_ == AP_WRAP || (S_ && W2_ + Left_ <= W_ && O_ != AP_SAT_SYM)) return wrapped;
    else {
        constexpr N_ top = (static_cast<N_>(1) << (W_ - S_)) - 1;
        constexpr N_ bottom = !S_ ? 0 : O_ == AP_SAT_SYM && W_ > 1 ? -top : -top - 1;
        const bool above = all > top, below = all < bottom;
        if constexpr (O_ == AP_SAT_ZERO) return above || below ? bits_t<W_, S_>(0) : wrapped;
        else if constexpr (O_ == AP_WRAP_SM) {
            const bool flipped = (above || below) && sign != (value<W_, S_>(wrapped) < 0);
            return flipped ? wrap<W_, S_>(~static_cast<ubits_t<W_>>(wrapped)) : wrapped;
        } else return above ? wrap<W_, S_>(top) : below ? wrap<W_, S_>(bottom) : wrapped;
    }
}

// x * 2**-Right, x a number of W2 bits with sign S2.
template <int W_, bool S_, ap_q_mode Q_, ap_o_mode O_, int W2_, bool S2_, int Right_>
AP_INLINE constexpr bits_t<W_, S_> converted(value_t<W2_, S2_> x) {
    if constexpr (Right_ > 0) {
        constexpr int kept = larger(W2_ - Right_, 1) + 1 + !S2_;
        bool sign = S2_ && x < 0;
        if constexpr (O_ == AP_WRAP_SM && W_ + Right_ < W2_) sign = get_bit<W2_, false>(static_cast<ubits_t<W2_>>(x), W_ + Right_);
        return limited<W_, S_, O_, 0, kept>(rounded<W2_, S2_, Right_, Q_>(x), sign);
    } else if constexpr (O_ == AP_WRAP) {
        return -Right_ >= W_ ? bits_t<W_, S_>(0) : wrap<W_, S_>(static_cast<ubits_t<W_>>(static_cast<ubits_t<W_>>(x) << smaller(-Right_, W_ - 1)));
    } else {
        bool sign = S2_ && x < 0;
        if constexpr (O_ == AP_WRAP_SM && W_ + Right_ < 0) sign = false;
        else if constexpr (O_ == AP_WRAP_SM && W_ + Right_ < W2_) sign = get_bit<W2_, false>(static_cast<ubits_t<W2_>>(x), W_ + Right_);
        return limited<W_, S_, O_, -Right_, W2_ + !S2_>(x, sign);
    }
}

// A floating-point number, as the bits of a type with the given fraction.
template <int W_, bool S_, ap_q_mode Q_, ap_o_mode O_, int Fraction_, class P_>
AP_INLINE constexpr bits_t<W_, S_> converted_parts(const P_& parts) {
    constexpr int digits = P_::fraction + 1;
    constexpr int wide = larger(digits, W_) + 3;
    typedef value_t<wide, true> N_;
    typedef ubits_t<wide> U_;
    const N_ size = static_cast<N_>(parts.size);
    const N_ x = parts.negative ? static_cast<N_>(-size) : size;
    const int right = P_::fraction - parts.exponent - Fraction_;
    const int down = right > 0 ? (right < digits + 1 ? right : digits + 1) : 0;
    const int left = right < 0 ? -right : 0;
    N_ kept = static_cast<N_>(x >> down);
    if constexpr (Q_ != AP_TRN) {
        const N_ dropped = static_cast<N_>(x - static_cast<N_>(kept << down));  // 0 .. 2**down - 1
        const bool half = down > 0 && get_bit<wide, true>(dropped, down - 1);
        const bool rest = down > 1 && static_cast<U_>(static_cast<U_>(dropped) << (wide - down + 1)) != 0;
        kept = static_cast<N_>(kept + static_cast<N_>(static_cast<ubits_t<1>>(rounds_up<Q_>(x < 0, (kept & 1) != 0, half, rest))));
    }
    const bits_t<W_, S_> wrapped = wrap<W_, S_>(shifted_left(static_cast<U_>(kept), left, wide));
    if constexpr (O_ == AP_WRAP) return wrapped;
    else {
        // what is shifted left is compared before the shift, which could lose bits
        constexpr N_ top = (static_cast<N_>(1) << (W_ - S_)) - 1;
        constexpr bool symmetric = O_ == AP_SAT_SYM && W_ > 1;
        constexpr N_ bottom = !S_ ? 0 : symmetric ? -top : -top - 1;
        const N_ last = shifted_right(top, left, wide);
        const N_ first = symmetric ? (S_ ? -last : N_(0)) : left < W_ ? shifted_right(bottom, left, wide) : N_(0);
        const bool above = kept > last, below = kept < first;
        if constexpr (O_ == AP_SAT_ZERO) return above || below ? bits_t<W_, S_>(0) : wrapped;
        else if constexpr (O_ == AP_WRAP_SM) {
            const N_ floor = static_cast<N_>(x >> down);
            const bool sign = W_ >= left && (shifted_right(floor, W_ - left, wide) & 1) != 0;
            const bool flipped = (above || below) && sign != (value<W_, S_>(wrapped) < 0);
            return flipped ? wrap<W_, S_>(~static_cast<ubits_t<W_>>(wrapped)) : wrapped;
        } else return above ? wrap<W_, S_>(top) : below ? wrap<W_, S_>(bottom) : wrapped;
    }
}

// 2**Exponent_.
template <int Exponent_>
AP_INLINE constexpr double power_of_two() {
    return __builtin_bit_cast(double, static_cast<unsigned long long>(1023 + Exponent_) << 52);
}

// A number as the bits of a type. Of constants, by the thousand in arrays of weights, the common kind is computed with
// few operations, for each costs the compiler time.
template <int W_, bool S_, ap_q_mode Q_, ap_o_mode O_, int Fraction_, class F_>
AP_INLINE constexpr bits_t<W_, S_> converted_floating(F_ x) {
    if constexpr (Q_ == AP_TRN && O_ == AP_WRAP && W_ <= 62 && Fraction_ > -500 && Fraction_ < 500 && std::is_floating_point<F_>::value) {
        if (__builtin_is_constant_evaluated()) {
            const double scaled = static_cast<double>(x) * power_of_two<Fraction_>();
            if (scaled > -power_of_two<62>() && scaled < power_of_two<62>()) {
                const long long whole = static_cast<long long>(scaled);
                return wrap<W_, S_>(whole - (static_cast<double>(whole) > scaled));
            }
        }
    }
    return converted_parts<W_, S_, Q_, O_, Fraction_>(typename parts_of<F_>::type(x));
}

// The nearest floating-point number (halves to even) to a fixed-point number of W bits, I of them integer.
template <class F_, class Raw_, int Fraction_, int Exponent_, int W_, int I_, bool S_>
AP_INLINE constexpr F_ floating(value_t<W_, S_> x) {
    constexpr int wide = larger(W_, Fraction_ + 2) + 1;
    const bool negative = S_ && x < 0;
    const ubits_t<W_> size = negative ? static_cast<ubits_t<W_>>(0 - static_cast<ubits_t<W_>>(x)) : static_cast<ubits_t<W_>>(x);
    const int zeros = __builtin_clzg(size, W_);
    const ubits_t<wide> normal = static_cast<ubits_t<wide>>(static_cast<ubits_t<wide>>(size) << (wide - W_ + zeros));
    const Raw_ kept = static_cast<Raw_>(normal >> (wide - Fraction_ - 1));
    const bool half = get_bit<wide, false>(normal, wide - Fraction_ - 2);
    const bool rest = static_cast<ubits_t<wide - Fraction_ - 2>>(normal) != 0;
    // a carry out of the fraction goes on into the exponent, which is one less here for the leading 1
    const int exponent = I_ - zeros - 2 + ((1 << (Exponent_ - 1)) - 1);
    const Raw_ raw = (static_cast<Raw_>(exponent) << Fraction_) + kept + static_cast<Raw_>(half && (rest || (kept & 1) != 0));
    const Raw_ sign = static_cast<Raw_>(static_cast<Raw_>(negative) << (Fraction_ + Exponent_));
    return size == 0 ? F_(0) : __builtin_bit_cast(F_, static_cast<Raw_>(raw | sign));
}

}  // namespace ap_exact

#endif
