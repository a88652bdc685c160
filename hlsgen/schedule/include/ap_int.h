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
#define AP_INT_MEMBERS(NAME_, S_)                                                                                \
    typedef ap_int_base<W_, S_> Base;                                                                            \
    NAME_() = default;                                                                                          \
    template <class T_, typename std::enable_if<std::is_integral<T_>::value || std::is_enum<T_>::value, int>::type = 0> \
    AP_INLINE constexpr NAME_(T_ x) : Base(x) {}                                                                 \
    template <int W2_, bool S2_>                                                                                 \
    AP_INLINE constexpr NAME_(const ap_int_base<W2_, S2_>& x) : Base(x) {}                                        \
    template <int W2_, bool S2_>                                                                                 \
    AP_INLINE NAME_(const volatile ap_int_base<W2_, S2_>& x) { this->V = ap_exact::wrap<W_, S_>(x.read_value()); }  \
    template <class P_, class = typename ap_exact::place<P_>::type, class = void>                                \
    AP_INLINE constexpr NAME_(const P_& bits) : Base(bits) {}                                                    \
    template <int W2_, int I2_, bool S2_, ap_q_mode Q_, ap_o_mode O_, int N_>                                        \
    AP_INLINE constexpr NAME_(const ap_fixed_base<W2_, I2_, S2_, Q_, O_, N_>& x) : Base(x) {}                         \
    AP_INLINE constexpr NAME_(double x) : Base(x) {}                                                            \
    AP_INLINE constexpr NAME_(float x) : Base(x) {}                                                             \
    AP_INLINE constexpr NAME_(half x) : Base(x) {}                                                          \
    AP_INLINE constexpr NAME_(const char* digits, signed char radix = 0) : Base(digits, radix) {}               \
    NAME_(const NAME_&) = default;                                                                               \
    NAME_& operator=(const NAME_&) = default;                                                                    \
    AP_INLINE NAME_& operator=(const volatile NAME_& x) {                                                        \
        this->V = x.V;                                                                                         \
        return *this;                                                                                          \
    }                                                                                                          \
    AP_INLINE void operator=(const NAME_& x) volatile { this->V = x.V; }                                        \
    AP_INLINE void operator=(const volatile NAME_& x) volatile { this->V = x.V; }

template <int W_>
struct ap_int : ap_int_base<W_, true> {
    AP_INT_MEMBERS(ap_int, true)
};

template <int W_>
struct ap_uint : ap_int_base<W_, false> {
    AP_INT_MEMBERS(ap_uint, false)
};
#undef AP_INT_MEMBERS

#include "ap_fixed.h"

#endif
