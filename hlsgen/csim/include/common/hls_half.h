// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// half for C-simulation: IEEE 754's binary16 as the vendor's Floating-Point Operator computes it, written from scratch.
// C++11; no _Float16 of the compiler, which few have. Every operation rounds once, to the nearest, ties to even.
// Subnormal numbers count as zeros of their sign, as operands and as results; of NaN there is one, 0x7e00.
//
// Between halves, + - * / are half operations; beside a float or another arithmetic type they are those of float.
// Operations are computed in float, whose 24 bits are 2 * 11 + 2: rounding its result once more to 11 bits gives the
// result that is rounded once (Figueroa, 1995). Comparisons are those of float.

#ifndef HLSGEN_HLS_HALF_H
#define HLSGEN_HLS_HALF_H

#include <cstdint>
#include <cstring>
#include <type_traits>

#define HLSGEN_HALF_INLINE inline __attribute__((always_inline))

class half {
public:
    half() = default;
    template <class T, class = typename std::enable_if<std::is_arithmetic<T>::value>::type>
    HLSGEN_HALF_INLINE half(T value) : bits_(rounded(static_cast<float>(value))) {}
    HLSGEN_HALF_INLINE operator float() const {
        const std::uint32_t magnitude = bits_ & 0x7fffu;
        const std::uint32_t normal = (magnitude << 13) + (magnitude < 0x7c00u ? 112u << 23 : 224u << 23);
        const std::uint32_t bits = (magnitude < 0x0400u ? 0u : normal) | (bits_ & 0x8000u) << 16;
        float value;
        std::memcpy(&value, &bits, sizeof value);
        return value;
    }

    HLSGEN_HALF_INLINE void set_bits(unsigned short bits) { bits_ = bits; }
    HLSGEN_HALF_INLINE unsigned short get_bits() const { return bits_; }

    HLSGEN_HALF_INLINE half operator+() const { return *this; }
    HLSGEN_HALF_INLINE half operator-() const {
        half negative;
        negative.bits_ = bits_ ^ 0x8000u;
        return negative;
    }
    HLSGEN_HALF_INLINE half &operator+=(half other) { return *this = *this + other; }
    HLSGEN_HALF_INLINE half &operator-=(half other) { return *this = *this - other; }
    HLSGEN_HALF_INLINE half &operator*=(half other) { return *this = *this * other; }
    HLSGEN_HALF_INLINE half &operator/=(half other) { return *this = *this / other; }

    friend HLSGEN_HALF_INLINE half operator+(half a, half b) { return half(static_cast<float>(a) + static_cast<float>(b)); }
    friend HLSGEN_HALF_INLINE half operator-(half a, half b) { return half(static_cast<float>(a) - static_cast<float>(b)); }
    friend HLSGEN_HALF_INLINE half operator*(half a, half b) { return half(static_cast<float>(a) * static_cast<float>(b)); }
    friend HLSGEN_HALF_INLINE half operator/(half a, half b) { return half(static_cast<float>(a) / static_cast<float>(b)); }

private:
    std::uint16_t bits_;

    // The significand is rounded as if exponents had no end; then what is too small becomes zero, what is too large
    // infinity.
    static HLSGEN_HALF_INLINE std::uint16_t rounded(float value) {
        std::uint32_t bits;
        std::memcpy(&bits, &value, sizeof bits);
        const std::uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
        const std::uint32_t nearest = magnitude + 0x0fffu + (magnitude >> 13 & 1u);
        std::uint32_t out = (nearest >> 13) - (112u << 10);
        out = nearest < 113u << 23 ? 0u : out;
        out = nearest >= 143u << 23 ? 0x7c00u : out;
        return static_cast<std::uint16_t>(magnitude > 0x7f800000u ? 0x7e00u : sign | out);
    }
};

// Beside another arithmetic type: as float.
#define HLSGEN_HALF_MIXED(op)                                                                                     \
    template <class T, class = typename std::enable_if<std::is_arithmetic<T>::value>::type>                       \
    HLSGEN_HALF_INLINE auto operator op(half a, T b)->decltype(1.0f op b) { return static_cast<float>(a) op b; }  \
    template <class T, class = typename std::enable_if<std::is_arithmetic<T>::value>::type>                       \
    HLSGEN_HALF_INLINE auto operator op(T a, half b)->decltype(a op 1.0f) { return a op static_cast<float>(b); }
HLSGEN_HALF_MIXED(+)
HLSGEN_HALF_MIXED(-)
HLSGEN_HALF_MIXED(*)
HLSGEN_HALF_MIXED(/)
#undef HLSGEN_HALF_MIXED

#endif
