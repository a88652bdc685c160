// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// ap_fixed and ap_ufixed on native integers, for fast C-simulation; written from scratch against the
// documented behaviour of the vendor's types. C++11, GCC or Clang (needs __int128).
//
// Subset: W <= 128, all quantisation and overflow modes with N = 0, + - * with exact result types, unary -,
// +=, -=, *=, ++, --, <<, >>, comparisons, mixes with ap_int and built-in integers, construction from
// float and double, range(), operator()(hi, lo), operator[] (read), to_*(). Not here: division, bitwise
// operators, strings. Infinity and NaN have no defined result.

#ifndef HLSGEN_FAST_AP_FIXED_H
#define HLSGEN_FAST_AP_FIXED_H

#include "ap_int.h"

template <int W, int I, ap_q_mode Q = AP_TRN, ap_o_mode O = AP_WRAP, int N = 0>
struct ap_fixed;
template <int W, int I, ap_q_mode Q = AP_TRN, ap_o_mode O = AP_WRAP, int N = 0>
struct ap_ufixed;

namespace ap_fast {

template <int W, int I, bool S>
struct fixed_type { typedef ap_fixed<W, I> type; };
template <int W, int I>
struct fixed_type<W, I, false> { typedef ap_ufixed<W, I> type; };

/// Bits of a signed integer in which a conversion from W2 bits, `right` fraction bits more, to W can work.
constexpr int conversion_bits(int w, bool s, int w2, bool s2, int right) {
    return larger(w + !s, w2 + !s2 + (right >= w2 ? 2 : 0));
}

/// Whole numbers as fixed-point types.
template <class T, bool = std::is_integral<T>::value>
struct plain_fixed {};
template <class T>
struct plain_fixed<T, true> {
    typedef typename fixed_type<builtin<T>::width, builtin<T>::width, builtin<T>::sign>::type type;
};
template <int W>
struct plain_fixed<ap_int<W>, false> { typedef ap_fixed<W, W> type; };
template <int W>
struct plain_fixed<ap_uint<W>, false> { typedef ap_ufixed<W, W> type; };

constexpr double power_of_two(int n) {
    return n == 0 ? 1.0 : n > 0 ? 2.0 * power_of_two(n - 1) : 0.5 * power_of_two(n + 1);
}

/// floor(x * 2**-right) and, added to it, whether mode Q rounds up; right >= 1.
template <ap_q_mode Q, class T>
AP_FAST_INLINE T round_shift(T x, int right) {
    const T floor = static_cast<T>(x >> right);
    if (Q == AP_TRN) return floor;
    const T half = static_cast<T>(T(1) << (right - 1));
    const T rest = static_cast<T>(x & static_cast<T>(half | static_cast<T>(half - 1)));
    if (Q == AP_TRN_ZERO) return static_cast<T>(floor + (x < 0 && rest != 0));
    const T halves_up = Q == AP_RND        ? T(1)
                        : Q == AP_RND_INF  ? T(x >= 0)
                        : Q == AP_RND_ZERO ? T(x < 0)
                        : Q == AP_RND_CONV ? T(floor & 1)
                                           : T(0);
    return static_cast<T>(floor + (halves_up != 0 ? rest >= half : rest > half));
}

/// x * 2**-right, with x a signed integer of at most W2 bits, as the code of a fixed type.
///
/// T is a native signed integer of conversion_bits(...) bits. A right shift beyond W2 + 1 equals one by
/// W2 + 1: what is left is below a half.
template <int W, bool S, ap_q_mode Q, ap_o_mode O, int W2, class T>
AP_FAST_INLINE typename native<W, S>::type convert(T x, int right) {
    typedef typename native<W, S>::type Code;
    typedef typename native<W, false>::type U;
    const int down = right > 0 ? (right < W2 + 1 ? right : W2 + 1) : 0;
    const int left = right < 0 ? -right : 0;
    const T rounded = down > 0 ? round_shift<Q>(x, down) : x;
    const Code wrapped = wrap<W, S>(shift_left(static_cast<U>(rounded), left));
    if (O == AP_WRAP) return wrapped;

    const U highest = static_cast<U>(static_cast<U>(~U(0)) >> (8 * sizeof(U) - W + S));
    const bool symmetric = O == AP_SAT_SYM && W > 1;  // one bit has no positive number to mirror
    const T top = static_cast<T>(highest);
    const T bottom = !S ? T(0) : static_cast<T>(symmetric ? -top : -top - 1);
    // What is shifted left is compared before the shift, which could lose bits.
    const T last = shift_right(top, left);
    const T first = symmetric ? static_cast<T>(S ? -last : 0) : left < W ? shift_right(bottom, left) : T(0);
    const bool above = rounded > last;
    const bool below = rounded < first;
    if (!above && !below) return wrapped;
    if (O == AP_SAT_ZERO) return Code(0);
    if (O == AP_WRAP_SM) {
        // The first dropped bit, before rounding, is the new sign.
        const T floor = static_cast<T>(x >> down);
        const bool sign = W >= left && (shift_right(floor, W - left) & 1) != 0;
        return sign != (wrapped < 0) ? static_cast<Code>(~wrapped) : wrapped;
    }
    return static_cast<Code>(above ? top : bottom);
}

template <int W, int I, bool S, ap_q_mode Q, ap_o_mode O>
struct fixed_value : number<W, S, is_lazy(W) && Q == AP_TRN && O == AP_WRAP> {
    static_assert(S || O != AP_WRAP_SM, "ap_ufixed does not support AP_WRAP_SM");
    typedef typename native<W, S>::type Code;
    typedef typename native<W, false>::type U;
    typedef typename std::conditional<S, ap_fixed<W, I, Q, O>, ap_ufixed<W, I, Q, O> >::type Self;
    static const int width = W;
    static const int iwidth = I;
    static const int fraction = W - I;
    static const ap_q_mode qmode = Q;
    static const ap_o_mode omode = O;
    static const bool sign_flag = S;

