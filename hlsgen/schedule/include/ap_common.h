// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// What the ap_ types share: exact storage, rounding and overflow modes, built-in integers as numbers of known width.
//
// These headers are read by Clang for the schedule of a kernel: each operation is one instruction of the width that
// hardware has. Written from scratch against the documented behaviour of the vendor's types.
#ifndef HLSGEN_SCHEDULE_AP_COMMON_H
#define HLSGEN_SCHEDULE_AP_COMMON_H

#ifdef __cplusplus
#include <type_traits>

#include "hls_half.h"

#define AP_INLINE inline __attribute__((always_inline))

enum ap_q_mode {
    AP_RND,          // nearest, halves towards plus infinity
    AP_RND_ZERO,     // nearest, halves towards zero
    AP_RND_MIN_INF,  // nearest, halves towards minus infinity
    AP_RND_INF,      // nearest, halves away from zero
    AP_RND_CONV,     // nearest, halves to even
    AP_TRN,          // towards minus infinity
    AP_TRN_ZERO      // towards zero
};

enum ap_o_mode {
    AP_SAT,       // nearest end of the range
    AP_SAT_ZERO,  // zero
    AP_SAT_SYM,   // nearest end of the range, which is symmetric
    AP_WRAP,      // drop the high bits
    AP_WRAP_SM    // sign-magnitude wrap
};

typedef signed long long ap_slong;
typedef unsigned long long ap_ulong;

template <int W_> struct ap_int;
template <int W_> struct ap_uint;
template <int W_, bool S_> struct ap_int_base;
template <int W_, int I_, ap_q_mode Q_ = AP_TRN, ap_o_mode O_ = AP_WRAP, int N_ = 0> struct ap_fixed;
template <int W_, int I_, ap_q_mode Q_ = AP_TRN, ap_o_mode O_ = AP_WRAP, int N_ = 0> struct ap_ufixed;
template <int W_, int I_, bool S_ = true, ap_q_mode Q_ = AP_TRN, ap_o_mode O_ = AP_WRAP, int N_ = 0> struct ap_fixed_base;

