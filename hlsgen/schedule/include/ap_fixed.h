// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// ap_fixed<W, I, Q, O, N> and ap_ufixed, with exact results, and the operators on two numbers.
#ifndef HLSGEN_SCHEDULE_AP_FIXED_H
#define HLSGEN_SCHEDULE_AP_FIXED_H

#include "ap_fixed_base.h"

#define AP_FIXED_MEMBERS(NAME_, S_)                                                                              \
    typedef ap_fixed_base<W_, I_, S_, Q_, O_, N_> Base;                                                              \
    NAME_() = default;                                                                                          \
    template <int W2_, int I2_, bool S2_, ap_q_mode Q2_, ap_o_mode O2_, int N2_>                                     \
    AP_INLINE constexpr NAME_(const ap_fixed_base<W2_, I2_, S2_, Q2_, O2_, N2_>& x) : Base(x) {}                      \
    template <int W2_, bool S2_>                                                                                 \
    AP_INLINE constexpr NAME_(const ap_int_base<W2_, S2_>& x) : Base(x) {}                                        \
    template <class T_, class B_ = typename ap_exact::number_of<T_>::type>                                        \
    AP_INLINE constexpr NAME_(const T_& x) : Base(B_(x)) {}                                                       \
    AP_INLINE constexpr NAME_(double x) : Base(x) {}                                                            \
    AP_INLINE constexpr NAME_(float x) : Base(x) {}                                                             \
    AP_INLINE constexpr NAME_(half x) : Base(x) {}                                                          \
    AP_INLINE NAME_(const char* text) : Base(text) {}                                                           \
    AP_INLINE NAME_(const volatile Base& x) { this->V = x.V; }                                                  \
    NAME_(const NAME_&) = default;                                                                               \
    NAME_& operator=(const NAME_&) = default;                                                                    \
    AP_INLINE NAME_& operator=(const volatile NAME_& x) {                                                        \
        this->V = x.V;                                                                                         \
        return *this;                                                                                          \
    }                                                                                                          \
    AP_INLINE void operator=(const NAME_& x) volatile { this->V = x.V; }                                        \
    AP_INLINE void operator=(const volatile NAME_& x) volatile { this->V = x.V; }

template <int W_, int I_, ap_q_mode Q_, ap_o_mode O_, int N_>
struct ap_fixed : ap_fixed_base<W_, I_, true, Q_, O_, N_> {
    AP_FIXED_MEMBERS(ap_fixed, true)
};

template <int W_, int I_, ap_q_mode Q_, ap_o_mode O_, int N_>
struct ap_ufixed : ap_fixed_base<W_, I_, false, Q_, O_, N_> {
    AP_FIXED_MEMBERS(ap_ufixed, false)
};
#undef AP_FIXED_MEMBERS

#define AP_ONE_FIXED template <int W1_, int I1_, bool S1_, ap_q_mode Q1_, ap_o_mode O1_, int N1_
#define AP_TWO_FIXED AP_ONE_FIXED, int W2_, int I2_, bool S2_, ap_q_mode Q2_, ap_o_mode O2_, int N2_ >
#define AP_LEFT const ap_fixed_base<W1_, I1_, S1_, Q1_, O1_, N1_>& a
#define AP_RIGHT const ap_fixed_base<W2_, I2_, S2_, Q2_, O2_, N2_>& b
#define AP_RESULTS ap_exact::fixed_results<W1_, I1_, S1_, W2_, I2_, S2_>
// With integers and places on either side, which are made numbers; with floating point, which the other is made.
#define AP_MIXED(op)                                                                                           \
    AP_ONE_FIXED, class T_, class B_ = typename ap_exact::plain_fixed<T_>::type >                                 \
    AP_INLINE constexpr auto operator op(AP_LEFT, const T_& b) { return a op B_(b); }                            \
    AP_ONE_FIXED, class T_, class B_ = typename ap_exact::plain_fixed<T_>::type, int = 0 >                        \
    AP_INLINE constexpr auto operator op(const T_& b, AP_LEFT) { return B_(b) op a; }
#define AP_FLOATING(op)                                                                                        \
    AP_ONE_FIXED, class F_, class = typename ap_exact::parts_of<F_>::type, class = void >                        \
    AP_INLINE constexpr auto operator op(AP_LEFT, F_ b) { return static_cast<F_>(a) op b; }                      \
    AP_ONE_FIXED, class F_, class = typename ap_exact::parts_of<F_>::type, class = void, int = 0 >               \
    AP_INLINE constexpr auto operator op(F_ b, AP_LEFT) { return b op static_cast<F_>(a); }