    fixed_value() = default;
    template <int W2, int I2, bool S2, ap_q_mode Q2, ap_o_mode O2>
    AP_FAST_INLINE fixed_value(const fixed_value<W2, I2, S2, Q2, O2>& x) { this->raw = code<W2, S2, W2 - I2>(x.get()); }
    template <int W2, bool S2>
    AP_FAST_INLINE fixed_value(const int_value<W2, S2, false>& x) { this->raw = code<W2, S2, 0>(x.get()); }
    template <class T, class = typename std::enable_if<std::is_integral<T>::value>::type>
    AP_FAST_INLINE fixed_value(T x) { this->raw = code<builtin<T>::width, builtin<T>::sign, 0>(x); }
    template <class Owner>
    AP_FAST_INLINE fixed_value(const range_ref<Owner>& bits) { this->raw = code<64, false, 0>(bits.to_uint64()); }
    AP_FAST_INLINE fixed_value(double x) {
        const double_parts parts(x);
        typedef typename native<conversion_bits(W, S, 54, true, 54), true>::type T;
        this->raw = convert<W, S, Q, O, 54>(static_cast<T>(parts.mantissa), 52 - parts.exponent - fraction);
    }
    AP_FAST_INLINE fixed_value(float x) : fixed_value(static_cast<double>(x)) {}

    /// The value without its fraction, rounded towards zero.
    AP_FAST_INLINE typename native<larger(larger(W, I), 1), S>::type integer_part() const {
        typedef typename native<larger(larger(W, I), 1), S>::type N;
        typedef typename native<larger(larger(W, I), 1), false>::type UN;
        const N x = this->get();
        if (fraction <= 0) return static_cast<N>(shift_left(static_cast<UN>(x), -fraction));
        const UN size = x < 0 ? static_cast<UN>(UN(0) - static_cast<UN>(x)) : static_cast<UN>(x);
        const UN whole = shift_right(size, fraction);
        return static_cast<N>(x < 0 ? static_cast<UN>(UN(0) - whole) : whole);
    }
    AP_FAST_INLINE int to_int() const { return static_cast<int>(integer_part()); }
    AP_FAST_INLINE unsigned to_uint() const { return static_cast<unsigned>(integer_part()); }
    AP_FAST_INLINE long long to_int64() const { return static_cast<long long>(integer_part()); }
    AP_FAST_INLINE unsigned long long to_uint64() const { return static_cast<unsigned long long>(integer_part()); }
    AP_FAST_INLINE double to_double() const { return static_cast<double>(this->get()) * power_of_two(-fraction); }
    AP_FAST_INLINE float to_float() const {
        return static_cast<float>(static_cast<double>(static_cast<float>(this->get())) * power_of_two(-fraction));
    }
    template <class T, class = typename std::enable_if<std::is_arithmetic<T>::value>::type>
    AP_FAST_INLINE operator T() const { return as(static_cast<T*>(nullptr)); }

