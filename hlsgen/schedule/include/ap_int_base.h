// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// ap_int_base<W, S>: the numbers that ap_int and ap_uint are. Their ranges and bits stand in ap_int_ref.h.
#ifndef HLSGEN_SCHEDULE_AP_INT_BASE_H
#define HLSGEN_SCHEDULE_AP_INT_BASE_H

#include "ap_common.h"

template <int W_, bool S_> struct ap_range_ref;
template <int W_, bool S_> struct ap_bit_ref;
template <int W1_, class T1_, int W2_, class T2_> struct ap_concat_ref;

namespace ap_exact {

// Widths of results: the exact ones of the vendor's types.
template <int W1_, bool S1_, int W2_, bool S2_>
struct results {
    static constexpr bool either = S1_ || S2_;
    static constexpr int both = larger(W1_ + (S2_ && !S1_), W2_ + (S1_ && !S2_));  // holds either operand
    static constexpr int quotient = W1_ + S2_;
    static constexpr int remainder = smaller(W1_, W2_ + (!S2_ && S1_));
    typedef int_of_t<W1_ + W2_, either> mult;
    typedef int_of_t<both + 1, either> plus;
    typedef int_of_t<both + 1, true> minus;
    typedef int_of_t<both, either> logic;
    typedef int_of_t<quotient, either> div;
    typedef int_of_t<remainder, S1_> mod;
};

// An ap_ number that is made of computed bits.
template <class R_, class T_>
AP_INLINE constexpr R_ made(T_ x) {
    R_ result;
    result.V = wrap<R_::width, R_::sign_flag>(x);
    return result;
}

// The integer part of a floating-point number, rounded towards zero, modulo 2**W.
template <int W_, class P_>
AP_INLINE constexpr ubits_t<W_> truncated(const P_& parts) {
    constexpr int wide = larger(W_, P_::fraction + 1);
    const int right = P_::fraction - parts.exponent;
    ubits_t<wide> size = parts.size;
    size = right > 0 ? shifted_right(size, right, wide) : shifted_left(size, -right, wide);
    const ubits_t<W_> whole = static_cast<ubits_t<W_>>(size);
    return parts.negative ? static_cast<ubits_t<W_>>(0 - whole) : whole;
}

}  // namespace ap_exact

template <int W_, bool S_>
struct ap_int_base {
    typedef ap_exact::bits_t<W_, S_> bits_type;
    typedef ap_exact::value_t<W_, S_> value_type;
    typedef ap_exact::ubits_t<W_> unsigned_type;
    typedef ap_exact::int_of_t<W_, S_> self_type;
    typedef typename std::conditional<S_, ap_slong, ap_ulong>::type RetType;
    static constexpr int width = W_;
    static constexpr long exact_bits = W_;
    static constexpr bool sign_flag = S_;
    template <int W2_, bool S2_> using RType = ap_exact::results<W_, S_, W2_, S2_>;

    bits_type V;

    ap_int_base() = default;
    template <int W2_, bool S2_>
    AP_INLINE constexpr ap_int_base(const ap_int_base<W2_, S2_>& x) : V(ap_exact::wrap<W_, S_>(x.get_value())) {}
    template <class T_, typename std::enable_if<std::is_integral<T_>::value || std::is_enum<T_>::value, int>::type = 0>
    AP_INLINE constexpr ap_int_base(T_ x) : V(ap_exact::wrap<W_, S_>(x)) {}
    template <class P_, class = typename ap_exact::place<P_>::type, class = void>
    AP_INLINE constexpr ap_int_base(const P_& bits) : V(ap_exact::wrap<W_, S_>(bits.get().V)) {}
    template <int W2_, int I2_, bool S2_, ap_q_mode Q_, ap_o_mode O_, int N_>
    AP_INLINE constexpr ap_int_base(const ap_fixed_base<W2_, I2_, S2_, Q_, O_, N_>& x)
        : V(ap_exact::wrap<W_, S_>(x.to_ap_int_base().get_value())) {}
    AP_INLINE constexpr ap_int_base(double x) : V(ap_exact::wrap<W_, S_>(ap_exact::truncated<W_>(ap_exact::double_parts(x)))) {}
    AP_INLINE constexpr ap_int_base(float x) : V(ap_exact::wrap<W_, S_>(ap_exact::truncated<W_>(ap_exact::single_parts(x)))) {}
    AP_INLINE constexpr ap_int_base(half x) : V(ap_exact::wrap<W_, S_>(ap_exact::truncated<W_>(ap_exact::half_parts(x)))) {}
    AP_INLINE constexpr ap_int_base(const char* digits, signed char radix = 0)
        : V(ap_exact::wrap<W_, S_>(ap_exact::parsed<W_>(digits, radix))) {}

