// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// ap_fixed_base<W, I, S, Q, O>: the numbers that ap_fixed and ap_ufixed are. N, the saturated bits of wrapping, is
// taken as 0.
#ifndef HLSGEN_SCHEDULE_AP_FIXED_BASE_H
#define HLSGEN_SCHEDULE_AP_FIXED_BASE_H

#include "ap_fixed_convert.h"

namespace ap_exact {

// What stands for an integer, or a place of bits, beside a fixed-point number.
template <class T, class = void> struct plain_fixed {};
template <class T>
struct plain_fixed<T, typename std::conditional<true, void, typename number_of<T>::type>::type> {
    typedef ap_fixed_base<number_of<T>::type::width, number_of<T>::type::width, number_of<T>::type::sign_flag> type;
};
template <int W, bool S> struct plain_fixed<ap_int_base<W, S>, void> { typedef ap_fixed_base<W, W, S> type; };
template <int W> struct plain_fixed<ap_int<W>, void> { typedef ap_fixed_base<W, W, true> type; };
template <int W> struct plain_fixed<ap_uint<W>, void> { typedef ap_fixed_base<W, W, false> type; };

// Types of results, as the vendor's.
template <int W1, int I1, bool S1, int W2, int I2, bool S2>
struct fixed_results {
    static constexpr bool either = S1 || S2;
    static constexpr int fraction1 = W1 - I1, fraction2 = W2 - I2;
    static constexpr int fraction = larger(fraction1, fraction2);
    static constexpr int integer = larger(I1 + (S2 && !S1), I2 + (S1 && !S2));
    static constexpr int common = larger(integer + fraction, 1);  // width that holds either operand
    static constexpr int quotient = S2 + W1 + larger(fraction2, 0);
    typedef fixed_of_t<W1 + W2, I1 + I2, either> mult;
    typedef fixed_of_t<integer + fraction + 1, integer + 1, either> plus;
    typedef fixed_of_t<integer + fraction + 1, integer + 1, true> minus;
    typedef fixed_of_t<integer + fraction, integer, either> logic;
    typedef fixed_of_t<quotient, S2 + I1 + fraction2, either> div;
};

template <class T> struct is_half : std::is_same<T, half> {};

}  // namespace ap_exact

template <int W, int I, bool S, ap_q_mode Q, ap_o_mode O, int N>
struct ap_fixed_base {
    typedef ap_exact::bits_t<W, S> bits_type;
    typedef ap_exact::value_t<W, S> value_type;
    typedef ap_exact::ubits_t<W> unsigned_type;
    typedef typename std::conditional<S, ap_fixed<W, I, Q, O, N>, ap_ufixed<W, I, Q, O, N>>::type self_type;
    static constexpr int width = W;
    static constexpr long exact_bits = W;
    static constexpr int iwidth = I;
    static constexpr int fraction = W - I;
    static constexpr ap_q_mode qmode = Q;
    static constexpr ap_o_mode omode = O;
    static constexpr bool sign_flag = S;
    template <int W2, int I2, bool S2> using RType = ap_exact::fixed_results<W, I, S, W2, I2, S2>;

    bits_type V;

    ap_fixed_base() = default;
    template <int W2, int I2, bool S2, ap_q_mode Q2, ap_o_mode O2, int N2>
    AP_INLINE constexpr ap_fixed_base(const ap_fixed_base<W2, I2, S2, Q2, O2, N2>& x)
        : V(ap_exact::converted<W, S, Q, O, W2, S2, W2 - I2 - fraction>(x.get_value())) {}
    template <int W2, bool S2>
    AP_INLINE constexpr ap_fixed_base(const ap_int_base<W2, S2>& x)
        : V(ap_exact::converted<W, S, Q, O, W2, S2, -fraction>(x.get_value())) {}
    template <class T, class B = typename ap_exact::number_of<T>::type>
    AP_INLINE constexpr ap_fixed_base(const T& x) : ap_fixed_base(B(x)) {}
    AP_INLINE constexpr ap_fixed_base(double x) : V(ap_exact::converted_parts<W, S, Q, O, fraction>(ap_exact::double_parts(x))) {}
    AP_INLINE constexpr ap_fixed_base(float x) : V(ap_exact::converted_parts<W, S, Q, O, fraction>(ap_exact::single_parts(x))) {}
    AP_INLINE constexpr ap_fixed_base(half x) : V(ap_exact::converted_parts<W, S, Q, O, fraction>(ap_exact::half_parts(x))) {}
    AP_INLINE ap_fixed_base(const char* text) : ap_fixed_base(atof(text)) {}

