// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// ap_fixed<W, I, Q, O, N> and ap_ufixed, with exact results, and the operators on two numbers.
#ifndef HLSGEN_SCHEDULE_AP_FIXED_H
#define HLSGEN_SCHEDULE_AP_FIXED_H

#include "ap_fixed_base.h"

#define AP_FIXED_MEMBERS(NAME, S)                                                                              \
    typedef ap_fixed_base<W, I, S, Q, O, N> Base;                                                              \
    NAME() = default;                                                                                          \
    template <int W2, int I2, bool S2, ap_q_mode Q2, ap_o_mode O2, int N2>                                     \
    AP_INLINE constexpr NAME(const ap_fixed_base<W2, I2, S2, Q2, O2, N2>& x) : Base(x) {}                      \
    template <int W2, bool S2>                                                                                 \
    AP_INLINE constexpr NAME(const ap_int_base<W2, S2>& x) : Base(x) {}                                        \
    template <class T, class B = typename ap_exact::number_of<T>::type>                                        \
    AP_INLINE constexpr NAME(const T& x) : Base(B(x)) {}                                                       \
    AP_INLINE constexpr NAME(double x) : Base(x) {}                                                            \
    AP_INLINE constexpr NAME(float x) : Base(x) {}                                                             \
    AP_INLINE constexpr NAME(half x) : Base(x) {}                                                          \
    AP_INLINE NAME(const char* text) : Base(text) {}                                                           \
    AP_INLINE NAME(const volatile Base& x) { this->V = x.V; }                                                  \
    NAME(const NAME&) = default;                                                                               \
    NAME& operator=(const NAME&) = default;                                                                    \
    AP_INLINE NAME& operator=(const volatile NAME& x) {                                                        \
        this->V = x.V;                                                                                         \
        return *this;                                                                                          \
    }                                                                                                          \
    AP_INLINE void operator=(const NAME& x) volatile { this->V = x.V; }                                        \
    AP_INLINE void operator=(const volatile NAME& x) volatile { this->V = x.V; }

template <int W, int I, ap_q_mode Q, ap_o_mode O, int N>
struct ap_fixed : ap_fixed_base<W, I, true, Q, O, N> {
    AP_FIXED_MEMBERS(ap_fixed, true)
};

template <int W, int I, ap_q_mode Q, ap_o_mode O, int N>
struct ap_ufixed : ap_fixed_base<W, I, false, Q, O, N> {
    AP_FIXED_MEMBERS(ap_ufixed, false)
};
#undef AP_FIXED_MEMBERS

#define AP_ONE_FIXED template <int W1, int I1, bool S1, ap_q_mode Q1, ap_o_mode O1, int N1
#define AP_TWO_FIXED AP_ONE_FIXED, int W2, int I2, bool S2, ap_q_mode Q2, ap_o_mode O2, int N2 >
#define AP_LEFT const ap_fixed_base<W1, I1, S1, Q1, O1, N1>& a
#define AP_RIGHT const ap_fixed_base<W2, I2, S2, Q2, O2, N2>& b
#define AP_RESULTS ap_exact::fixed_results<W1, I1, S1, W2, I2, S2>
// With integers and places on either side, which are made numbers; with floating point, which the other is made.
#define AP_MIXED(op)                                                                                           \
    AP_ONE_FIXED, class T, class B = typename ap_exact::plain_fixed<T>::type >                                 \
    AP_INLINE constexpr auto operator op(AP_LEFT, const T& b) { return a op B(b); }                            \
    AP_ONE_FIXED, class T, class B = typename ap_exact::plain_fixed<T>::type, int = 0 >                        \
    AP_INLINE constexpr auto operator op(const T& b, AP_LEFT) { return B(b) op a; }
#define AP_FLOATING(op)                                                                                        \
    AP_ONE_FIXED, class F, class = typename ap_exact::parts_of<F>::type, class = void >                        \
    AP_INLINE constexpr auto operator op(AP_LEFT, F b) { return static_cast<F>(a) op b; }                      \
    AP_ONE_FIXED, class F, class = typename ap_exact::parts_of<F>::type, class = void, int = 0 >               \
    AP_INLINE constexpr auto operator op(F b, AP_LEFT) { return b op static_cast<F>(a); }

#define AP_BINARY(op, RESULT)                                                                                  \
    AP_TWO_FIXED AP_INLINE constexpr typename AP_RESULTS::RESULT operator op(AP_LEFT, AP_RIGHT) {              \
        typedef AP_RESULTS R;                                                                                  \
        typedef typename R::RESULT::value_type N;                                                              \
        return ap_exact::made<typename R::RESULT>(ap_exact::aligned<N, R::fraction - R::fraction1>(a.get_value()) op \
                                                  ap_exact::aligned<N, R::fraction - R::fraction2>(b.get_value())); \
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
    typedef typename AP_RESULTS::mult R;
    typedef typename R::value_type N;
    return ap_exact::made<R>(static_cast<N>(a.get_value()) * static_cast<N>(b.get_value()));
}
AP_MIXED(*)

AP_TWO_FIXED AP_INLINE constexpr typename AP_RESULTS::div operator/(AP_LEFT, AP_RIGHT) {
    typedef AP_RESULTS R;
    constexpr int left = ap_exact::larger(R::fraction2, 0);
    constexpr int wide = ap_exact::larger(ap_exact::larger(W1 + left, W2) + 1, R::quotient);
    typedef ap_exact::value_t<wide, R::either> N;
    return ap_exact::made<typename R::div>(ap_exact::aligned<N, left>(a.get_value()) / static_cast<N>(b.get_value()));
}
AP_MIXED(/)

#define AP_COMPARE(op)                                                                                         \
    AP_TWO_FIXED AP_INLINE constexpr bool operator op(AP_LEFT, AP_RIGHT) {                                     \
        typedef AP_RESULTS R;                                                                                  \
        typedef ap_exact::value_t<R::common, R::either> N;                                                     \
        return ap_exact::aligned<N, R::fraction - R::fraction1>(a.get_value()) op                              \
            ap_exact::aligned<N, R::fraction - R::fraction2>(b.get_value());                                   \
    }                                                                                                          \
    AP_MIXED(op)                                                                                               \
    AP_ONE_FIXED, class F, class = typename ap_exact::parts_of<F>::type, class = void >                        \
    AP_INLINE constexpr bool operator op(AP_LEFT, F b) { return a.to_double() op static_cast<double>(b); }     \
    AP_ONE_FIXED, class F, class = typename ap_exact::parts_of<F>::type, class = void, int = 0 >               \
    AP_INLINE constexpr bool operator op(F b, AP_LEFT) { return static_cast<double>(b) op a.to_double(); }
AP_COMPARE(==)
AP_COMPARE(!=)
AP_COMPARE(<)
AP_COMPARE(<=)
AP_COMPARE(>)
AP_COMPARE(>=)
#undef AP_COMPARE

#define AP_SHIFT(op, SHIFTED)                                                                                  \
    AP_ONE_FIXED, class C, class = decltype(ap_exact::count_of(*static_cast<const C*>(nullptr))) >             \
    AP_INLINE constexpr auto operator op(AP_LEFT, const C& count) { return a.SHIFTED(ap_exact::count_of(count)); }
AP_SHIFT(<<, shifted)
AP_SHIFT(>>, shifted_down)
#undef AP_SHIFT
#undef AP_MIXED
#undef AP_FLOATING
#undef AP_ONE_FIXED
#undef AP_TWO_FIXED
#undef AP_LEFT
#undef AP_RIGHT
#undef AP_RESULTS

#endif
