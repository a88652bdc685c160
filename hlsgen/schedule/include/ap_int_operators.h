// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// Operators on two integers, at least one of them an ap_ number, range, bit or concatenation.
#ifndef HLSGEN_SCHEDULE_AP_INT_OPERATORS_H
#define HLSGEN_SCHEDULE_AP_INT_OPERATORS_H

#include "ap_int_ref.h"

namespace ap_exact {
template <int W, bool S> struct number_of<ap_range_ref<W, S>> : place<ap_range_ref<W, S>> {};
template <int W, bool S> struct number_of<ap_bit_ref<W, S>> : place<ap_bit_ref<W, S>> {};
template <int W1, class T1, int W2, class T2>
struct number_of<ap_concat_ref<W1, T1, W2, T2>> : place<ap_concat_ref<W1, T1, W2, T2>> {};

// Counts of shifts, as built-in integers that hold them.
template <class T>
AP_INLINE constexpr T count_of(T x, typename std::enable_if<std::is_integral<T>::value>::type* = nullptr) { return x; }
template <int W, bool S>
AP_INLINE constexpr auto count_of(const ap_int_base<W, S>& x) {
    typedef typename std::conditional<(W <= 32), typename std::conditional<S, int, unsigned>::type,
                                      typename std::conditional<S, long long, unsigned long long>::type>::type C;
    return static_cast<C>(x.get_value());
}
template <class P, class N = typename place<P>::type>
AP_INLINE constexpr auto count_of(const P& bits) { return count_of(bits.get()); }
}  // namespace ap_exact

#define AP_NUMBERS template <int W1, bool S1, int W2, bool S2>
#define AP_PLACE_AND_OTHER                                                                                     \
    template <class P, class T, class A = typename ap_exact::place<P>::type, class B = typename ap_exact::number_of<T>::type>
#define AP_NATIVE_AND_PLACE                                                                                    \
    template <class T, class P, class A = typename ap_exact::native<T>::type, class B = typename ap_exact::place<P>::type, \
              int = 0>
// With built-in integers and places on either side; each side is made a number.
#define AP_MIXED(op)                                                                                           \
    template <int W, bool S, class T, class B = typename ap_exact::number_of<T>::type>                         \
    AP_INLINE constexpr auto operator op(const ap_int_base<W, S>& a, const T& b) { return a op B(b); }         \
    template <int W, bool S, class T, class A = typename ap_exact::number_of<T>::type, int = 0>                \
    AP_INLINE constexpr auto operator op(const T& a, const ap_int_base<W, S>& b) { return A(a) op b; }         \
    AP_PLACE_AND_OTHER AP_INLINE constexpr auto operator op(const P& a, const T& b) { return A(a) op B(b); }   \
    AP_NATIVE_AND_PLACE AP_INLINE constexpr auto operator op(const T& a, const P& b) { return A(a) op B(b); }

// RESULT: a member of results; both operands are widened to it.
#define AP_BINARY(op, RESULT)                                                                                  \
    AP_NUMBERS AP_INLINE constexpr typename ap_exact::results<W1, S1, W2, S2>::RESULT operator op(             \
        const ap_int_base<W1, S1>& a, const ap_int_base<W2, S2>& b) {                                          \
        typedef typename ap_exact::results<W1, S1, W2, S2>::RESULT R;                                          \
        typedef typename R::value_type N;                                                                      \
        return ap_exact::made<R>(static_cast<N>(a.get_value()) op static_cast<N>(b.get_value()));              \
    }                                                                                                          \
    AP_MIXED(op)
AP_BINARY(*, mult)
AP_BINARY(+, plus)
AP_BINARY(-, minus)
AP_BINARY(&, logic)
AP_BINARY(|, logic)
AP_BINARY(^, logic)
#undef AP_BINARY

// Quotients and remainders are computed wide enough for both operands and the quotient of the extremes.
#define AP_DIVISION(op, RESULT)                                                                                \
    AP_NUMBERS AP_INLINE constexpr typename ap_exact::results<W1, S1, W2, S2>::RESULT operator op(             \
        const ap_int_base<W1, S1>& a, const ap_int_base<W2, S2>& b) {                                          \
        typedef ap_exact::results<W1, S1, W2, S2> R;                                                           \
        typedef ap_exact::value_t<ap_exact::larger(R::both, R::quotient), R::either> N;                        \
        return ap_exact::made<typename R::RESULT>(static_cast<N>(a.get_value()) op static_cast<N>(b.get_value())); \
    }                                                                                                          \
    AP_MIXED(op)
AP_DIVISION(/, div)
AP_DIVISION(%, mod)
#undef AP_DIVISION

#define AP_COMPARE(op)                                                                                         \
    AP_NUMBERS AP_INLINE constexpr bool operator op(const ap_int_base<W1, S1>& a, const ap_int_base<W2, S2>& b) { \
        typedef ap_exact::results<W1, S1, W2, S2> R;                                                           \
        typedef ap_exact::value_t<R::both, R::either> N;                                                       \
        return static_cast<N>(a.get_value()) op static_cast<N>(b.get_value());                                 \
    }                                                                                                          \
    AP_MIXED(op)
AP_COMPARE(==)
AP_COMPARE(!=)
AP_COMPARE(<)
AP_COMPARE(<=)
AP_COMPARE(>)
AP_COMPARE(>=)
#undef AP_COMPARE

#define AP_SHIFT(op, SHIFTED)                                                                                  \
    template <int W, bool S, class C, class = decltype(ap_exact::count_of(*static_cast<const C*>(nullptr)))>   \
    AP_INLINE constexpr ap_exact::int_of_t<W, S> operator op(const ap_int_base<W, S>& a, const C& count) {     \
        return a.SHIFTED(ap_exact::count_of(count));                                                           \
    }                                                                                                          \
    template <class P, class C, class A = typename ap_exact::place<P>::type,                                   \
              class = decltype(ap_exact::count_of(*static_cast<const C*>(nullptr)))>                           \
    AP_INLINE constexpr auto operator op(const P& a, const C& count) { return A(a) op count; }
AP_SHIFT(<<, shifted)
AP_SHIFT(>>, shifted_down)
#undef AP_SHIFT

// Built-in integers and places on the right of what assigns, and places on the left.
#define AP_ASSIGN(op)                                                                                          \
    template <int W, bool S, class T, class B = typename ap_exact::number_of<T>::type>                         \
    AP_INLINE constexpr ap_int_base<W, S>& operator op##=(ap_int_base<W, S>& a, const T& b) { return a op##= B(b); } \
    template <class P, class T, class A = typename ap_exact::place<P>::type>                                   \
    AP_INLINE constexpr auto operator op##=(const P& a, const T& b)->decltype(void(A(a) op b), a) {                     \
        a.set(A(A(a) op b));                                                                                   \
        return a;                                                                                              \
    }
AP_ASSIGN(+)
AP_ASSIGN(-)
AP_ASSIGN(*)
AP_ASSIGN(/)
AP_ASSIGN(%)
AP_ASSIGN(&)
AP_ASSIGN(|)
AP_ASSIGN(^)
#undef AP_ASSIGN
#undef AP_MIXED
#undef AP_NUMBERS
#undef AP_PLACE_AND_OTHER
#undef AP_NATIVE_AND_PLACE

#endif
