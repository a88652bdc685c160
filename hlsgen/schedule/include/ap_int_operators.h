// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// Operators on two integers, at least one of them an ap_ number, range, bit or concatenation.
#ifndef HLSGEN_SCHEDULE_AP_INT_OPERATORS_H
#define HLSGEN_SCHEDULE_AP_INT_OPERATORS_H

#include "ap_int_ref.h"

namespace ap_exact {
template <int W_, bool S_> struct number_of<ap_range_ref<W_, S_>> : place<ap_range_ref<W_, S_>> {};
template <int W_, bool S_> struct number_of<ap_bit_ref<W_, S_>> : place<ap_bit_ref<W_, S_>> {};
template <int W1_, class T1_, int W2_, class T2_>
struct number_of<ap_concat_ref<W1_, T1_, W2_, T2_>> : place<ap_concat_ref<W1_, T1_, W2_, T2_>> {};

// Counts of shifts, as built-in integers that hold them.
template <class T_>
AP_INLINE constexpr T_ count_of(T_ x, typename std::enable_if<std::is_integral<T_>::value>::type* = nullptr) { return x; }
template <class T_>
AP_INLINE constexpr auto count_of(T_ x, typename std::enable_if<std::is_enum<T_>::value>::type* = nullptr) -> decltype(+x) { return +x; }
template <int W_, bool S_>
AP_INLINE constexpr auto count_of(const ap_int_base<W_, S_>& x) {
    typedef typename std::conditional<(W_ <= 32), typename std::conditional<S_, int, unsigned>::type,
                                      typename std::conditional<S_, long long, unsigned long long>::type>::type C_;
    return static_cast<C_>(x.get_value());
}
template <class P_, class N_ = typename place<P_>::type>
AP_INLINE constexpr auto count_of(const P_& bits) { return count_of(bits.get()); }
}  // namespace ap_exact

#define AP_NUMBERS template <int W1_, bool S1_, int W2_, bool S2_>
#define AP_PLACE_AND_OTHER                                                                                     \
    template <class P_, class T_, class A_ = typename ap_exact::place<P_>::type, class B_ = typename ap_exact::number_of<T_>::type>
#define AP_NATIVE_AND_PLACE                                                                                    \
    template <class T_, class P_, class A_ = typename ap_exact::native<T_>::type, class B_ = typename ap_exact::place<P_>::type, \
              int = 0>
// With built-in integers and places on either side; each side is made a number.
#define AP_MIXED(op)                                                                                           \
    template <int W_, bool S_, class T_, class B_ = typename ap_exact::number_of<T_>::type>                         \
    AP_INLINE constexpr auto operator op(const ap_int_base<W_, S_>& a, const T_& b) { return a op B_(b); }         \
    template <int W_, bool S_, class T_, class A_ = typename ap_exact::number_of<T_>::type, int = 0>                \
    AP_INLINE constexpr auto operator op(const T_& a, const ap_int_base<W_, S_>& b) { return A_(a) op b; }         \
    AP_PLACE_AND_OTHER AP_INLINE constexpr auto operator op(const P_& a, const T_& b) { return A_(a) op B_(b); }   \
    AP_NATIVE_AND_PLACE AP_INLINE constexpr auto operator op(const T_& a, const P_& b) { return A_(a) op B_(b); }

// RESULT: a member of results; both operands are widened to it.
#define AP_BINARY(op, RESULT_)                                                                                  \
    AP_NUMBERS AP_INLINE constexpr typename ap_exact::results<W1_, S1_, W2_, S2_>::RESULT_ operator op(             \
        const ap_int_base<W1_, S1_>& a, const ap_int_base<W2_, S2_>& b) {                                          \
        typedef typename ap_exact::results<W1_, S1_, W2_, S2_>::RESULT_ R_;                                          \
        typedef typename R_::value_type N_;                                                                      \
        return ap_exact::made<R_>(static_cast<N_>(a.get_value()) op static_cast<N_>(b.get_value()));              \
    }                                                                                                          \
    AP_MIXED(op)
AP_BINARY(*, mult)
AP_BINARY(+, plus)
AP_BINARY(-, minus)
AP_BINARY(&, logic)
AP_BINARY(|, logic)
AP_BINARY(^, logic)
#undef AP_BINARY

