// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// hls:: mathematical functions. Of floating-point numbers each is Clang's built-in; of fixed-point numbers it is a call
// of a function that is named after it, whose insides the vendor keeps.
#ifndef HLSGEN_SCHEDULE_HLS_MATH_H
#define HLSGEN_SCHEDULE_HLS_MATH_H

#include <cmath>

#include "ap_fixed.h"
#include "ap_int.h"

namespace hls {

#define HLS_MATH_INLINE inline __attribute__((always_inline))

// name: of float, double, half and of fixed-point numbers; `namef`, `half_name` too.
#define HLS_MATH_1(name)                                                                                       \
    HLS_MATH_INLINE float name(float x) { return __builtin_##name##f(x); }                                     \
    HLS_MATH_INLINE double name(double x) { return __builtin_##name(x); }                                      \
    HLS_MATH_INLINE half name(half x) { return half(__builtin_##name##f(static_cast<float>(x))); }             \
    HLS_MATH_INLINE float name##f(float x) { return __builtin_##name##f(x); }                                  \
    HLS_MATH_INLINE half half_##name(half x) { return name(x); }                                               \
    template <class T, typename std::enable_if<std::is_integral<T>::value, int>::type = 0>                     \
    HLS_MATH_INLINE double name(T x) { return __builtin_##name(static_cast<double>(x)); }                      \
    HLS_MATH_FIXED(name)
#define HLS_MATH_FIXED(name)                                                                                   \
    template <int W, int I, bool S>                                                                            \
    ap_exact::bits_t<W, S> fixed_##name(ap_exact::bits_t<W, S> x) __attribute__((const, nothrow));             \
    template <int W, int I, bool S, ap_q_mode Q, ap_o_mode O, int N>                                           \
    HLS_MATH_INLINE ap_exact::fixed_of_t<W, I, S> name(const ap_fixed_base<W, I, S, Q, O, N>& x) {             \
        return ap_exact::made<ap_exact::fixed_of_t<W, I, S>>(fixed_##name<W, I, S>(x.V));                      \
    }                                                                                                          \
    template <int W, bool S>                                                                                   \
    HLS_MATH_INLINE ap_exact::int_of_t<W, S> name(const ap_int_base<W, S>& x) {                                \
        return ap_exact::made<ap_exact::int_of_t<W, S>>(fixed_##name<W, W, S>(x.V));                           \
    }
#define HLS_MATH_2(name)                                                                                       \
    HLS_MATH_INLINE float name(float x, float y) { return __builtin_##name##f(x, y); }                         \
    HLS_MATH_INLINE double name(double x, double y) { return __builtin_##name(x, y); }                         \
    HLS_MATH_INLINE double name(double x, float y) { return __builtin_##name(x, y); }                          \
    HLS_MATH_INLINE double name(float x, double y) { return __builtin_##name(x, y); }                          \
    HLS_MATH_INLINE half name(half x, half y) { return half(__builtin_##name##f(x, y)); }                      \
    HLS_MATH_INLINE float name##f(float x, float y) { return __builtin_##name##f(x, y); }                      \
    HLS_MATH_INLINE half half_##name(half x, half y) { return name(x, y); }                                    \
    template <class T, class U, typename std::enable_if<(std::is_integral<T>::value && std::is_arithmetic<U>::value) || \
                                                        (std::is_integral<U>::value && std::is_arithmetic<T>::value), int>::type = 0> \
    HLS_MATH_INLINE double name(T x, U y) { return __builtin_##name(static_cast<double>(x), static_cast<double>(y)); } \
    template <int W, int I, bool S>                                                                            \
    ap_exact::bits_t<W, S> fixed_##name(ap_exact::bits_t<W, S> x, ap_exact::bits_t<W, S> y) __attribute__((const, nothrow)); \
    template <int W, int I, bool S, ap_q_mode Q, ap_o_mode O, int N, class T>                                  \
    HLS_MATH_INLINE ap_exact::fixed_of_t<W, I, S> name(const ap_fixed_base<W, I, S, Q, O, N>& x, const T& y) { \
        return ap_exact::made<ap_exact::fixed_of_t<W, I, S>>(fixed_##name<W, I, S>(x.V, ap_fixed_base<W, I, S>(y).V)); \
    }

HLS_MATH_1(sqrt)
HLS_MATH_1(cbrt)
HLS_MATH_1(exp)
HLS_MATH_1(exp2)
HLS_MATH_1(expm1)
HLS_MATH_1(log)
HLS_MATH_1(log2)
HLS_MATH_1(log10)
HLS_MATH_1(log1p)
HLS_MATH_1(logb)
HLS_MATH_1(sin)
HLS_MATH_1(cos)
HLS_MATH_1(tan)
HLS_MATH_1(asin)
HLS_MATH_1(acos)
HLS_MATH_1(atan)
HLS_MATH_1(sinh)
HLS_MATH_1(cosh)
HLS_MATH_1(tanh)
HLS_MATH_1(asinh)
HLS_MATH_1(acosh)
HLS_MATH_1(atanh)
HLS_MATH_1(erf)
HLS_MATH_1(erfc)
HLS_MATH_1(tgamma)
HLS_MATH_1(lgamma)
HLS_MATH_1(floor)
HLS_MATH_1(ceil)
HLS_MATH_1(round)
HLS_MATH_1(rint)
HLS_MATH_1(nearbyint)
HLS_MATH_1(trunc)
HLS_MATH_1(fabs)
HLS_MATH_2(pow)
HLS_MATH_2(atan2)
HLS_MATH_2(fmod)
HLS_MATH_2(remainder)
HLS_MATH_2(hypot)
HLS_MATH_2(fmax)
HLS_MATH_2(fmin)
HLS_MATH_2(fdim)
HLS_MATH_2(copysign)
HLS_MATH_2(nextafter)
#undef HLS_MATH_1
#undef HLS_MATH_2

#define HLS_MATH_OF(name, expression)                                                                          \
    HLS_MATH_INLINE float name(float x) { typedef float T; return expression; }                                \
    HLS_MATH_INLINE double name(double x) { typedef double T; return expression; }                             \
    HLS_MATH_INLINE half name(half x) { typedef half T; return expression; }                                   \
    HLS_MATH_INLINE float name##f(float x) { return name(x); }                                                 \
    HLS_MATH_INLINE half half_##name(half x) { return name(x); }                                               \
    HLS_MATH_FIXED(name)
HLS_MATH_OF(rsqrt, T(1) / sqrt(x))
HLS_MATH_OF(recip, T(1) / x)
HLS_MATH_OF(exp10, pow(T(10), x))
HLS_MATH_OF(sinpi, sin(T(3.14159265358979323846) * x))
HLS_MATH_OF(cospi, cos(T(3.14159265358979323846) * x))
HLS_MATH_OF(tanpi, tan(T(3.14159265358979323846) * x))
#undef HLS_MATH_OF
#undef HLS_MATH_FIXED

template <class T> HLS_MATH_INLINE bool isnan(T x) { return x != x; }
template <class T> HLS_MATH_INLINE bool isinf(T x) { return __builtin_isinf(x); }
template <class T> HLS_MATH_INLINE bool isfinite(T x) { return __builtin_isfinite(x); }
template <class T> HLS_MATH_INLINE bool isnormal(T x) { return __builtin_isnormal(x); }
template <class T> HLS_MATH_INLINE bool signbit(T x) { return __builtin_signbit(x); }
template <class T> HLS_MATH_INLINE int ilogb(T x) { return __builtin_ilogb(x); }
template <class T> HLS_MATH_INLINE long lround(T x) { return static_cast<long>(round(x)); }
template <class T> HLS_MATH_INLINE long lrint(T x) { return static_cast<long>(rint(x)); }
template <class T> HLS_MATH_INLINE long long llround(T x) { return static_cast<long long>(round(x)); }
template <class T> HLS_MATH_INLINE T fma(T x, T y, T z) { return T(x * y + z); }
template <class T> HLS_MATH_INLINE T mad(T x, T y, T z) { return T(x * y + z); }
template <class T> HLS_MATH_INLINE T ldexp(T x, int e) { return T(x * exp2(T(e))); }
template <class T> HLS_MATH_INLINE T scalbn(T x, int e) { return ldexp(x, e); }
template <class T> HLS_MATH_INLINE T frexp(T x, int* e) { *e = ilogb(x) + 1; return T(x * exp2(T(-*e))); }
template <class T> HLS_MATH_INLINE T modf(T x, T* whole) { *whole = trunc(x); return T(x - *whole); }
template <class T> HLS_MATH_INLINE void sincos(T x, T* s, T* c) { *s = sin(x); *c = cos(x); }
HLS_MATH_INLINE void sincosf(float x, float* s, float* c) { sincos(x, s, c); }
template <class T> HLS_MATH_INLINE T abs(T x) { return x < T(0) ? T(-x) : x; }
template <class T> HLS_MATH_INLINE T max(T x, T y) { return x < y ? y : x; }
template <class T> HLS_MATH_INLINE T min(T x, T y) { return y < x ? y : x; }
template <class T> HLS_MATH_INLINE T divide(T x, T y) { return x / y; }

}  // namespace hls

#endif
