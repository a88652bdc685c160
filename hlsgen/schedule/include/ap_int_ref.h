// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// Ranges, single bits and concatenations of ap_ numbers: they read as unsigned numbers, and can be assigned to.
//
// With constant bounds each is a shift and a truncation, or a mask. Bounds that are not constant cost what they cost
// in hardware. Reversed constant bounds mirror the bits.
#ifndef HLSGEN_SCHEDULE_AP_INT_REF_H
#define HLSGEN_SCHEDULE_AP_INT_REF_H

#include "ap_int_base.h"

namespace ap_exact {

// Bits hi..lo of a number of W bits, and the number with them replaced.
template <int W_>
AP_INLINE constexpr ubits_t<W_> get_range(ubits_t<W_> bits, int hi, int lo) {
    const bool reversed = hi < lo;
    const ubits_t<W_> ordered = reversed ? mirrored<W_>(bits) : bits;
    const int low = reversed ? W_ - 1 - lo : lo, last = reversed ? lo - hi : hi - lo;
    return static_cast<ubits_t<W_>>(ordered >> low) & static_cast<ubits_t<W_>>(static_cast<ubits_t<W_>>(-1) >> (W_ - 1 - last));
}
template <int W_>
AP_INLINE constexpr ubits_t<W_> set_range(ubits_t<W_> bits, int hi, int lo, ubits_t<W_> source) {
    const bool reversed = hi < lo;
    const int low = reversed ? hi : lo, last = reversed ? lo - hi : hi - lo;
    const ubits_t<W_> there = static_cast<ubits_t<W_>>(static_cast<ubits_t<W_>>(-1) >> (W_ - 1 - last));
    const ubits_t<W_> mask = static_cast<ubits_t<W_>>(there << low);
    const ubits_t<W_> ordered = reversed ? static_cast<ubits_t<W_>>(mirrored<W_>(source) >> (W_ - 1 - last)) : source;
    return static_cast<ubits_t<W_>>(bits & ~mask) | static_cast<ubits_t<W_>>(static_cast<ubits_t<W_>>(ordered & there) << low);
}

template <int W_, bool S_> struct place<ap_range_ref<W_, S_>> { typedef ap_int_base<W_, false> type; };
template <int W_, bool S_> struct place<ap_bit_ref<W_, S_>> { typedef ap_int_base<1, false> type; };
template <int W1_, class T1_, int W2_, class T2_>
struct place<ap_concat_ref<W1_, T1_, W2_, T2_>> { typedef ap_int_base<W1_ + W2_, false> type; };

// What places share: they read as numbers.
template <class P_>
struct reads {
    AP_INLINE constexpr const P_& self() const { return static_cast<const P_&>(*this); }
    AP_INLINE constexpr int to_int() const { return self().get().to_int(); }
    AP_INLINE constexpr unsigned to_uint() const { return self().get().to_uint(); }
    AP_INLINE constexpr long to_long() const { return self().get().to_long(); }
    AP_INLINE constexpr unsigned long to_ulong() const { return self().get().to_ulong(); }
    AP_INLINE constexpr ap_slong to_int64() const { return self().get().to_int64(); }
    AP_INLINE constexpr ap_ulong to_uint64() const { return self().get().to_uint64(); }
    AP_INLINE constexpr bool to_bool() const { return self().get().to_bool(); }
    AP_INLINE constexpr bool or_reduce() const { return self().get().or_reduce(); }
    AP_INLINE constexpr bool nor_reduce() const { return !or_reduce(); }
    AP_INLINE constexpr bool xor_reduce() const { return self().get().xor_reduce(); }
    AP_INLINE constexpr bool xnor_reduce() const { return !xor_reduce(); }
    AP_INLINE constexpr bool and_reduce() const { return self().get().and_reduce(self().length()); }
    AP_INLINE constexpr bool nand_reduce() const { return !and_reduce(); }
    const char* to_string(signed char = 2, bool = false) const { return ""; }
};

}  // namespace ap_exact

template <int W_, bool S_>
struct ap_range_ref : ap_exact::reads<ap_range_ref<W_, S_>> {
    typedef ap_exact::bits_t<W_, S_> bits_type;
    bits_type& bits;  // of an integer or of a number with a fraction
    int hi, lo;

    AP_INLINE constexpr ap_range_ref(bits_type& all, int h, int l) : bits(all), hi(h), lo(l) {}
    AP_INLINE constexpr ap_range_ref(const ap_range_ref& other) = default;
    AP_INLINE constexpr operator ap_int_base<W_, false>() const { return get(); }
    AP_INLINE constexpr operator ap_ulong() const { return get().to_uint64(); }

    AP_INLINE constexpr ap_int_base<W_, false> get() const { return ap_exact::get_range<W_>(static_cast<ap_exact::ubits_t<W_>>(bits), hi, lo); }
    AP_INLINE constexpr ap_int_base<W_, false> get_bits() const { return get(); }
    template <int W2_, bool S2_>
    AP_INLINE constexpr void set(const ap_int_base<W2_, S2_>& x) const {
        const ap_int_base<W_, false> source(x);
        bits = ap_exact::wrap<W_, S_>(ap_exact::set_range<W_>(static_cast<ap_exact::ubits_t<W_>>(bits), hi, lo, source.V));
    }
    AP_INLINE constexpr ap_range_ref& operator=(const ap_range_ref& x) {
        set(x.get());
        return *this;
    }
    template <class T_>
    AP_INLINE constexpr ap_range_ref& operator=(const T_& x) {
        set(ap_int_base<W_, false>(x));
        return *this;
    }
    AP_INLINE constexpr int length() const { return hi >= lo ? hi - lo + 1 : lo - hi + 1; }
    AP_INLINE constexpr bool and_reduce() const { return get().V == static_cast<ap_exact::ubits_t<W_>>(static_cast<ap_exact::ubits_t<W_>>(-1) >> (W_ - length())); }
};