    // Registers that others may change: read and written as a whole.
    AP_INLINE value_type read_value() const volatile { return ap_exact::value<W_, S_>(V); }
    template <int W2_, bool S2_>
    AP_INLINE void operator=(const ap_int_base<W2_, S2_>& x) volatile { V = ap_exact::wrap<W_, S_>(x.get_value()); }
    template <int W2_, bool S2_>
    AP_INLINE void operator=(const volatile ap_int_base<W2_, S2_>& x) volatile { V = ap_exact::wrap<W_, S_>(x.read_value()); }
    AP_INLINE self_type read() volatile { return ap_exact::made<self_type>(read_value()); }
    AP_INLINE void write(const ap_int_base& x) volatile { V = x.V; }

    AP_INLINE constexpr value_type get_value() const { return ap_exact::value<W_, S_>(V); }
    AP_INLINE constexpr unsigned_type get_bits() const { return static_cast<unsigned_type>(V); }
    AP_INLINE constexpr ap_int_base& get() { return *this; }
    AP_INLINE constexpr const ap_int_base& get() const { return *this; }

    AP_INLINE constexpr operator RetType() const { return static_cast<RetType>(get_value()); }
    AP_INLINE operator RetType() const volatile { return static_cast<RetType>(read_value()); }
    AP_INLINE constexpr bool to_bool() const { return V != 0; }
    AP_INLINE constexpr char to_char() const { return static_cast<char>(get_value()); }
    AP_INLINE constexpr signed char to_schar() const { return static_cast<signed char>(get_value()); }
    AP_INLINE constexpr unsigned char to_uchar() const { return static_cast<unsigned char>(get_value()); }
    AP_INLINE constexpr short to_short() const { return static_cast<short>(get_value()); }
    AP_INLINE constexpr unsigned short to_ushort() const { return static_cast<unsigned short>(get_value()); }
    AP_INLINE constexpr int to_int() const { return static_cast<int>(get_value()); }
    AP_INLINE constexpr unsigned to_uint() const { return static_cast<unsigned>(get_value()); }
    AP_INLINE constexpr long to_long() const { return static_cast<long>(get_value()); }
    AP_INLINE constexpr unsigned long to_ulong() const { return static_cast<unsigned long>(get_value()); }
    AP_INLINE constexpr ap_slong to_int64() const { return static_cast<ap_slong>(get_value()); }
    AP_INLINE constexpr ap_ulong to_uint64() const { return static_cast<ap_ulong>(get_value()); }
    AP_INLINE constexpr float to_float() const { return static_cast<float>(get_value()); }
    AP_INLINE constexpr double to_double() const { return static_cast<double>(get_value()); }
    half to_half() const { return static_cast<half>(get_value()); }

    AP_INLINE constexpr int length() const volatile { return W_; }
    AP_INLINE constexpr bool iszero() const { return V == 0; }
    AP_INLINE constexpr bool is_zero() const { return V == 0; }
    AP_INLINE constexpr bool sign() const { return S_ && get_value() < 0; }

    // ---- bits -------------------------------------------------------------------------------------------
    template <class B_> AP_INLINE constexpr auto concat(const B_& low) const { return (*this, low); }
    AP_INLINE constexpr bool get_bit(int i) const { return ap_exact::get_bit<W_, S_>(V, i); }
    AP_INLINE constexpr void set_bit(int i, bool x) { ap_exact::set_bit<W_, S_>(V, i, x); }
    AP_INLINE constexpr bool test(int i) const { return get_bit(i); }
    AP_INLINE constexpr void set(int i) { set_bit(i, true); }
    AP_INLINE constexpr void set(int i, bool x) { set_bit(i, x); }
    template <int W2_>
    AP_INLINE constexpr void set(const ap_int_base<W2_, false>& x) { V = ap_exact::wrap<W_, S_>(x.V); }
    AP_INLINE constexpr void clear(int i) { set_bit(i, false); }
    AP_INLINE constexpr void invert(int i) { V = ap_exact::wrap<W_, S_>(get_bits() ^ (static_cast<unsigned_type>(1) << i)); }
    AP_INLINE constexpr void b_not() { V = ap_exact::wrap<W_, S_>(~get_bits()); }
    AP_INLINE constexpr ap_int_base& reverse() {
        V = ap_exact::wrap<W_, S_>(ap_exact::mirrored<W_>(get_bits()));
        return *this;
    }
    AP_INLINE constexpr ap_int_base& lrotate(int n) {
        V = ap_exact::wrap<W_, S_>(ap_exact::shifted_left(get_bits(), n, W_) | ap_exact::shifted_right(get_bits(), W_ - n, W_));
        return *this;
    }
    AP_INLINE constexpr ap_int_base& rrotate(int n) {
        V = ap_exact::wrap<W_, S_>(ap_exact::shifted_right(get_bits(), n, W_) | ap_exact::shifted_left(get_bits(), W_ - n, W_));
        return *this;
    }
    AP_INLINE constexpr bool and_reduce() const { return static_cast<unsigned_type>(~get_bits()) == 0; }
    AP_INLINE constexpr bool nand_reduce() const { return !and_reduce(); }
    AP_INLINE constexpr bool or_reduce() const { return V != 0; }
    AP_INLINE constexpr bool nor_reduce() const { return V == 0; }
    AP_INLINE constexpr bool xor_reduce() const { return (__builtin_popcountg(get_bits()) & 1) != 0; }
    AP_INLINE constexpr bool xnor_reduce() const { return !xor_reduce(); }
    AP_INLINE constexpr int countLeadingZeros() const { return __builtin_clzg(get_bits(), W_); }

