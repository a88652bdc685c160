// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// hls:: mathematical functions. Of floating-point numbers each is Clang's built-in; of fixed-point numbers it is a call
// of a function that is named after it, whose insides the vendor keeps.
#ifndef HLSGEN_SCHEDULE_HLS_MATH_H
#define HLSGEN_SCHEDULE_HLS_MATH_H

#include <cmath>

#include "ap_fixed.h"
#include "ap_int.h"
#include "utils/x_hls_utils.h"

namespace hls {

#define HLS_MATH_INLINE inline __attribute__((always_inline))

// name: of float, double, half and of fixed-point numbers; `namef`, `half_name` too.
#define HLS_MATH_1(name)                                                                                       \
    HLS_MATH_FLOAT(name)                                                                                       \
    HLS_MATH_FIXED(name)
#define HLS_MATH_FLOAT(name)                                                                                   \
    HLS_MATH_INLINE float name(float x) { return __builtin_##name##f(x); }                                     \
    HLS_MATH_INLINE double name(double x) { return __builtin_##name(x); }                                      \
    HLS_MATH_INLINE half name(half x) { return half(__builtin_##name##f(static_cast<float>(x))); }             \
    HLS_MATH_INLINE float name##f(float x) { return __builtin_##name##f(x); }                                  \
    HLS_MATH_INLINE half half_##name(half x) { return name(x); }                                               \
    template <class T_, typename std::enable_if<std::is_integral<T_>::value, int>::type = 0>                     \
    HLS_MATH_INLINE double name(T_ x) { return __builtin_##name(static_cast<double>(x)); }
#define HLS_MATH_FIXED(name)                                                                                   \
    template <int W_, int I_, bool S_>                                                                            \
    ap_exact::bits_t<W_, S_> fixed_##name(ap_exact::bits_t<W_, S_> x) __attribute__((const, nothrow));             \
    template <int W_, int I_, bool S_, ap_q_mode Q_, ap_o_mode O_, int N_>                                           \
    HLS_MATH_INLINE ap_exact::fixed_of_t<W_, I_, S_> name(const ap_fixed_base<W_, I_, S_, Q_, O_, N_>& x) {             \
        return ap_exact::made<ap_exact::fixed_of_t<W_, I_, S_>>(fixed_##name<W_, I_, S_>(x.V));                      \
    }                                                                                                          \
    template <int W_, bool S_>                                                                                   \
    HLS_MATH_INLINE ap_exact::int_of_t<W_, S_> name(const ap_int_base<W_, S_>& x) {                                \
        return ap_exact::made<ap_exact::int_of_t<W_, S_>>(fixed_##name<W_, W_, S_>(x.V));                           \
    }
#define HLS_MATH_2(name)                                                                                       \
    HLS_MATH_INLINE float name(float x, float y) { return __builtin_##name##f(x, y); }                         \
    HLS_MATH_INLINE double name(double x, double y) { return __builtin_##name(x, y); }                         \
    HLS_MATH_INLINE double name(double x, float y) { return __builtin_##name(x, y); }                          \
    HLS_MATH_INLINE double name(float x, double y) { return __builtin_##name(x, y); }                          \
    HLS_MATH_INLINE half name(half x, half y) { return half(__builtin_##name##f(x, y)); }                      \
    HLS_MATH_INLINE float name##f(float x, float y) { return __builtin_##name##f(x, y); }                      \
    HLS_MATH_INLINE half half_##name(half x, half y) { return name(x, y); }                                    \
    template <class T_, class U_, typename std::enable_if<(std::is_integral<T_>::value && std::is_arithmetic<U_>::value) || \
                                                        (std::is_integral<U_>::value && std::is_arithmetic<T_>::value), int>::type = 0> \
    HLS_MATH_INLINE double name(T_ x, U_ y) { return __builtin_##name(static_cast<double>(x), static_cast<double>(y)); } \
    template <int W_, int I_, bool S_>                                                                            \
    ap_exact::bits_t<W_, S_> fixed_##name(ap_exact::bits_t<W_, S_> x, ap_exact::bits_t<W_, S_> y) __attribute__((const, nothrow)); \
    template <int W_, int I_, bool S_, ap_q_mode Q_, ap_o_mode O_, int N_, class T_>                                  \
    HLS_MATH_INLINE ap_exact::fixed_of_t<W_, I_, S_> name(const ap_fixed_base<W_, I_, S_, Q_, O_, N_>& x, const T_& y) { \
        return ap_exact::made<ap_exact::fixed_of_t<W_, I_, S_>>(fixed_##name<W_, I_, S_>(x.V, ap_fixed_base<W_, I_, S_>(y).V)); \
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
HLS_MATH_FLOAT(floor)
HLS_MATH_FLOAT(ceil)
HLS_MATH_FLOAT(round)
HLS_MATH_FLOAT(rint)
HLS_MATH_FLOAT(nearbyint)
HLS_MATH_FLOAT(trunc)
HLS_MATH_FLOAT(fabs)
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
#undef HLS_MATH_FLOAT

// The bits of a fixed-point number without those behind the point, and more added before: one for each that a carry
// must come from.
template <int W_, int I_, bool S_>
HLS_MATH_INLINE ap_exact::bits_t<W_, S_> whole_of(ap_exact::bits_t<W_, S_> x, ap_exact::bits_t<W_ + 1, S_> more) {
    constexpr int below = W_ - I_;
    if constexpr (below <= 0) return x;
    else if constexpr (below >= W_) return 0;
    else return static_cast<ap_exact::bits_t<W_, S_>>(((x + more) >> below) << below);
}
// expression: what is added to the bits x of a number with `below` bits behind the point, 1 to W_ - 1 of them.
#define HLS_MATH_WHOLE(name, expression)                                                                       \
    template <int W_, int I_, bool S_, ap_q_mode Q_, ap_o_mode O_, int N_>                                           \
    HLS_MATH_INLINE ap_exact::fixed_of_t<W_, I_, S_> name(const ap_fixed_base<W_, I_, S_, Q_, O_, N_>& number) {        \
        typedef ap_exact::bits_t<W_ + 1, S_> more_t;                                                           \
        constexpr int below = W_ > I_ && I_ > 0 ? W_ - I_ : 1;                                                 \
        const ap_exact::bits_t<W_, S_> x = number.V;                                                           \
        const more_t one = 1, half = one << (below - 1), rest = (one << below) - 1;                            \
        (void)one, (void)half, (void)rest, (void)x;                                                            \
        return ap_exact::made<ap_exact::fixed_of_t<W_, I_, S_>>(whole_of<W_, I_, S_>(number.V, static_cast<more_t>(expression))); \
    }                                                                                                          \
    template <int W_, bool S_>                                                                                   \
    HLS_MATH_INLINE ap_exact::int_of_t<W_, S_> name(const ap_int_base<W_, S_>& x) {                                \
        return ap_exact::made<ap_exact::int_of_t<W_, S_>>(x.V);                                                  \
    }
HLS_MATH_WHOLE(floor, 0)
HLS_MATH_WHOLE(ceil, rest)
HLS_MATH_WHOLE(trunc, x < 0 ? rest : more_t(0))
HLS_MATH_WHOLE(round, x < 0 ? half - 1 : half)
HLS_MATH_WHOLE(rint, half - 1 + (x >> below & 1))
HLS_MATH_WHOLE(nearbyint, half - 1 + (x >> below & 1))
#undef HLS_MATH_WHOLE

template <int W_, int I_, bool S_, ap_q_mode Q_, ap_o_mode O_, int N_>
HLS_MATH_INLINE ap_exact::fixed_of_t<W_, I_, S_> fabs(const ap_fixed_base<W_, I_, S_, Q_, O_, N_>& x) {
    return ap_exact::made<ap_exact::fixed_of_t<W_, I_, S_>>(x.V < 0 ? static_cast<ap_exact::bits_t<W_, S_>>(-x.V) : x.V);
}
template <int W_, bool S_>
HLS_MATH_INLINE ap_exact::int_of_t<W_, S_> fabs(const ap_int_base<W_, S_>& x) {
    return ap_exact::made<ap_exact::int_of_t<W_, S_>>(x.V < 0 ? static_cast<ap_exact::bits_t<W_, S_>>(-x.V) : x.V);
}

#define HLS_MATH_OF(name, expression)                                                                          \
    HLS_MATH_INLINE float name(float x) { typedef float T_; return expression; }                                \
    HLS_MATH_INLINE double name(double x) { typedef double T_; return expression; }                             \
    HLS_MATH_INLINE half name(half x) { typedef half T_; return expression; }                                   \
    HLS_MATH_INLINE float name##f(float x) { return name(x); }                                                 \
    HLS_MATH_INLINE half half_##name(half x) { return name(x); }                                               \
    HLS_MATH_FIXED(name)
HLS_MATH_OF(rsqrt, T_(1) / sqrt(x))
HLS_MATH_OF(recip, T_(1) / x)
HLS_MATH_OF(exp10, pow(T_(10), x))
HLS_MATH_OF(sinpi, sin(T_(3.14159265358979323846) * x))
HLS_MATH_OF(cospi, cos(T_(3.14159265358979323846) * x))
HLS_MATH_OF(tanpi, tan(T_(3.14159265358979323846) * x))
HLS_MATH_OF(asinpi, asin(x) / T_(3.14159265358979323846))
HLS_MATH_OF(acospi, acos(x) / T_(3.14159265358979323846))
HLS_MATH_OF(atanpi, atan(x) / T_(3.14159265358979323846))
#undef HLS_MATH_OF
#undef HLS_MATH_FIXED

// Of two numbers, or of a number and a whole one.
#define HLS_MATH_WITH(name, second, expression)                                                                \
    HLS_MATH_INLINE float name(float x, second(float) y) { typedef float T_; return expression; }               \
    HLS_MATH_INLINE double name(double x, second(double) y) { typedef double T_; return expression; }           \
    HLS_MATH_INLINE half name(half x, second(half) y) { typedef half T_; return expression; }                   \
    HLS_MATH_INLINE float name##f(float x, second(float) y) { return name(x, y); }                              \
    HLS_MATH_INLINE half half_##name(half x, second(half) y) { return name(x, y); }
#define HLS_MATH_SAME(type) type
#define HLS_MATH_INT(type) int
HLS_MATH_WITH(pown, HLS_MATH_INT, pow(x, T_(y)))
HLS_MATH_WITH(rootn, HLS_MATH_INT, pow(x, T_(1) / T_(y)))
HLS_MATH_WITH(powr, HLS_MATH_SAME, pow(x, T_(y)))
HLS_MATH_WITH(atan2pi, HLS_MATH_SAME, atan2(x, y) / T_(3.14159265358979323846))
HLS_MATH_WITH(maxmag, HLS_MATH_SAME, fabs(x) < fabs(y) ? y : fabs(y) < fabs(x) ? x : T_(fmax(x, y)))
HLS_MATH_WITH(minmag, HLS_MATH_SAME, fabs(x) < fabs(y) ? x : fabs(y) < fabs(x) ? y : T_(fmin(x, y)))
#undef HLS_MATH_WITH
#undef HLS_MATH_SAME
#undef HLS_MATH_INT

// Each bit of y where `choice` has one, else of x.
template <class B_, class T_>
HLS_MATH_INLINE T_ bits_chosen(T_ x, T_ y, T_ choice) {
    const B_ c = __builtin_bit_cast(B_, choice);
    const B_ chosen = static_cast<B_>((__builtin_bit_cast(B_, x) & ~c) | (__builtin_bit_cast(B_, y) & c));
    return __builtin_bit_cast(T_, chosen);
}
template <class T_> HLS_MATH_INLINE bool isnan(T_ x) { return x != x; }
template <class T_> HLS_MATH_INLINE bool isinf(T_ x) { if constexpr (std::is_floating_point<T_>::value) return __builtin_isinf(x); else return false; }
template <class T_> HLS_MATH_INLINE bool isfinite(T_ x) { if constexpr (std::is_floating_point<T_>::value) return __builtin_isfinite(x); else return true; }
template <class T_> HLS_MATH_INLINE bool isnormal(T_ x) { if constexpr (std::is_floating_point<T_>::value) return __builtin_isnormal(x); else return x != 0; }
template <class T_> HLS_MATH_INLINE bool signbit(T_ x) { if constexpr (std::is_floating_point<T_>::value) return __builtin_signbit(x); else return x < 0; }
template <class T_> HLS_MATH_INLINE int ilogb(T_ x) { return __builtin_ilogb(x); }
template <class T_> HLS_MATH_INLINE long lround(T_ x) { return static_cast<long>(round(x)); }
template <class T_> HLS_MATH_INLINE long lrint(T_ x) { return static_cast<long>(rint(x)); }
template <class T_> HLS_MATH_INLINE long long llrint(T_ x) { return static_cast<long long>(rint(x)); }
template <class T_> HLS_MATH_INLINE long long llround(T_ x) { return static_cast<long long>(round(x)); }
template <class T_> HLS_MATH_INLINE T_ fma(T_ x, T_ y, T_ z) { return T_(x * y + z); }
template <class T_> HLS_MATH_INLINE T_ mad(T_ x, T_ y, T_ z) { return T_(x * y + z); }
template <class T_> HLS_MATH_INLINE T_ ldexp(T_ x, int e) { return T_(x * exp2(T_(e))); }
template <class T_> HLS_MATH_INLINE T_ scalbn(T_ x, int e) { return ldexp(x, e); }
template <class T_> HLS_MATH_INLINE T_ scalbln(T_ x, long e) { return ldexp(x, static_cast<int>(e)); }
template <class T_> HLS_MATH_INLINE T_ remquo(T_ x, T_ y, int* quotient) { *quotient = static_cast<int>(rint(x / y)); return remainder(x, y); }
template <class T_> HLS_MATH_INLINE T_ fract(T_ x, T_* whole) { *whole = floor(x); return T_(x - *whole); }
template <class T_> HLS_MATH_INLINE bool isgreater(T_ x, T_ y) { return x > y; }
template <class T_> HLS_MATH_INLINE bool isgreaterequal(T_ x, T_ y) { return x >= y; }
template <class T_> HLS_MATH_INLINE bool isless(T_ x, T_ y) { return x < y; }
template <class T_> HLS_MATH_INLINE bool islessequal(T_ x, T_ y) { return x <= y; }
template <class T_> HLS_MATH_INLINE bool islessgreater(T_ x, T_ y) { return x < y || x > y; }
template <class T_> HLS_MATH_INLINE bool isunordered(T_ x, T_ y) { return x != x || y != y; }
template <class T_> HLS_MATH_INLINE bool isordered(T_ x, T_ y) { return x == x && y == y; }
template <class T_> HLS_MATH_INLINE bool isequal(T_ x, T_ y) { return x == y; }
template <class T_> HLS_MATH_INLINE bool isnotequal(T_ x, T_ y) { return x != y; }
template <class T_> HLS_MATH_INLINE int fpclassify(T_ x) { if constexpr (std::is_floating_point<T_>::value) return __builtin_fpclassify(FP_NAN, FP_INFINITE, FP_NORMAL, FP_SUBNORMAL, FP_ZERO, x); else return x != 0 ? FP_NORMAL : FP_ZERO; }
HLS_MATH_INLINE float bitselect(float x, float y, float choice) { return bits_chosen<unsigned>(x, y, choice); }
HLS_MATH_INLINE double bitselect(double x, double y, double choice) { return bits_chosen<unsigned long long>(x, y, choice); }
HLS_MATH_INLINE half bitselect(half x, half y, half choice) { return bits_chosen<unsigned short>(x, y, choice); }
template <class T_> HLS_MATH_INLINE T_ lgamma_r(T_ x, int* sign) { *sign = x < 0 && static_cast<long long>(floor(x)) % 2 != 0 ? -1 : 1; return lgamma(x); }
HLS_MATH_INLINE float nanf(const char*) { return __builtin_nanf(""); }
HLS_MATH_INLINE double nan(const char*) { return __builtin_nan(""); }
template <class T_> HLS_MATH_INLINE T_ frexp(T_ x, int* e) { *e = ilogb(x) + 1; return T_(x * exp2(T_(-*e))); }
template <class T_> HLS_MATH_INLINE T_ modf(T_ x, T_* whole) { *whole = trunc(x); return T_(x - *whole); }
template <class T_> HLS_MATH_INLINE void sincos(T_ x, T_* s, T_* c) { *s = sin(x); *c = cos(x); }
HLS_MATH_INLINE void sincosf(float x, float* s, float* c) { sincos(x, s, c); }
template <class T_> HLS_MATH_INLINE T_ abs(T_ x) { return x < T_(0) ? T_(-x) : x; }
template <class T_> HLS_MATH_INLINE T_ max(T_ x, T_ y) { return x < y ? y : x; }
template <class T_> HLS_MATH_INLINE T_ min(T_ x, T_ y) { return y < x ? y : x; }
template <class T_> HLS_MATH_INLINE T_ divide(T_ x, T_ y) { return x / y; }

// The names of C: `namef` of float, `half_name` of half.
#define HLS_MATH_NAMES(name, parameters, arguments)                                                            \
    HLS_MATH_NAME(name##f, name, float, parameters(float), arguments)                                          \
    HLS_MATH_NAME(half_##name, name, half, parameters(half), arguments)
#define HLS_MATH_NAME(own, name, T_, parameters, arguments)                                                    \
    HLS_MATH_INLINE auto own parameters -> decltype(name arguments) { return name arguments; }
#define HLS_MATH_X(T_) (T_ x)
#define HLS_MATH_XY(T_) (T_ x, T_ y)
#define HLS_MATH_XYZ(T_) (T_ x, T_ y, T_ z)
#define HLS_MATH_XN(T_) (T_ x, int n)
#define HLS_MATH_XL(T_) (T_ x, long n)
#define HLS_MATH_XP(T_) (T_ x, T_* p)
#define HLS_MATH_XE(T_) (T_ x, int* p)
#define HLS_MATH_XYE(T_) (T_ x, T_ y, int* p)
HLS_MATH_NAMES(abs, HLS_MATH_X, (x))
HLS_MATH_NAMES(isnan, HLS_MATH_X, (x))
HLS_MATH_NAMES(isinf, HLS_MATH_X, (x))
HLS_MATH_NAMES(isfinite, HLS_MATH_X, (x))
HLS_MATH_NAMES(isnormal, HLS_MATH_X, (x))
HLS_MATH_NAMES(signbit, HLS_MATH_X, (x))
HLS_MATH_NAMES(ilogb, HLS_MATH_X, (x))
HLS_MATH_NAMES(fpclassify, HLS_MATH_X, (x))
HLS_MATH_NAMES(divide, HLS_MATH_XY, (x, y))
HLS_MATH_NAMES(isequal, HLS_MATH_XY, (x, y))
HLS_MATH_NAMES(isnotequal, HLS_MATH_XY, (x, y))
HLS_MATH_NAMES(isgreater, HLS_MATH_XY, (x, y))
HLS_MATH_NAMES(isgreaterequal, HLS_MATH_XY, (x, y))
HLS_MATH_NAMES(isless, HLS_MATH_XY, (x, y))
HLS_MATH_NAMES(islessequal, HLS_MATH_XY, (x, y))
HLS_MATH_NAMES(islessgreater, HLS_MATH_XY, (x, y))
HLS_MATH_NAMES(isordered, HLS_MATH_XY, (x, y))
HLS_MATH_NAMES(isunordered, HLS_MATH_XY, (x, y))
HLS_MATH_NAMES(fma, HLS_MATH_XYZ, (x, y, z))
HLS_MATH_NAMES(mad, HLS_MATH_XYZ, (x, y, z))
HLS_MATH_NAMES(bitselect, HLS_MATH_XYZ, (x, y, z))
HLS_MATH_NAMES(ldexp, HLS_MATH_XN, (x, n))
HLS_MATH_NAMES(scalbn, HLS_MATH_XN, (x, n))
HLS_MATH_NAMES(scalbln, HLS_MATH_XL, (x, n))
HLS_MATH_NAMES(fract, HLS_MATH_XP, (x, p))
HLS_MATH_NAMES(modf, HLS_MATH_XP, (x, p))
HLS_MATH_NAMES(frexp, HLS_MATH_XE, (x, p))
HLS_MATH_NAMES(lgamma_r, HLS_MATH_XE, (x, p))
HLS_MATH_NAMES(remquo, HLS_MATH_XYE, (x, y, p))
HLS_MATH_INLINE void half_sincos(half x, half* s, half* c) { sincos(x, s, c); }
HLS_MATH_INLINE half half_nan(const char*) { return half(__builtin_nanf("")); }
#undef HLS_MATH_NAMES
#undef HLS_MATH_NAME
#undef HLS_MATH_X
#undef HLS_MATH_XY
#undef HLS_MATH_XYZ
#undef HLS_MATH_XN
#undef HLS_MATH_XL
#undef HLS_MATH_XP
#undef HLS_MATH_XE
#undef HLS_MATH_XYE

}  // namespace hls

#endif