    AP_INLINE value_type read_value() const volatile { return ap_exact::value<W, S>(V); }
    AP_INLINE constexpr value_type get_value() const { return ap_exact::value<W, S>(V); }
    AP_INLINE constexpr unsigned_type get_bits() const { return static_cast<unsigned_type>(V); }
    AP_INLINE constexpr ap_fixed_base& setBits(ap_ulong bits) {
        V = ap_exact::wrap<W, S>(bits);
        return *this;
    }
    static AP_INLINE constexpr ap_fixed_base bitsToFixed(ap_ulong bits) { return ap_exact::made<self_type>(bits); }

    // The value without its fraction, rounded towards zero.
    AP_INLINE constexpr ap_int_base<ap_exact::larger(I, 1), S> to_ap_int_base(bool = true) const {
        constexpr int wide = ap_exact::larger(I, 1);
        ap_int_base<wide, S> whole(0);
        if constexpr (I > 0 && fraction <= 0) {
            whole.V = ap_exact::wrap<wide, S>(static_cast<ap_exact::ubits_t<wide>>(get_value()) << -fraction);
        } else if constexpr (I > 0) {
            whole.V = ap_exact::wrap<wide, S>(get_value() >> fraction);
            if constexpr (S) {
                const bool part = static_cast<ap_exact::ubits_t<fraction>>(V) != 0;
                whole += ap_int_base<1, false>(get_value() < 0 && part);
            }
        }
        return whole;
    }
    template <int W2, bool S2>
    AP_INLINE constexpr operator ap_int_base<W2, S2>() const { return ap_int_base<W2, S2>(to_ap_int_base()); }
    AP_INLINE constexpr char to_char() const { return to_ap_int_base().to_char(); }
    AP_INLINE constexpr int to_int() const { return to_ap_int_base().to_int(); }
    AP_INLINE constexpr unsigned to_uint() const { return to_ap_int_base().to_uint(); }
    AP_INLINE constexpr long to_long() const { return to_ap_int_base().to_long(); }
    AP_INLINE constexpr unsigned long to_ulong() const { return to_ap_int_base().to_ulong(); }
    AP_INLINE constexpr ap_slong to_int64() const { return to_ap_int_base().to_int64(); }
    AP_INLINE constexpr ap_ulong to_uint64() const { return to_ap_int_base().to_uint64(); }
    AP_INLINE constexpr double to_double() const { return ap_exact::floating<double, unsigned long long, 52, 11, W, I, S>(get_value()); }
    AP_INLINE constexpr float to_float() const { return ap_exact::floating<float, unsigned, 23, 8, W, I, S>(get_value()); }
    AP_INLINE constexpr half to_half() const { return ap_exact::floating<half, unsigned short, 10, 5, W, I, S>(get_value()); }
    template <class T, typename std::enable_if<std::is_arithmetic<T>::value || ap_exact::is_half<T>::value, int>::type = 0>
    AP_INLINE constexpr operator T() const {
        if constexpr (std::is_same<T, bool>::value) return V != 0;
        else if constexpr (std::is_same<T, float>::value) return to_float();
        else if constexpr (ap_exact::is_half<T>::value) return to_half();
        else if constexpr (std::is_floating_point<T>::value) return to_double();
        else if constexpr (sizeof(T) <= 4) return static_cast<T>(std::is_signed<T>::value ? to_int() : static_cast<int>(to_uint()));
        else return static_cast<T>(to_int64());
    }

    AP_INLINE constexpr int length() const { return W; }
    AP_INLINE constexpr int wl() const { return W; }
    AP_INLINE constexpr int iwl() const { return I; }
    AP_INLINE constexpr ap_q_mode q_mode() const { return Q; }
    AP_INLINE constexpr ap_o_mode o_mode() const { return O; }
    AP_INLINE constexpr bool is_zero() const { return V == 0; }
    AP_INLINE constexpr bool is_neg() const { return S && get_value() < 0; }
    AP_INLINE constexpr int countLeadingZeros() const { return __builtin_clzg(get_bits(), W); }
    const char* to_string(signed char = 2, bool = false) const { return ""; }