    AP_FAST_INLINE bool operator!() const { return this->get() == 0; }
    AP_FAST_INLINE Self operator+() const { return make(this->get()); }
    AP_FAST_INLINE ap_fixed<W + 1, I + 1> operator-() const {
        typedef typename native<W + 1, true>::type N;
        ap_fixed<W + 1, I + 1> result;
        result.raw = static_cast<N>(-static_cast<N>(this->get()));
        return result;
    }

    /// Shifts of the bits: the type stays, no mode applies, a negative count shifts the other way.
    AP_FAST_INLINE Self operator<<(int count) const {
        return count < 0 ? make(shift_right(this->get(), -count)) : make(shift_left(static_cast<U>(this->get()), count));
    }
    AP_FAST_INLINE Self operator>>(int count) const { return *this << -count; }
    template <int W2, bool S2>
    AP_FAST_INLINE Self operator<<(const int_value<W2, S2, false>& count) const { return *this << count.to_int(); }
    template <int W2, bool S2>
    AP_FAST_INLINE Self operator>>(const int_value<W2, S2, false>& count) const { return *this >> count.to_int(); }
    AP_FAST_INLINE fixed_value& operator<<=(int count) { return assign(*this << count); }
    AP_FAST_INLINE fixed_value& operator>>=(int count) { return assign(*this >> count); }

    template <int W2, int I2, bool S2, ap_q_mode Q2, ap_o_mode O2>
    AP_FAST_INLINE fixed_value& operator+=(const fixed_value<W2, I2, S2, Q2, O2>& x) {
        return add(x, modular());
    }
    template <int W2, int I2, bool S2, ap_q_mode Q2, ap_o_mode O2>
    AP_FAST_INLINE fixed_value& operator-=(const fixed_value<W2, I2, S2, Q2, O2>& x) {
        return subtract(x, modular());
    }
    template <int W2, int I2, bool S2, ap_q_mode Q2, ap_o_mode O2>
    AP_FAST_INLINE fixed_value& operator*=(const fixed_value<W2, I2, S2, Q2, O2>& x) {
        return assign(*this * x);
    }
    template <class T>
    AP_FAST_INLINE auto operator+=(const T& x) -> decltype(typename plain_fixed<T>::type(x), *this) {
        return *this += typename plain_fixed<T>::type(x);
    }
    template <class T>
    AP_FAST_INLINE auto operator-=(const T& x) -> decltype(typename plain_fixed<T>::type(x), *this) {
        return *this -= typename plain_fixed<T>::type(x);
    }
    template <class T>
    AP_FAST_INLINE auto operator*=(const T& x) -> decltype(typename plain_fixed<T>::type(x), *this) {
        return *this *= typename plain_fixed<T>::type(x);
    }
    AP_FAST_INLINE fixed_value& operator++() { return *this += One(1); }
    AP_FAST_INLINE fixed_value& operator--() { return *this -= One(1); }
    AP_FAST_INLINE Self operator++(int) {
        const Self before = make(this->get());
        ++*this;
        return before;
    }
    AP_FAST_INLINE Self operator--(int) {
        const Self before = make(this->get());
        --*this;
        return before;
    }

private:
    /// Rounding down and wrapping commute with addition, so the sum can be made on the bits.
    typedef std::integral_constant<bool, Q == AP_TRN && O == AP_WRAP> modular;
    /// ap_ufixed<1, 1>, which is not complete yet: named by way of S, it is looked at where it is used.
    typedef typename fixed_type<1, 1, S && false>::type One;

