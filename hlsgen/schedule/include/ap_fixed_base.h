// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// ap_fixed_base<W, I, S, Q, O>: the numbers that ap_fixed and ap_ufixed are. N, the saturated bits of wrapping, is
// taken as 0.
#ifndef HLSGEN_SCHEDULE_AP_FIXED_BASE_H
#define HLSGEN_SCHEDULE_AP_FIXED_BASE_H

#include <stdlib.h>

#include "ap_fixed_convert.h"

namespace ap_exact {

// What stands for an integer, or a place of bits, beside a fixed-point number.
template <class T_, class = void> struct plain_fixed {};
template <class T_>
struct plain_fixed<T_, typename std::conditional<true, void, typename number_of<T_>::type>::type> {
    typedef ap_fixed_base<number_of<T_>::type::width, number_of<T_>::type::width, number_of<T_>::type::sign_flag> type;
};
template <int W_, bool S_> struct plain_fixed<ap_int_base<W_, S_>, void> { typedef ap_fixed_base<W_, W_, S_> type; };
template <int W_> struct plain_fixed<ap_int<W_>, void> { typedef ap_fixed_base<W_, W_, true> type; };
template <int W_> struct plain_fixed<ap_uint<W_>, void> { typedef ap_fixed_base<W_, W_, false> type; };

// Types of results, as the vendor's.
template <int W1_, int I1_, bool S1_, int W2_, int I2_, bool S2_>
struct fixed_results {
    static constexpr bool either = S1_ || S2_;
    static constexpr int fraction1 = W1_ - I1_, fraction2 = W2_ - I2_;
    static constexpr int fraction = larger(fraction1, fraction2);
    static constexpr int integer = larger(I1_ + (S2_ && !S1_), I2_ + (S1_ && !S2_));
    static constexpr int common = larger(integer + fraction, 1);  // width that holds either operand
    static constexpr int quotient = S2_ + W1_ + larger(fraction2, 0);
    typedef fixed_of_t<W1_ + W2_, I1_ + I2_, either> mult;
    typedef fixed_of_t<integer + fraction + 1, integer + 1, either> plus;
    typedef fixed_of_t<integer + fraction + 1, integer + 1, true> minus;
    typedef fixed_of_t<integer + fraction, integer, either> logic;
    typedef fixed_of_t<quotient, S2_ + I1_ + fraction2, either> div;
};

template <class T_> struct is_half : std::is_same<T_, half> {};

}  // namespace ap_exact

template <int W_, int I_, bool S_, ap_q_mode Q_, ap_o_mode O_, int N_>
struct ap_fixed_base {
    typedef ap_exact::bits_t<W_, S_> bits_type;
    typedef ap_exact::value_t<W_, S_> value_type;
    typedef ap_exact::ubits_t<W_> unsigned_type;
    typedef typename std::conditional<S_, ap_fixed<W_, I_, Q_, O_, N_>, ap_ufixed<W_, I_, Q_, O_, N_>>::type self_type;
    static constexpr int width = W_;
    static constexpr long exact_bits = W_;
    static constexpr int iwidth = I_;
    static constexpr int fraction = W_ - I_;
    static constexpr ap_q_mode qmode = Q_;
    static constexpr ap_o_mode omode = O_;
    static constexpr bool sign_flag = S_;
    template <int W2_, int I2_, bool S2_> using RType = ap_exact::fixed_results<W_, I_, S_, W2_, I2_, S2_>;

    bits_type V;

    ap_fixed_base() = default;
    template <int W2_, int I2_, bool S2_, ap_q_mode Q2_, ap_o_mode O2_, int N2_>
    AP_INLINE constexpr ap_fixed_base(const ap_fixed_base<W2_, I2_, S2_, Q2_, O2_, N2_>& x)
        : V(ap_exact::converted<W_, S_, Q_, O_, W2_, S2_, W2_ - I2_ - fraction>(x.get_value())) {}
    template <int W2_, bool S2_>
    AP_INLINE constexpr ap_fixed_base(const ap_int_base<W2_, S2_>& x)
        : V(ap_exact::converted<W_, S_, Q_, O_, W2_, S2_, -fraction>(x.get_value())) {}
    template <class T_, class B_ = typename ap_exact::number_of<T_>::type>
    AP_INLINE constexpr ap_fixed_base(const T_& x) : ap_fixed_base(B_(x)) {}
    AP_INLINE constexpr ap_fixed_base(double x) : V(ap_exact::converted_floating<W_, S_, Q_, O_, fraction>(x)) {}
    AP_INLINE constexpr ap_fixed_base(float x) : V(ap_exact::converted_floating<W_, S_, Q_, O_, fraction>(x)) {}
    AP_INLINE constexpr ap_fixed_base(half x) : V(ap_exact::converted_floating<W_, S_, Q_, O_, fraction>(x)) {}
    AP_INLINE ap_fixed_base(const char* text) : ap_fixed_base(atof(text)) {}