#define AP_BINARY(op, RESULT_)                                                                                  \
    AP_TWO_FIXED AP_INLINE constexpr typename AP_RESULTS::RESULT_ operator op(AP_LEFT, AP_RIGHT) {              \
        typedef AP_RESULTS R_;                                                                                  \
        typedef typename R_::RESULT_::value_type N_;                                                              \
        return ap_exact::made<typename R_::RESULT_>(ap_exact::aligned<N_, R_::fraction - R_::fraction1>(a.get_value()) op \
                                                  ap_exact::aligned<N_, R_::fraction - R_::fraction2>(b.get_value())); \
    }                                                                                                          \
    AP_MIXED(op)
AP_BINARY(+, plus)
AP_BINARY(-, minus)
AP_BINARY(&, logic)
AP_BINARY(|, logic)
AP_BINARY(^, logic)
#undef AP_BINARY
AP_FLOATING(+)
AP_FLOATING(-)
AP_FLOATING(*)
AP_FLOATING(/)

AP_TWO_FIXED AP_INLINE constexpr typename AP_RESULTS::mult operator*(AP_LEFT, AP_RIGHT) {
    typedef typename AP_RESULTS::mult R_;
    typedef typename R_::value_type N_;
    return ap_exact::made<R_>(static_cast<N_>(a.get_value()) * static_cast<N_>(b.get_value()));
}
AP_MIXED(*)

AP_TWO_FIXED AP_INLINE constexpr typename AP_RESULTS::div operator/(AP_LEFT, AP_RIGHT) {
    typedef AP_RESULTS R_;
    constexpr int left = ap_exact::larger(R_::fraction2, 0);
    constexpr int wide = ap_exact::larger(ap_exact::larger(W1_ + left, W2_) + 1, R_::quotient);
    typedef ap_exact::value_t<wide, R_::either> N_;
    return ap_exact::made<typename R_::div>(ap_exact::aligned<N_, left>(a.get_value()) / static_cast<N_>(b.get_value()));
}
AP_MIXED(/)

#define AP_COMPARE(op)                                                                                         \
    AP_TWO_FIXED AP_INLINE constexpr bool operator op(AP_LEFT, AP_RIGHT) {                                     \
        typedef AP_RESULTS R_;                                                                                  \
        typedef ap_exact::value_t<R_::common, R_::either> N_;                                                     \
        return ap_exact::aligned<N_, R_::fraction - R_::fraction1>(a.get_value()) op                              \
            ap_exact::aligned<N_, R_::fraction - R_::fraction2>(b.get_value());                                   \
    }                                                                                                          \
    AP_MIXED(op)                                                                                               \
    AP_ONE_FIXED, class F_, class = typename ap_exact::parts_of<F_>::type, class = void >                        \
    AP_INLINE constexpr bool operator op(AP_LEFT, F_ b) { return a.to_double() op static_cast<double>(b); }     \
    AP_ONE_FIXED, class F_, class = typename ap_exact::parts_of<F_>::type, class = void, int = 0 >               \
    AP_INLINE constexpr bool operator op(F_ b, AP_LEFT) { return static_cast<double>(b) op a.to_double(); }
AP_COMPARE(==)
AP_COMPARE(!=)
AP_COMPARE(<)
AP_COMPARE(<=)
AP_COMPARE(>)
AP_COMPARE(>=)
#undef AP_COMPARE

#define AP_SHIFT(op, SHIFTED_)                                                                                  \
    AP_ONE_FIXED, class C_, class = decltype(ap_exact::count_of(*static_cast<const C_*>(nullptr))) >             \
    AP_INLINE constexpr auto operator op(AP_LEFT, const C_& count) { return a.SHIFTED_(ap_exact::count_of(count)); }
AP_SHIFT(<<, shifted)
AP_SHIFT(>>, shifted_down)
#undef AP_SHIFT

// Printed as a floating-point number; hardware prints nothing.
AP_ONE_FIXED, class O_ >
inline auto operator<<(O_& out, AP_LEFT) -> decltype(out.flush(), out << a.to_double()) { return out << a.to_double(); }

// Built-in numbers on the left of what assigns.
#define AP_NATIVE_ASSIGN(op)                                                                                   \
    template <class T_, typename std::enable_if<std::is_arithmetic<T_>::value, int>::type = 0, int W1_, int I1_, bool S1_, \
              ap_q_mode Q1_, ap_o_mode O1_, int N1_>                                                           \
    AP_INLINE constexpr T_& operator op##=(T_& b, AP_LEFT) { return b = static_cast<T_>(b op a); }
AP_NATIVE_ASSIGN(+)
AP_NATIVE_ASSIGN(-)
AP_NATIVE_ASSIGN(*)
AP_NATIVE_ASSIGN(/)
#undef AP_NATIVE_ASSIGN
#undef AP_MIXED
#undef AP_FLOATING
#undef AP_ONE_FIXED
#undef AP_TWO_FIXED
#undef AP_LEFT
#undef AP_RIGHT
#undef AP_RESULTS

#endif
