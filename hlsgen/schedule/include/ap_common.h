// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// What the ap_ types share: exact storage, rounding and overflow modes, built-in integers as numbers of known width.
//
// These headers are read by Clang for the schedule of a kernel: each operation is one instruction of the width that
// hardware has. Written from scratch against the documented behaviour of the vendor's types.
#ifndef HLSGEN_SCHEDULE_AP_COMMON_H
#define HLSGEN_SCHEDULE_AP_COMMON_H

// the vendor's headers bring all of these, and kernels count on it
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef __cplusplus
#include <limits>
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

template <int W> struct ap_int;
template <int W> struct ap_uint;
template <int W, bool S> struct ap_int_base;
template <int W, int I, ap_q_mode Q = AP_TRN, ap_o_mode O = AP_WRAP, int N = 0> struct ap_fixed;
template <int W, int I, ap_q_mode Q = AP_TRN, ap_o_mode O = AP_WRAP, int N = 0> struct ap_ufixed;
template <int W, int I, bool S = true, ap_q_mode Q = AP_TRN, ap_o_mode O = AP_WRAP, int N = 0> struct ap_fixed_base;

namespace ap_exact {

AP_INLINE constexpr int larger(int a, int b) { return a > b ? a : b; }
AP_INLINE constexpr int smaller(int a, int b) { return a < b ? a : b; }

// What the bits of a number of W bits are kept in. One signed bit is no _BitInt: it is kept as an unsigned one.
template <int W, bool S>
struct storage {
    static_assert(W >= 1, "an ap_ type has at least 1 bit");
    typedef signed _BitInt(W) type;
};
template <int W>
struct storage<W, false> {
    static_assert(W >= 1, "an ap_ type has at least 1 bit");
    typedef unsigned _BitInt(W) type;
};
template <> struct storage<1, true> { typedef unsigned _BitInt(1) type; };

template <int W, bool S> using bits_t = typename storage<W, S>::type;
template <int W> using ubits_t = unsigned _BitInt(W);

// What is computed with: as the storage, but for one signed bit, which takes two.
template <int W, bool S> using value_t = typename storage<(S && W == 1) ? 2 : W, S>::type;

// The value of stored bits, and the bits of a value, whose high ones are dropped.
template <int W, bool S>
AP_INLINE constexpr value_t<W, S> value(bits_t<W, S> bits) {
    if constexpr (S && W == 1) return -static_cast<value_t<W, S>>(bits);
    else return bits;
}
template <int W, bool S, class T>
AP_INLINE constexpr bits_t<W, S> wrap(T x) {
    if constexpr (S && W > 1) return static_cast<bits_t<W, S>>(static_cast<ubits_t<W>>(x));
    else return static_cast<ubits_t<W>>(x);
}

// Shifts by counts that may exceed the width: then zeros, or signs, are left. Negative counts shift the other way.
template <class U, class C>
AP_INLINE constexpr U shifted_left(U x, C count, int width) {
    return count < static_cast<C>(width) ? static_cast<U>(x << count) : U(0);
}
template <class T, class C>
AP_INLINE constexpr T shifted_right(T x, C count, int width) {
    return count < static_cast<C>(width) ? static_cast<T>(x >> count) : static_cast<T>(x < 0 ? T(-1) : T(0));
}

template <int W, bool S>
AP_INLINE constexpr bool get_bit(const bits_t<W, S>& bits, int i) {
    return static_cast<ubits_t<1>>(static_cast<ubits_t<W>>(bits) >> i) != 0;
}
template <int W, bool S>
AP_INLINE constexpr void set_bit(bits_t<W, S>& bits, int i, bool x) {
    const ubits_t<W> one = static_cast<ubits_t<W>>(static_cast<ubits_t<W>>(1) << i);
    const ubits_t<W> there = static_cast<ubits_t<W>>(static_cast<ubits_t<W>>(x) << i);
    bits = wrap<W, S>(static_cast<ubits_t<W>>(static_cast<ubits_t<W>>(bits) & ~one) | there);
}

template <int W>
AP_INLINE constexpr ubits_t<W> mirrored(ubits_t<W> x) {
    return __builtin_elementwise_bitreverse(x);
}

// The size of a shift's count, without its sign.
template <class C>
AP_INLINE constexpr typename std::make_unsigned<C>::type size_of(C count) {
    return count < 0 ? static_cast<typename std::make_unsigned<C>::type>(0 - static_cast<typename std::make_unsigned<C>::type>(count))
                     : static_cast<typename std::make_unsigned<C>::type>(count);
}

// A number written in text, as constructors take it: "-0x1F", "0b101", "1010" with its radix.
template <int W>
constexpr ubits_t<W> parsed(const char* text, int radix) {
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
    ubits_t<larger(W, 8)> all = 0;
    for (; *text != 0; ++text) {
        const char c = *text;
        const int digit = c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
        if (digit >= 0) all = static_cast<ubits_t<larger(W, 8)>>(all * static_cast<unsigned>(radix) + static_cast<unsigned>(digit));
    }
    return static_cast<ubits_t<W>>(negative ? 0 - all : all);
}

// Built-in integers (and enumerations without a class) as numbers of known width.
template <class T, bool = std::is_integral<T>::value> struct native {};
template <class T>
struct native<T, true> {
    static const int width = std::is_same<T, bool>::value ? 1 : static_cast<int>(8 * sizeof(T));
    static const bool sign = std::is_signed<T>::value;
    typedef ap_int_base<width, sign> type;
};

// Places that bits are read from and written to (ranges, bits, concatenations): the number that one reads as.
template <class P> struct place {};
// What integers, numbers and places are in arithmetic.
template <class T> struct number_of : native<T> {};

template <class T>
AP_INLINE constexpr int index(const T& i) { return static_cast<int>(i); }

// ap_int or ap_uint, ap_fixed or ap_ufixed: whichever has this signedness.
template <int W, bool S> struct int_of { typedef ap_int<W> type; };
template <int W> struct int_of<W, false> { typedef ap_uint<W> type; };
template <int W, bool S> using int_of_t = typename int_of<W, S>::type;
template <int W, int I, bool S> struct fixed_of { typedef ap_fixed<W, I> type; };
template <int W, int I> struct fixed_of<W, I, false> { typedef ap_ufixed<W, I> type; };
template <int W, int I, bool S> using fixed_of_t = typename fixed_of<W, I, S>::type;

// The bits of a floating-point number.
template <class Raw, class F> AP_INLINE constexpr Raw raw_of(F x) { return __builtin_bit_cast(Raw, x); }

// A finite floating-point number as size * 2**(exponent - Fraction), size of Fraction + 1 bits.
template <class F, class Raw, int Fraction, int Exponent>
struct float_parts {
    static const int fraction = Fraction;
    ubits_t<Fraction + 1> size;
    int exponent;
    bool negative;
    AP_INLINE constexpr explicit float_parts(F x) : size(0), exponent(0), negative(false) {
        const Raw raw = __builtin_bit_cast(Raw, x);
        const Raw tail = raw & ((Raw(1) << Fraction) - 1);
        const int biased = static_cast<int>((raw >> Fraction) & ((Raw(1) << Exponent) - 1));
        // subnormal numbers get an implicit 1 too: they are far below any resolution, only that they are there counts
        const bool zero = biased == 0 && tail == 0;
        size = zero ? ubits_t<Fraction + 1>(0) : static_cast<ubits_t<Fraction + 1>>(tail | (Raw(1) << Fraction));
        exponent = biased - ((1 << (Exponent - 1)) - 1);
        negative = (raw >> (Fraction + Exponent)) != 0;
    }
};
typedef float_parts<double, unsigned long long, 52, 11> double_parts;
typedef float_parts<float, unsigned, 23, 8> single_parts;
typedef float_parts<half, unsigned short, 10, 5> half_parts;
template <class T> struct parts_of {};
template <> struct parts_of<double> { typedef double_parts type; };
template <> struct parts_of<float> { typedef single_parts type; };
template <> struct parts_of<half> { typedef half_parts type; };

}  // namespace ap_exact

#endif
#endif