// The vendor gives `built-in / number` the type of `number / built-in`.
#define AP_MIXED_DIVISION(op, RESULT_)                                                                          \
    template <int W_, bool S_, class T_, class B_ = typename ap_exact::number_of<T_>::type>                         \
    AP_INLINE constexpr auto operator op(const ap_int_base<W_, S_>& a, const T_& b) { return a op B_(b); }         \
    template <int W_, bool S_, class T_, class A_ = typename ap_exact::number_of<T_>::type, int = 0>                \
    AP_INLINE constexpr auto operator op(const T_& a, const ap_int_base<W_, S_>& b) {                             \
        return typename ap_exact::results<W_, S_, A_::width, A_::sign_flag>::RESULT_(A_(a) op b);                    \
    }                                                                                                          \
    AP_PLACE_AND_OTHER AP_INLINE constexpr auto operator op(const P_& a, const T_& b) { return A_(a) op B_(b); }   \
    AP_NATIVE_AND_PLACE AP_INLINE constexpr auto operator op(const T_& a, const P_& b) { return A_(a) op B_(b); }

// Quotients and remainders are computed wide enough for both operands and the quotient of the extremes.
#define AP_DIVISION(op, RESULT_)                                                                                \
    AP_NUMBERS AP_INLINE constexpr typename ap_exact::results<W1_, S1_, W2_, S2_>::RESULT_ operator op(             \
        const ap_int_base<W1_, S1_>& a, const ap_int_base<W2_, S2_>& b) {                                          \
        typedef ap_exact::results<W1_, S1_, W2_, S2_> R_;                                                           \
        typedef ap_exact::value_t<ap_exact::larger(R_::both, R_::quotient), R_::either> N_;                        \
        return ap_exact::made<typename R_::RESULT_>(static_cast<N_>(a.get_value()) op static_cast<N_>(b.get_value())); \
    }                                                                                                          \
    AP_MIXED_DIVISION(op, RESULT_)
AP_DIVISION(/, div)
AP_DIVISION(%, mod)
#undef AP_DIVISION
#undef AP_MIXED_DIVISION

#define AP_COMPARE(op)                                                                                         \
    AP_NUMBERS AP_INLINE constexpr bool operator op(const ap_int_base<W1_, S1_>& a, const ap_int_base<W2_, S2_>& b) { \
        typedef ap_exact::results<W1_, S1_, W2_, S2_> R_;                                                           \
        typedef ap_exact::value_t<R_::both, R_::either> N_;                                                       \
        return static_cast<N_>(a.get_value()) op static_cast<N_>(b.get_value());                                 \
    }                                                                                                          \
    AP_MIXED(op)
AP_COMPARE(==)
AP_COMPARE(!=)
AP_COMPARE(<)
AP_COMPARE(<=)
AP_COMPARE(>)
AP_COMPARE(>=)
#undef AP_COMPARE

#define AP_SHIFT(op, SHIFTED_)                                                                                  \
    template <int W_, bool S_, class C_, class = decltype(ap_exact::count_of(*static_cast<const C_*>(nullptr)))>   \
    AP_INLINE constexpr ap_exact::int_of_t<W_, S_> operator op(const ap_int_base<W_, S_>& a, const C_& count) {     \
        return a.SHIFTED_(ap_exact::count_of(count));                                                           \
    }                                                                                                          \
    template <class P_, class C_, class A_ = typename ap_exact::place<P_>::type,                                   \
              class = decltype(ap_exact::count_of(*static_cast<const C_*>(nullptr)))>                           \
    AP_INLINE constexpr auto operator op(const P_& a, const C_& count) { return A_(a) op count; }
AP_SHIFT(<<, shifted)
AP_SHIFT(>>, shifted_down)
#undef AP_SHIFT

// Printed as built-in numbers; hardware prints nothing.
template <class O_, class P_, class A_ = typename ap_exact::place<P_>::type>
inline auto operator<<(O_& out, const P_& bits) -> decltype(out.flush(), out << bits.to_uint64()) { return out << bits.to_uint64(); }
template <class O_, int W_, bool S_>
inline auto operator<<(O_& out, const ap_int_base<W_, S_>& x) -> decltype(out.flush(), out << x.to_int64()) { return out << x.to_int64(); }

// Built-in integers and places on the right of what assigns, and places on the left.
#define AP_ASSIGN(op)                                                                                          \
    template <int W_, bool S_, class T_, class B_ = typename ap_exact::number_of<T_>::type>                         \
    AP_INLINE constexpr ap_int_base<W_, S_>& operator op##=(ap_int_base<W_, S_>& a, const T_& b) { return a op##= B_(b); } \
    template <class P_, class T_, class A_ = typename ap_exact::place<P_>::type>                                   \
    AP_INLINE constexpr auto operator op##=(const P_& a, const T_& b)->decltype(void(A_(a) op b), a) {                     \
        a.set(A_(A_(a) op b));                                                                                   \
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