namespace ap_exact {

AP_INLINE constexpr int larger(int a, int b) { return a > b ? a : b; }
AP_INLINE constexpr int smaller(int a, int b) { return a < b ? a : b; }

// What the bits of a number of W bits are kept in. One signed bit is no _BitInt: it is kept as an unsigned one.
template <int W_, bool S_>
struct storage {
    static_assert(W_ >= 1, "an ap_ type has at least 1 bit");
    typedef signed _BitInt(W_) type;
};
template <int W_>
struct storage<W_, false> {
    static_assert(W_ >= 1, "an ap_ type has at least 1 bit");
    typedef unsigned _BitInt(W_) type;
};
template <> struct storage<1, true> { typedef unsigned _BitInt(1) type; };

template <int W_, bool S_> using bits_t = typename storage<W_, S_>::type;
template <int W_> using ubits_t = unsigned _BitInt(W_);

// What is computed with: as the storage, but for one signed bit, which takes two.
template <int W_, bool S_> using value_t = typename storage<(S_ && W_ == 1) ? 2 : W_, S_>::type;

// The value of stored bits, and the bits of a value, whose high ones are dropped.
template <int W_, bool S_>
AP_INLINE constexpr value_t<W_, S_> value(bits_t<W_, S_> bits) {
    if constexpr (S_ && W_ == 1) return -static_cast<value_t<W_, S_>>(bits);
    else return bits;
}
template <int W_, bool S_, class T_>
AP_INLINE constexpr bits_t<W_, S_> wrap(T_ x) {
    if constexpr (S_ && W_ > 1) return static_cast<bits_t<W_, S_>>(static_cast<ubits_t<W_>>(x));
    else return static_cast<ubits_t<W_>>(x);
}

// Shifts by counts that may exceed the width: then zeros, or signs, are left. Negative counts shift the other way.
template <class U_, class C_>
AP_INLINE constexpr U_ shifted_left(U_ x, C_ count, int width) {
    return count < static_cast<C_>(width) ? static_cast<U_>(x << count) : U_(0);
}
template <class T_, class C_>
AP_INLINE constexpr T_ shifted_right(T_ x, C_ count, int width) {
    return count < static_cast<C_>(width) ? static_cast<T_>(x >> count) : static_cast<T_>(x < 0 ? T_(-1) : T_(0));
}

template <int W_, bool S_>
AP_INLINE constexpr bool get_bit(const bits_t<W_, S_>& bits, int i) {
    return static_cast<ubits_t<1>>(static_cast<ubits_t<W_>>(bits) >> i) != 0;
}
template <int W_, bool S_>
AP_INLINE constexpr void set_bit(bits_t<W_, S_>& bits, int i, bool x) {
    const ubits_t<W_> one = static_cast<ubits_t<W_>>(static_cast<ubits_t<W_>>(1) << i);
    const ubits_t<W_> there = static_cast<ubits_t<W_>>(static_cast<ubits_t<W_>>(x) << i);
    bits = wrap<W_, S_>(static_cast<ubits_t<W_>>(static_cast<ubits_t<W_>>(bits) & ~one) | there);
}

template <int W_>
AP_INLINE constexpr ubits_t<W_> mirrored(ubits_t<W_> x) {
    return __builtin_elementwise_bitreverse(x);
}

// The size of a shift's count, without its sign.
template <class C_>
AP_INLINE constexpr typename std::make_unsigned<C_>::type size_of(C_ count) {
    return count < 0 ? static_cast<typename std::make_unsigned<C_>::type>(0 - static_cast<typename std::make_unsigned<C_>::type>(count))
                     : static_cast<typename std::make_unsigned<C_>::type>(count);
}

// Bits shifted to the left, or down. Both are there and one is chosen, unless the direction is known.
template <int W_, bool S_, class C_>
AP_INLINE constexpr ubits_t<W_> shifted_either(bits_t<W_, S_> bits, bool down, C_ count) {
    const ubits_t<W_> up = shifted_left(static_cast<ubits_t<W_>>(bits), count, W_);
    const ubits_t<W_> lower = static_cast<ubits_t<W_>>(shifted_right(value<W_, S_>(bits), count, W_));
    return down ? lower : up;
}

// A number written in text, as constructors take it: "-0x1F", "0b101", "1010" with its radix.
template <int W_>
constexpr ubits_t<W_> parsed(const char* text, int radix) {
    const bool negative = *text == '-';
    if (*text == '-' || *text == '+') ++text;
    if (text[0] == '0' && text[1] != 0) {
        const char kind = text[1] | 32;
        const int named = kind == 'x' ? 16 : kind == 'b' ? 2 : kind == 'o' ? 8 : kind == 'd' ? 10 : 0;
        if (named != 0 && !(radix == 16 && named != 16)) {
            text += 2;
            if (radix == 0) radix = named;
        }
    }
    if (radix == 0) radix = 10;
    ubits_t<larger(W_, 8)> all = 0;
    for (; *text != 0; ++text) {
        const char c = *text;
        const int digit = c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
        if (digit >= 0) all = static_cast<ubits_t<larger(W_, 8)>>(all * static_cast<unsigned>(radix) + static_cast<unsigned>(digit));
    }
    return static_cast<ubits_t<W_>>(negative ? 0 - all : all);
}

// Built-in integers (and enumerations without a class) as numbers of known width.
template <class T_, bool = std::is_integral<T_>::value, bool = std::is_enum<T_>::value && std::is_convertible<T_, int>::value>
struct native {};
template <class T_> struct native<T_, false, true> : native<decltype(+T_())> {};
template <class T_>
struct native<T_, true, false> {
    static const int width = std::is_same<T_, bool>::value ? 1 : static_cast<int>(8 * sizeof(T_));
    static const bool sign = std::is_signed<T_>::value;
    typedef ap_int_base<width, sign> type;
};

// Places that bits are read from and written to (ranges, bits, concatenations): the number that one reads as.
template <class P_> struct place {};
// What integers, numbers and places are in arithmetic.
template <class T_> struct number_of : native<T_> {};

template <class T_>
AP_INLINE constexpr int index(const T_& i) { return static_cast<int>(i); }

// ap_int or ap_uint, ap_fixed or ap_ufixed: whichever has this signedness.
template <int W_, bool S_> struct int_of { typedef ap_int<W_> type; };
template <int W_> struct int_of<W_, false> { typedef ap_uint<W_> type; };
template <int W_, bool S_> using int_of_t = typename int_of<W_, S_>::type;
template <int W_, int I_, bool S_> struct fixed_of { typedef ap_fixed<W_, I_> type; };
template <int W_, int I_> struct fixed_of<W_, I_, false> { typedef ap_ufixed<W_, I_> type; };
template <int W_, int I_, bool S_> using fixed_of_t = typename fixed_of<W_, I_, S_>::type;

// The bits of a floating-point number.
template <class Raw_, class F_> AP_INLINE constexpr Raw_ raw_of(F_ x) { return __builtin_bit_cast(Raw_, x); }

// A finite floating-point number as size * 2**(exponent - Fraction), size of Fraction + 1 bits.
template <class F_, class Raw_, int Fraction_, int Exponent_>
struct float_parts {
    static const int fraction = Fraction_;
    ubits_t<Fraction_ + 1> size;
    int exponent;
    bool negative;
    AP_INLINE constexpr explicit float_parts(F_ x) : size(0), exponent(0), negative(false) {
        const Raw_ raw = __builtin_bit_cast(Raw_, x);
        const Raw_ tail = raw & ((Raw_(1) << Fraction_) - 1);
        const int biased = static_cast<int>((raw >> Fraction_) & ((Raw_(1) << Exponent_) - 1));
        // subnormal numbers get an implicit 1 too: they are far below any resolution, only that they are there counts
        const bool zero = biased == 0 && tail == 0;
        size = zero ? ubits_t<Fraction_ + 1>(0) : static_cast<ubits_t<Fraction_ + 1>>(tail | (Raw_(1) << Fraction_));
        exponent = biased - ((1 << (Exponent_ - 1)) - 1);
        negative = (raw >> (Fraction_ + Exponent_)) != 0;
    }
};
typedef float_parts<double, unsigned long long, 52, 11> double_parts;
typedef float_parts<float, unsigned, 23, 8> single_parts;
typedef float_parts<half, unsigned short, 10, 5> half_parts;
template <class T_> struct parts_of {};
template <> struct parts_of<double> { typedef double_parts type; };
template <> struct parts_of<float> { typedef single_parts type; };
template <> struct parts_of<half> { typedef half_parts type; };

}  // namespace ap_exact

#endif
#endif