    AP_INLINE value_type read_value() const volatile { return ap_exact::value<W_, S_>(V); }
    AP_INLINE constexpr value_type get_value() const { return ap_exact::value<W_, S_>(V); }
    AP_INLINE constexpr unsigned_type get_bits() const { return static_cast<unsigned_type>(V); }
    AP_INLINE constexpr ap_fixed_base& setBits(ap_ulong bits) {
        V = ap_exact::wrap<W_, S_>(bits);
        return *this;
    }
    static AP_INLINE constexpr ap_fixed_base bitsToFixed(ap_ulong bits) { return ap_exact::made<self_type>(bits); }

    // The value without its fraction, rounded towards zero.
    AP_INLINE constexpr ap_int_base<ap_exact::larger(I_, 1), S_> to_ap_int_base(bool = true) const {
        constexpr int wide = ap_exact::larger(I_, 1);
        ap_int_base<wide, S_> whole(0);
        if constexpr (I_ > 0 && fraction <= 0) {
            whole.V = ap_exact::wrap<wide, S_>(static_cast<ap_exact::ubits_t<wide>>(get_value()) << -fraction);
        } else if constexpr (I_ > 0) {
            whole.V = ap_exact::wrap<wide, S_>(get_value() >> fraction);
            if constexpr (S_) {
                const bool part = static_cast<ap_exact::ubits_t<fraction>>(V) != 0;
                whole += ap_int_base<1, false>(get_value() < 0 && part);
            }
        }
        return whole;
    }
    template <int W2_, bool S2_>
    AP_INLINE constexpr operator ap_int_base<W2_, S2_>() const { return ap_int_base<W2_, S2_>(to_ap_int_base()); }
    AP_INLINE constexpr char to_char() const { return to_ap_int_base().to_char(); }
    AP_INLINE constexpr int to_int() const { return to_ap_int_base().to_int(); }
    AP_INLINE constexpr unsigned to_uint() const { return to_ap_int_base().to_uint(); }
    AP_INLINE constexpr long to_long() const { return to_ap_int_base().to_long(); }
    AP_INLINE constexpr unsigned long to_ulong() const { return to_ap_int_base().to_ulong(); }
    AP_INLINE constexpr ap_slong to_int64() const { return to_ap_int_base().to_int64(); }
    AP_INLINE constexpr ap_ulong to_uint64() const { return to_ap_int_base().to_uint64(); }
    AP_INLINE constexpr double to_double() const { return ap_exact::floating<double, unsigned long long, 52, 11, W_, I_, S_>(get_value()); }
    AP_INLINE constexpr float to_float() const { return ap_exact::floating<float, unsigned, 23, 8, W_, I_, S_>(get_value()); }
    AP_INLINE constexpr half to_half() const { return ap_exact::floating<half, unsigned short, 10, 5, W_, I_, S_>(get_value()); }
    template <class T_, typename std::enable_if<std::is_arithmetic<T_>::value || ap_exact::is_half<T_>::value, int>::type = 0>
    AP_INLINE constexpr operator T_() const {
        if constexpr (std::is_same<T_, bool>::value) return V != 0;
        else if constexpr (std::is_same<T_, float>::value) return to_float();
        else if constexpr (ap_exact::is_half<T_>::value) return to_half();
        else if constexpr (std::is_floating_point<T_>::value) return to_double();
        else if constexpr (sizeof(T_) <= 4) return static_cast<T_>(std::is_signed<T_>::value ? to_int() : static_cast<int>(to_uint()));
        else return static_cast<T_>(to_int64());
    }

