// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// ap_int<W> and ap_uint<W>, of any width, with exact results.
#ifndef HLSGEN_SCHEDULE_AP_INT_H
#define HLSGEN_SCHEDULE_AP_INT_H

#include "ap_common.h"
#include "ap_int_base.h"
#include "ap_int_operators.h"
#include "ap_int_ref.h"

// Constructors are written out, for inherited ones would be functions of their own.
#define AP_INT_MEMBERS(NAME, S)                                                                                \
    typedef ap_int_base<W, S> Base;                                                                            \
    NAME() = default;                                                                                          \
    template <class T, typename std::enable_if<std::is_integral<T>::value || std::is_enum<T>::value, int>::type = 0> \
    AP_INLINE constexpr NAME(T x) : Base(x) {}                                                                 \
    template <int W2, bool S2>                                                                                 \
    AP_INLINE constexpr NAME(const ap_int_base<W2, S2>& x) : Base(x) {}                                        \
    template <int W2, bool S2>                                                                                 \
    AP_INLINE NAME(const volatile ap_int_base<W2, S2>& x) { this->V = ap_exact::wrap<W, S>(x.read_value()); }  \
    template <class P, class = typename ap_exact::place<P>::type, class = void>                                \
    AP_INLINE constexpr NAME(const P& bits) : Base(bits) {}                                                    \
    template <int W2, int I2, bool S2, ap_q_mode Q, ap_o_mode O, int N>                                        \
    AP_INLINE constexpr NAME(const ap_fixed_base<W2, I2, S2, Q, O, N>& x) : Base(x) {}                         \
    AP_INLINE constexpr NAME(double x) : Base(x) {}                                                            \
    AP_INLINE constexpr NAME(float x) : Base(x) {}                                                             \
    AP_INLINE constexpr NAME(half x) : Base(x) {}                                                          \
    AP_INLINE constexpr NAME(const char* digits, signed char radix = 0) : Base(digits, radix) {}               \
    NAME(const NAME&) = default;                                                                               \
    NAME& operator=(const NAME&) = default;                                                                    \
    AP_INLINE NAME& operator=(const volatile NAME& x) {                                                        \
        this->V = x.V;                                                                                         \
        return *this;                                                                                          \
    }                                                                                                          \
    AP_INLINE void operator=(const NAME& x) volatile { this->V = x.V; }                                        \
    AP_INLINE void operator=(const volatile NAME& x) volatile { this->V = x.V; }

template <int W>
struct ap_int : ap_int_base<W, true> {
    AP_INT_MEMBERS(ap_int, true)
};

template <int W>
struct ap_uint : ap_int_base<W, false> {
    AP_INT_MEMBERS(ap_uint, false)
};
#undef AP_INT_MEMBERS

#include "ap_fixed.h"

#endif