    template <int W2, bool S2, int F2, class T>
    static AP_FAST_INLINE Code code(T x) {
        typedef typename native<conversion_bits(W, S, W2, S2, F2 - fraction), true>::type Work;
        return convert<W, S, Q, O, W2>(static_cast<Work>(x), F2 - fraction);
    }
    template <class T>
    static AP_FAST_INLINE Self make(T x) {
        Self result;
        result.raw = wrap<W, S>(x);
        return result;
    }
    template <class T>
    AP_FAST_INLINE fixed_value& assign(const T& x) {
        this->raw = fixed_value(x).raw;
        return *this;
    }
    template <int W2, int I2, bool S2, ap_q_mode Q2, ap_o_mode O2>
    AP_FAST_INLINE fixed_value& add(const fixed_value<W2, I2, S2, Q2, O2>& x, std::true_type) {
        this->add_raw(static_cast<U>(code<W2, S2, W2 - I2>(x.get())));
        return *this;
    }
    template <class T>
    AP_FAST_INLINE fixed_value& add(const T& x, std::false_type) { return assign(*this + x); }
    template <int W2, int I2, bool S2, ap_q_mode Q2, ap_o_mode O2>
    AP_FAST_INLINE fixed_value& subtract(const fixed_value<W2, I2, S2, Q2, O2>& x, std::true_type) {
        this->add_raw(static_cast<U>(code<W2 + 1, true, W2 - I2>((-x).get())));
        return *this;
    }
    template <class T>
    AP_FAST_INLINE fixed_value& subtract(const T& x, std::false_type) { return assign(*this - x); }