    AP_INLINE constexpr int length() const { return W_; }
    AP_INLINE constexpr int wl() const { return W_; }
    AP_INLINE constexpr int iwl() const { return I_; }
    AP_INLINE constexpr ap_q_mode q_mode() const { return Q_; }
    AP_INLINE constexpr ap_o_mode o_mode() const { return O_; }
    AP_INLINE constexpr bool is_zero() const { return V == 0; }
    AP_INLINE constexpr bool is_neg() const { return S_ && get_value() < 0; }
    AP_INLINE constexpr int countLeadingZeros() const { return __builtin_clzg(get_bits(), W_); }
    const char* to_string(signed char = 2, bool = false) const { return ""; }

    // ---- bits: those of the whole number, the lowest is 0 ---------------------------------------------------
    typedef ap_range_ref<W_, S_> range_type;
    typedef ap_bit_ref<W_, S_> bit_type;
    template <class H_, class L_>
    AP_INLINE range_type range(const H_& hi, const L_& lo) const {
        return range_type(const_cast<bits_type&>(V), ap_exact::index(hi), ap_exact::index(lo));
    }
    AP_INLINE range_type range() const { return range(W_ - 1, 0); }
    template <class H_, class L_>
    AP_INLINE range_type operator()(const H_& hi, const L_& lo) const { return range(hi, lo); }
    template <class T_>
    AP_INLINE bit_type operator[](const T_& i) { return bit_type(V, ap_exact::index(i)); }
    template <class T_>
    AP_INLINE bool operator[](const T_& i) const { return ap_exact::get_bit<W_, S_>(V, ap_exact::index(i)); }
    template <class T_>
    AP_INLINE bit_type bit(const T_& i) { return bit_type(V, ap_exact::index(i)); }
    template <class T_>
    AP_INLINE bool bit(const T_& i) const { return ap_exact::get_bit<W_, S_>(V, ap_exact::index(i)); }
    // by weight: bit 0 is the one of value 1
    template <class T_>
    AP_INLINE bool get_bit(const T_& i) const { return ap_exact::get_bit<W_, S_>(V, ap_exact::index(i) + fraction); }

    // ---- operators on one number ------------------------------------------------------------------------
    AP_INLINE constexpr bool operator!() const { return V == 0; }
    AP_INLINE constexpr self_type operator+() const { return ap_exact::made<self_type>(V); }
    AP_INLINE constexpr ap_fixed<W_ + 1, I_ + 1> operator-() const {
        return ap_exact::made<ap_fixed<W_ + 1, I_ + 1>>(-static_cast<ap_exact::value_t<W_ + 1, true>>(get_value()));
    }
    AP_INLINE constexpr ap_fixed_base<W_, I_, true, Q_, O_, N_> getNeg() const {
        return ap_exact::made<ap_fixed<W_, I_, Q_, O_, N_>>(0 - get_bits());
    }
    AP_INLINE constexpr ap_exact::fixed_of_t<W_, I_, S_> operator~() const {
        return ap_exact::made<ap_exact::fixed_of_t<W_, I_, S_>>(~get_bits());
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
    template <class C_>
    AP_INLINE constexpr self_type shifted(C_ left) const {
        return ap_exact::made<self_type>(ap_exact::shifted_either<W_, S_>(V, left < 0, ap_exact::size_of(left)));
    }
    template <class C_>
    AP_INLINE constexpr self_type shifted_down(C_ right) const {
        return ap_exact::made<self_type>(ap_exact::shifted_either<W_, S_>(V, right >= 0, ap_exact::size_of(right)));
    }
    template <int By_>
    AP_INLINE constexpr ap_exact::fixed_of_t<W_, I_ + By_, S_> lshift() const { return ap_exact::made<ap_exact::fixed_of_t<W_, I_ + By_, S_>>(V); }
    template <int By_>
    AP_INLINE constexpr ap_exact::fixed_of_t<W_, I_ - By_, S_> rshift() const { return ap_exact::made<ap_exact::fixed_of_t<W_, I_ - By_, S_>>(V); }

#define AP_ASSIGN(op)                                                                                          \
    template <class T_>                                                                                         \
    AP_INLINE constexpr auto operator op##=(const T_& x)->decltype(void(*this op x), *this) {                   \
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