    typedef ap_range_ref<W_, S_> range_type;
    typedef ap_bit_ref<W_, S_> bit_type;
    template <class H_, class L_>
    AP_INLINE range_type range(const H_& hi, const L_& lo) const {
        return range_type(const_cast<bits_type&>(V), ap_exact::index(hi), ap_exact::index(lo));
    }
    AP_INLINE range_type range() const { return range_type(const_cast<bits_type&>(V), W_ - 1, 0); }
    template <class H_, class L_>
    AP_INLINE range_type operator()(const H_& hi, const L_& lo) const { return range(hi, lo); }
    template <class T_>
    AP_INLINE bit_type operator[](const T_& i) { return bit_type(V, ap_exact::index(i)); }
    template <class T_>
    AP_INLINE bool operator[](const T_& i) const { return get_bit(ap_exact::index(i)); }
    template <class T_>
    AP_INLINE bit_type bit(const T_& i) { return bit_type(V, ap_exact::index(i)); }
    template <class T_>
    AP_INLINE bool bit(const T_& i) const { return get_bit(ap_exact::index(i)); }

    // ---- operators on one number ------------------------------------------------------------------------
    AP_INLINE constexpr bool operator!() const { return V == 0; }
    AP_INLINE constexpr self_type operator+() const { return ap_exact::made<self_type>(V); }
    AP_INLINE constexpr self_type operator~() const { return ap_exact::made<self_type>(~get_bits()); }
    AP_INLINE constexpr ap_int<ap_exact::larger(W_, 1 + S_) + 1> operator-() const {
        constexpr int wide = ap_exact::larger(W_, 1 + S_) + 1;
        return ap_exact::made<ap_int<wide>>(-static_cast<ap_exact::value_t<wide, true>>(get_value()));
    }
    AP_INLINE constexpr ap_int_base& operator++() { return *this += ap_int_base<1, false>(1); }
    AP_INLINE constexpr ap_int_base& operator--() { return *this -= ap_int_base<1, false>(1); }
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

    // ---- shifts: the type stays, a negative count shifts the other way ------------------------------------
    template <class C_>
    AP_INLINE constexpr self_type shifted(C_ left) const {
        return ap_exact::made<self_type>(ap_exact::shifted_either<W_, S_>(V, left < 0, ap_exact::size_of(left)));
    }
    template <class C_>
    AP_INLINE constexpr self_type shifted_down(C_ right) const {
        return ap_exact::made<self_type>(ap_exact::shifted_either<W_, S_>(V, right >= 0, ap_exact::size_of(right)));
    }

    // ---- operators that assign: the low W bits depend on the low W bits of the operands -------------------
#define AP_ASSIGN(op)                                                                                          \
    template <int W2_, bool S2_>                                                                                 \
    AP_INLINE constexpr ap_int_base& operator op##=(const ap_int_base<W2_, S2_>& x) {                            \
        V = ap_exact::wrap<W_, S_>(get_bits() op static_cast<unsigned_type>(x.get_value()));                     \
        return *this;                                                                                          \
    }
    AP_ASSIGN(+)
    AP_ASSIGN(-)
    AP_ASSIGN(*)
    AP_ASSIGN(&)
    AP_ASSIGN(|)
    AP_ASSIGN(^)
#undef AP_ASSIGN
    template <int W2_, bool S2_>
    AP_INLINE constexpr ap_int_base& operator/=(const ap_int_base<W2_, S2_>& x) { return assign(*this / x); }
    template <int W2_, bool S2_>
    AP_INLINE constexpr ap_int_base& operator%=(const ap_int_base<W2_, S2_>& x) { return assign(*this % x); }
    template <class C_>
    AP_INLINE constexpr auto operator<<=(const C_& count) -> decltype(void(*this << count), *this) { return assign(*this << count); }
    template <class C_>
    AP_INLINE constexpr auto operator>>=(const C_& count) -> decltype(void(*this >> count), *this) { return assign(*this >> count); }

    template <int W2_, bool S2_>
    AP_INLINE constexpr ap_int_base& assign(const ap_int_base<W2_, S2_>& x) {
        V = ap_exact::wrap<W_, S_>(x.get_value());
        return *this;
    }

    // to look at in C-simulation only; hardware has no text
    const char* to_string(signed char = 2, bool = false) const { return ""; }
    const char* c_str() const { return ""; }
};

#endif
