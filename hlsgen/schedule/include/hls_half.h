// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// half: binary16. Operations are those of half precision: what is computed in single precision and rounded once is the
// same, and the optimiser makes it so.
#ifndef HLSGEN_SCHEDULE_HLS_HALF_H
#define HLSGEN_SCHEDULE_HLS_HALF_H

#include <type_traits>

#define HALF_INLINE inline __attribute__((always_inline))

struct half {
    __fp16 x;

    half() = default;
    template <class T_, typename std::enable_if<std::is_arithmetic<T_>::value, int>::type = 0>
    HALF_INLINE constexpr half(T_ value) : x(static_cast<__fp16>(static_cast<float>(value))) {}
    HALF_INLINE constexpr operator float() const { return x; }
    static HALF_INLINE constexpr half rounded(float value) { return half(value); }

    HALF_INLINE constexpr half operator+() const { return *this; }
    HALF_INLINE constexpr half operator-() const { return rounded(-static_cast<float>(x)); }
    HALF_INLINE constexpr half& operator++() { return *this = rounded(x + 1.0f); }
    HALF_INLINE constexpr half& operator--() { return *this = rounded(x - 1.0f); }
    template <class T_> HALF_INLINE constexpr half& operator+=(T_ y) { return *this = rounded(x + static_cast<float>(half(y))); }
    template <class T_> HALF_INLINE constexpr half& operator-=(T_ y) { return *this = rounded(x - static_cast<float>(half(y))); }
    template <class T_> HALF_INLINE constexpr half& operator*=(T_ y) { return *this = rounded(x * static_cast<float>(half(y))); }
    template <class T_> HALF_INLINE constexpr half& operator/=(T_ y) { return *this = rounded(x / static_cast<float>(half(y))); }
};

HALF_INLINE constexpr half operator+(half a, half b) { return half::rounded(static_cast<float>(a.x) + static_cast<float>(b.x)); }
HALF_INLINE constexpr half operator-(half a, half b) { return half::rounded(static_cast<float>(a.x) - static_cast<float>(b.x)); }
HALF_INLINE constexpr half operator*(half a, half b) { return half::rounded(static_cast<float>(a.x) * static_cast<float>(b.x)); }
HALF_INLINE constexpr half operator/(half a, half b) { return half::rounded(static_cast<float>(a.x) / static_cast<float>(b.x)); }

// With another type it is a float first, as in C-simulation.
#define HLSGEN_MIXED(op)                                                                                          \
    template <class T_, typename std::enable_if<std::is_arithmetic<T_>::value, int>::type = 0>                    \
    HALF_INLINE constexpr auto operator op(half a, T_ b)->decltype(1.0f op b) { return static_cast<float>(a.x) op b; } \
    template <class T_, typename std::enable_if<std::is_arithmetic<T_>::value, int>::type = 0>                    \
    HALF_INLINE constexpr auto operator op(T_ a, half b)->decltype(a op 1.0f) { return a op static_cast<float>(b.x); }
HLSGEN_MIXED(+)
HLSGEN_MIXED(-)
HLSGEN_MIXED(*)
HLSGEN_MIXED(/)
#undef HLSGEN_MIXED

#endif