    // ---- bits: those of the whole number, the lowest is 0 ---------------------------------------------------
    typedef ap_range_ref<W, S> range_type;
    typedef ap_bit_ref<W, S> bit_type;
    template <class H, class L>
    AP_INLINE range_type range(const H& hi, const L& lo) const {
        return range_type(const_cast<bits_type&>(V), ap_exact::index(hi), ap_exact::index(lo));
    }
    AP_INLINE range_type range() const { return range(W - 1, 0); }
    template <class H, class L>
    AP_INLINE range_type operator()(const H& hi, const L& lo) const { return range(hi, lo); }
    template <class T>
    AP_INLINE bit_type operator[](const T& i) { return bit_type(V, ap_exact::index(i)); }
    template <class T>
    AP_INLINE bool operator[](const T& i) const { return ap_exact::get_bit<W, S>(V, ap_exact::index(i)); }
    template <class T>
    AP_INLINE bit_type bit(const T& i) { return bit_type(V, ap_exact::index(i)); }
    template <class T>
    AP_INLINE bool bit(const T& i) const { return ap_exact::get_bit<W, S>(V, ap_exact::index(i)); }
    // by weight: bit 0 is the one of value 1
    template <class T>
    AP_INLINE bool get_bit(const T& i) const { return ap_exact::get_bit<W, S>(V, ap_exact::index(i) + fraction); }

    // ---- operators on one number ------------------------------------------------------------------------
    AP_INLINE constexpr bool operator!() const { return V == 0; }
    AP_INLINE constexpr self_type operator+() const { return ap_exact::made<self_type>(V); }
    AP_INLINE constexpr ap_fixed<W + 1, I + 1> operator-() const {
        return ap_exact::made<ap_fixed<W + 1, I + 1>>(-static_cast<ap_exact::value_t<W + 1, true>>(get_value()));
    }
    AP_INLINE constexpr ap_fixed_base<W, I, true, Q, O, N> getNeg() const {
        return ap_exact::made<ap_fixed<W, I, Q, O, N>>(0 - get_bits());
    }
    AP_INLINE constexpr ap_exact::fixed_of_t<W, I, S> operator~() const {
        return ap_exact::made<ap_exact::fixed_of_t<W, I, S>>(~get_bits());
    }
    AP_INLINE constexpr ap_fixed_base& operator++() { return *this += ap_fixed_base<ap_exact::larger(fraction, 0) + 1, 1, false>(1); }
    AP_INLINE constexpr ap_fixed_base& operator--() { return *this -= ap_fixed_base<ap_exact::larger(fraction, 0) + 1, 1, false>(1); }
    AP_INLINE constexpr self_type operator++(int) {
        const self_type before = ap_exact::made<self_type>(V);
        ++*this;
        return before;
    }
    AP_INLINE constexpr self_type operator--(int) {
        const self_type before = ap_exact::made<self_type>(V);
        --*this;
        return before;
    }

    // Shifts of the bits: the type stays, no mode applies, a negative count shifts the other way.
    template <class C>
    AP_INLINE constexpr self_type shifted(C left) const {
        if (left < 0) return ap_exact::made<self_type>(ap_exact::shifted_right(get_value(), ap_exact::size_of(left), W));
        return ap_exact::made<self_type>(ap_exact::shifted_left(get_bits(), ap_exact::size_of(left), W));
    }
    template <class C>
    AP_INLINE constexpr self_type shifted_down(C right) const {
        if (right < 0) return ap_exact::made<self_type>(ap_exact::shifted_left(get_bits(), ap_exact::size_of(right), W));
        return ap_exact::made<self_type>(ap_exact::shifted_right(get_value(), ap_exact::size_of(right), W));
    }
    template <int By>
    AP_INLINE constexpr ap_exact::fixed_of_t<W, I + By, S> lshift() const { return ap_exact::made<ap_exact::fixed_of_t<W, I + By, S>>(V); }
    template <int By>
    AP_INLINE constexpr ap_exact::fixed_of_t<W, I - By, S> rshift() const { return ap_exact::made<ap_exact::fixed_of_t<W, I - By, S>>(V); }

#define AP_ASSIGN(op)                                                                                          \
    template <class T>                                                                                         \
    AP_INLINE constexpr auto operator op##=(const T& x)->decltype(void(*this op x), *this) {                   \
        V = ap_fixed_base(*this op x).V;                                                                       \
        return *this;                                                                                          \
    }
    AP_ASSIGN(+)
    AP_ASSIGN(-)
    AP_ASSIGN(*)
    AP_ASSIGN(/)
    AP_ASSIGN(&)
    AP_ASSIGN(|)
    AP_ASSIGN(^)
    AP_ASSIGN(<<)
    AP_ASSIGN(>>)
#undef AP_ASSIGN
};

#endif