template <int W_, bool S_>
struct ap_bit_ref : ap_exact::reads<ap_bit_ref<W_, S_>> {
    typedef ap_exact::bits_t<W_, S_> bits_type;
    bits_type& bits;
    int at;

    AP_INLINE constexpr ap_bit_ref(bits_type& all, int i = 0) : bits(all), at(i) {}
    AP_INLINE constexpr ap_bit_ref(const ap_bit_ref& other) = default;

    AP_INLINE constexpr operator bool() const { return ap_exact::get_bit<W_, S_>(bits, at); }
    AP_INLINE constexpr bool to_bool() const { return ap_exact::get_bit<W_, S_>(bits, at); }
    AP_INLINE constexpr ap_int_base<1, false> get() const { return ap_exact::get_bit<W_, S_>(bits, at); }
    template <int W2_, bool S2_>
    AP_INLINE constexpr void set(const ap_int_base<W2_, S2_>& x) const { ap_exact::set_bit<W_, S_>(bits, at, static_cast<ap_exact::ubits_t<1>>(x.V) != 0); }
    AP_INLINE constexpr ap_bit_ref& operator=(const ap_bit_ref& x) {
        ap_exact::set_bit<W_, S_>(bits, at, static_cast<bool>(x));
        return *this;
    }
    template <class T_>
    AP_INLINE constexpr ap_bit_ref& operator=(const T_& x) {
        ap_exact::set_bit<W_, S_>(bits, at, x != 0);
        return *this;
    }
    AP_INLINE constexpr int length() const { return 1; }
    AP_INLINE constexpr bool operator~() const { return !static_cast<bool>(*this); }
    AP_INLINE constexpr bool operator!() const { return !static_cast<bool>(*this); }
    AP_INLINE constexpr bool get_bit() const { return static_cast<bool>(*this); }
};

// `(left, right)`. T1, T2: a number by reference, or a place.
template <int W1_, class T1_, int W2_, class T2_>
struct ap_concat_ref : ap_exact::reads<ap_concat_ref<W1_, T1_, W2_, T2_>> {
    static constexpr int total = W1_ + W2_;
    T1_ left;
    T2_ right;

    AP_INLINE constexpr ap_concat_ref(T1_ l, T2_ r) : left(l), right(r) {}
    AP_INLINE constexpr ap_concat_ref(const ap_concat_ref& other) = default;
    AP_INLINE constexpr operator ap_int_base<total, false>() const { return get(); }
    AP_INLINE constexpr operator ap_ulong() const { return get().to_uint64(); }

    AP_INLINE constexpr ap_int_base<total, false> get() const {
        typedef ap_exact::ubits_t<total> U_;
        const ap_int_base<W1_, false> high(left);
        const ap_int_base<W2_, false> low(right);
        return static_cast<U_>(static_cast<U_>(high.V) << right.length()) | static_cast<U_>(low.V);
    }
    template <int W3_, bool S3_>
    AP_INLINE constexpr void set(const ap_int_base<W3_, S3_>& x) const {
        const ap_int_base<total, false> all(x);
        left.set(ap_int_base<W1_, false>(static_cast<ap_exact::ubits_t<W1_>>(all.V >> right.length())));
        right.set(ap_int_base<W2_, false>(static_cast<ap_exact::ubits_t<W2_>>(all.V)));
    }
    AP_INLINE constexpr ap_concat_ref& operator=(const ap_concat_ref& x) {
        set(x.get());
        return *this;
    }
    template <class T_>
    AP_INLINE constexpr ap_concat_ref& operator=(const T_& x) {
        set(ap_int_base<total, false>(x));
        return *this;
    }
    AP_INLINE constexpr int length() const { return left.length() + right.length(); }
};

namespace ap_exact {

// How an operand of a concatenation is held.
template <class T_> struct part {};
template <int W_, bool S_> struct part<ap_int_base<W_, S_>> {
    static constexpr int width = W_;
    typedef ap_int_base<W_, S_>& type;
};
template <int W_> struct part<ap_int<W_>> : part<ap_int_base<W_, true>> {};
template <int W_> struct part<ap_uint<W_>> : part<ap_int_base<W_, false>> {};
template <int W_, bool S_> struct part<ap_range_ref<W_, S_>> {
    static constexpr int width = W_;
    typedef ap_range_ref<W_, S_> type;
};
template <int W_, bool S_> struct part<ap_bit_ref<W_, S_>> {
    static constexpr int width = 1;
    typedef ap_bit_ref<W_, S_> type;
};
template <int W1_, class T1_, int W2_, class T2_> struct part<ap_concat_ref<W1_, T1_, W2_, T2_>> {
    static constexpr int width = W1_ + W2_;
    typedef ap_concat_ref<W1_, T1_, W2_, T2_> type;
};
template <class A_, class B_>
using concat_t = ap_concat_ref<part<A_>::width, typename part<A_>::type, part<B_>::width, typename part<B_>::type>;

}  // namespace ap_exact

template <class A_, class B_, int = ap_exact::part<A_>::width, int = ap_exact::part<B_>::width>
AP_INLINE constexpr ap_exact::concat_t<A_, B_> operator,(const A_& a, const B_& b) {
    return ap_exact::concat_t<A_, B_>(const_cast<A_&>(a), const_cast<B_&>(b));
}
template <class A_, class B_, int = ap_exact::part<A_>::width, int = ap_exact::part<B_>::width>
AP_INLINE constexpr ap_exact::concat_t<A_, B_> concat(const A_& a, const B_& b) { return (a, b); }

#endif