    AP_FAST_INLINE double as(double*) const { return to_double(); }
    AP_FAST_INLINE float as(float*) const { return to_float(); }
    AP_FAST_INLINE bool as(bool*) const { return this->get() != 0; }
    template <class T>
    AP_FAST_INLINE T as(T*) const { return static_cast<T>(integer_part()); }
};

// ---- operators on two numbers, at least one of them fixed -----------------------------------------------

/// Types of results. A signed operand makes the result signed; an unsigned one beside it grows by a bit.
template <int W1, int I1, bool S1, int W2, int I2, bool S2>
struct fixed_results {
    static const int fraction = larger(W1 - I1, W2 - I2);
    static const int common_i = larger(I1 + (S2 && !S1), I2 + (S1 && !S2));
    static const int common_w = common_i + fraction;
    static const int left1 = fraction - (W1 - I1);
    static const int left2 = fraction - (W2 - I2);
};

template <class N, class T>
AP_FAST_INLINE N aligned(T x, int left) {
    typedef typename native_of_size<sizeof(N), false>::type U;
    return static_cast<N>(shift_left(static_cast<U>(static_cast<N>(x)), left));
}

#define AP_FAST_FIXED_PAIR                                                                                     \
    template <int W1, int I1, bool S1, ap_q_mode Q1, ap_o_mode O1, int W2, int I2, bool S2, ap_q_mode Q2,      \
              ap_o_mode O2>
// With a built-in integer, ap_int or ap_uint on either side.
#define AP_FAST_FIXED_MIXED(op)                                                                                \
    template <int W1, int I1, bool S1, ap_q_mode Q1, ap_o_mode O1, class T>                                    \
    AP_FAST_INLINE auto operator op(const fixed_value<W1, I1, S1, Q1, O1>& a, const T& b)                      \
        ->decltype(a op typename plain_fixed<T>::type(b)) {                                                    \
        return a op typename plain_fixed<T>::type(b);                                                          \
    }                                                                                                          \
    template <int W2, int I2, bool S2, ap_q_mode Q2, ap_o_mode O2, class T>                                    \
    AP_FAST_INLINE auto operator op(const T& a, const fixed_value<W2, I2, S2, Q2, O2>& b)                      \
        ->decltype(typename plain_fixed<T>::type(a) op b) {                                                    \
        return typename plain_fixed<T>::type(a) op b;                                                          \
    }

#define AP_FAST_SUM(op, SIGN)                                                                                  \
    AP_FAST_FIXED_PAIR                                                                                         \
    AP_FAST_INLINE typename fixed_type<fixed_results<W1, I1, S1, W2, I2, S2>::common_w + 1,                    \
                                       fixed_results<W1, I1, S1, W2, I2, S2>::common_i + 1, SIGN>::type        \
    operator op(const fixed_value<W1, I1, S1, Q1, O1>& a, const fixed_value<W2, I2, S2, Q2, O2>& b) {          \
        typedef fixed_results<W1, I1, S1, W2, I2, S2> R;                                                       \
        typedef typename native<R::common_w + 1, SIGN>::type N;                                                \
        typename fixed_type<R::common_w + 1, R::common_i + 1, SIGN>::type result;                              \
        result.raw = static_cast<N>(aligned<N>(a.get(), R::left1) op aligned<N>(b.get(), R::left2));           \
        return result;                                                                                         \
    }                                                                                                          \
    AP_FAST_FIXED_MIXED(op)
AP_FAST_SUM(+, (S1 || S2))
AP_FAST_SUM(-, true)
#undef AP_FAST_SUM

AP_FAST_FIXED_PAIR
AP_FAST_INLINE typename fixed_type<W1 + W2, I1 + I2, (S1 || S2)>::type operator*(
    const fixed_value<W1, I1, S1, Q1, O1>& a, const fixed_value<W2, I2, S2, Q2, O2>& b) {
    typedef typename native<W1 + W2, (S1 || S2)>::type N;
    typename fixed_type<W1 + W2, I1 + I2, (S1 || S2)>::type result;
    result.raw = static_cast<N>(static_cast<N>(a.get()) * static_cast<N>(b.get()));
    return result;
}
AP_FAST_FIXED_MIXED(*)

#define AP_FAST_COMPARE(op)                                                                                    \
    AP_FAST_FIXED_PAIR                                                                                         \
    AP_FAST_INLINE bool operator op(const fixed_value<W1, I1, S1, Q1, O1>& a,                                  \
                                    const fixed_value<W2, I2, S2, Q2, O2>& b) {                                \
        typedef fixed_results<W1, I1, S1, W2, I2, S2> R;                                                       \
        typedef typename native<R::common_w, (S1 || S2)>::type N;                                              \
        return aligned<N>(a.get(), R::left1) op aligned<N>(b.get(), R::left2);                                 \
    }                                                                                                          \
    AP_FAST_FIXED_MIXED(op)                                                                                    \
    template <int W1, int I1, bool S1, ap_q_mode Q1, ap_o_mode O1>                                             \
    AP_FAST_INLINE bool operator op(const fixed_value<W1, I1, S1, Q1, O1>& a, double b) {                      \
        return a.to_double() op b;                                                                             \
    }                                                                                                          \
    template <int W2, int I2, bool S2, ap_q_mode Q2, ap_o_mode O2>                                             \
    AP_FAST_INLINE bool operator op(double a, const fixed_value<W2, I2, S2, Q2, O2>& b) {                      \
        return a op b.to_double();                                                                             \
    }
AP_FAST_COMPARE(==)
AP_FAST_COMPARE(!=)
AP_FAST_COMPARE(<)
AP_FAST_COMPARE(<=)
AP_FAST_COMPARE(>)
AP_FAST_COMPARE(>=)
#undef AP_FAST_COMPARE
#undef AP_FAST_FIXED_MIXED
#undef AP_FAST_FIXED_PAIR

}  // namespace ap_fast

template <int W, int I, ap_q_mode Q, ap_o_mode O, int N>
struct ap_fixed : ap_fast::fixed_value<W, I, true, Q, O> {
    static_assert(N == 0, "saturation bits are not supported by these headers");
    using ap_fast::fixed_value<W, I, true, Q, O>::fixed_value;
    ap_fixed() = default;
};

template <int W, int I, ap_q_mode Q, ap_o_mode O, int N>
struct ap_ufixed : ap_fast::fixed_value<W, I, false, Q, O> {
    static_assert(N == 0, "saturation bits are not supported by these headers");
    using ap_fast::fixed_value<W, I, false, Q, O>::fixed_value;
    ap_ufixed() = default;
};

#endif
