// Between half and fixed point: the exact number, rounded once.
#ifndef HLSGEN_HALF_FIXED_H
#define HLSGEN_HALF_FIXED_H

#include <ap_fixed.h>
#include <ap_int.h>

#include "hlsgen/dot.h"
#include "hlsgen/half.h"
#include "hlsgen/lanes.h"

namespace hlsgen {

// IEEE 754's binary16.
struct half_format {
    static constexpr int BIAS = 15;  // an exponent field of so much is a power of 0
    static constexpr int FRACTION = 10;
    static constexpr int SPECIAL = 31;  // the exponent field of infinities and NaN
    static constexpr int MAGNITUDE = 40;  // bits of the largest half in the least step, 2^-STEP
    static constexpr int STEP = 24;
};

// The half as T rounds and fits it. An infinity is the end of T's range, NaN is 0.
// SIGNED: T is. SYMMETRIC: its lowest number is minus its highest.
template <typename T, bool SIGNED, bool SYMMETRIC>
inline T fixed_from_half(const half &x) {
#pragma HLS inline
    const ap_uint<16> bits = bits_of<16>(x);
    const bool negative = bits[15];
    const ap_uint<5> exponent = bits.range(14, half_format::FRACTION);
    const ap_uint<half_format::FRACTION> fraction = bits.range(half_format::FRACTION - 1, 0);
    // there are no subnormal numbers: 2^exponent times 1.fraction, or 0
    ap_uint<half_format::MAGNITUDE> magnitude = 0;
    if (exponent != 0) {
        const ap_uint<half_format::MAGNITUDE> significand = (1 << half_format::FRACTION) | fraction;
        magnitude = significand << (exponent.to_int() - 1);
    }
    ap_int<half_format::MAGNITUDE + 1> code = magnitude;
    if (negative) code = -code;
    const ap_uint<half_format::MAGNITUDE + 1> exact_bits = code;
    ap_fixed<half_format::MAGNITUDE + 1, half_format::MAGNITUDE + 1 - half_format::STEP> exact = 0;
    set_bits<half_format::MAGNITUDE + 1>(exact, exact_bits);
    T result = exact;
    if (exponent == half_format::SPECIAL) {
        const ap_uint<T::width> highest = ~ap_uint<T::width>(0) >> (SIGNED ? 1 : 0);
        const ap_uint<T::width> lowest = ~highest + (SYMMETRIC ? 1 : 0);
        ap_uint<T::width> end = 0;
        if (fraction == 0) end = negative ? lowest : highest;
        set_bits<T::width>(result, end);
    }
    return result;
}

// The number, with FRACTION bits behind its binary point, to the nearest half, ties to even; below 2^-14 a zero of its
// sign, beyond the largest half an infinity.
template <typename T, bool SIGNED, int FRACTION>
inline half half_from_fixed(const T &x) {
#pragma HLS inline
    constexpr int SIGNIFICANT = half_format::FRACTION + 1;
    constexpr int BITS = T::width > SIGNIFICANT + 1 ? T::width : SIGNIFICANT + 2;  // there are some to round by
    constexpr int LEVELS = levels_of(BITS);
    constexpr int REST = BITS - SIGNIFICANT;
    const ap_uint<T::width> code = bits_of<T::width>(x);
    const bool negative = SIGNED && code[T::width - 1];
    ap_uint<BITS> magnitude = code;
    if (negative) magnitude = ap_uint<T::width>(-code);

    // the leading one goes to the top, by fewer and fewer places
    int zeros = 0;
    for (int level = LEVELS - 1; level >= 0; --level) {
#pragma HLS unroll
        const int places = 1 << level;
        if (places < BITS && (magnitude >> (BITS - places)) == 0) {
            magnitude = magnitude << places;
            zeros += places;
        }
    }
    const bool zero = magnitude[BITS - 1] == 0;
    const ap_uint<SIGNIFICANT> significand = magnitude.range(BITS - 1, REST);
    const ap_uint<REST> rest = magnitude.range(REST - 1, 0);
    const ap_uint<REST> tie = ap_uint<REST>(1) << (REST - 1);
    const bool up = rest > tie || (rest == tie && significand[0]);

    // a carry out of the significand goes into the exponent, whose field lies above
    const int exponent = BITS - 1 - zeros - FRACTION + half_format::BIAS;
    const int field = (exponent - 1) * (1 << half_format::FRACTION) + significand.to_int() + (up ? 1 : 0);
    constexpr int LEAST = 1 << half_format::FRACTION;
    constexpr int SIGN = 1 << 15;
    constexpr int INFINITE = half_format::SPECIAL << half_format::FRACTION;
    ap_uint<16> bits = field;
    if (zero || field < LEAST) bits = 0;
    if (!zero && field >= INFINITE) bits = INFINITE;
    if (negative) bits = bits + SIGN;
    half result = 0;
    set_bits<16>(result, bits);
    return result;
}

}  // namespace hlsgen

#endif
