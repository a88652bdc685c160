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
template <int W>
AP_INLINE constexpr ubits_t<W> get_range(ubits_t<W> bits, int hi, int lo) {
    const bool reversed = hi < lo;
    const ubits_t<W> ordered = reversed ? mirrored<W>(bits) : bits;
    const int low = reversed ? W - 1 - lo : lo, last = reversed ? lo - hi : hi - lo;
    return static_cast<ubits_t<W>>(ordered >> low) & static_cast<ubits_t<W>>(static_cast<ubits_t<W>>(-1) >> (W - 1 - last));
}
template <int W>
AP_INLINE constexpr ubits_t<W> set_range(ubits_t<W> bits, int hi, int lo, ubits_t<W> source) {
    const bool reversed = hi < lo;
    const int low = reversed ? hi : lo, last = reversed ? lo - hi : hi - lo;
    const ubits_t<W> there = static_cast<ubits_t<W>>(static_cast<ubits_t<W>>(-1) >> (W - 1 - last));
    const ubits_t<W> mask = static_cast<ubits_t<W>>(there << low);
    const ubits_t<W> ordered = reversed ? static_cast<ubits_t<W>>(mirrored<W>(source) >> (W - 1 - last)) : source;
    return static_cast<ubits_t<W>>(bits & ~mask) | static_cast<ubits_t<W>>(static_cast<ubits_t<W>>(ordered & there) << low);
}

template <int W, bool S> struct place<ap_range_ref<W, S>> { typedef ap_int_base<W, false> type; };
template <int W, bool S> struct place<ap_bit_ref<W, S>> { typedef ap_int_base<1, false> type; };
template <int W1, class T1, int W2, class T2>
struct place<ap_concat_ref<W1, T1, W2, T2>> { typedef ap_int_base<W1 + W2, false> type; };

// What places share: they read as numbers.
template <class P>
struct reads {
    typedef typename place<P>::type number;
    AP_INLINE constexpr const P& self() const { return static_cast<const P&>(*this); }
    AP_INLINE constexpr operator number() const { return self().get(); }
    AP_INLINE constexpr operator ap_ulong() const { return self().get().to_uint64(); }
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

template <int W, bool S>
struct ap_range_ref : ap_exact::reads<ap_range_ref<W, S>> {
    typedef ap_exact::bits_t<W, S> bits_type;
    bits_type& bits;  // of an integer or of a number with a fraction
    int hi, lo;

    AP_INLINE constexpr ap_range_ref(bits_type& all, int h, int l) : bits(all), hi(h), lo(l) {}
    AP_INLINE constexpr ap_range_ref(const ap_range_ref& other) = default;

    AP_INLINE constexpr ap_int_base<W, false> get() const { return ap_exact::get_range<W>(static_cast<ap_exact::ubits_t<W>>(bits), hi, lo); }
    AP_INLINE constexpr ap_int_base<W, false> get_bits() const { return get(); }
    template <int W2, bool S2>
    AP_INLINE constexpr void set(const ap_int_base<W2, S2>& x) const {
        const ap_int_base<W, false> source(x);
        bits = ap_exact::wrap<W, S>(ap_exact::set_range<W>(static_cast<ap_exact::ubits_t<W>>(bits), hi, lo, source.V));
    }
    AP_INLINE constexpr ap_range_ref& operator=(const ap_range_ref& x) {
        set(x.get());
        return *this;
    }
    template <class T>
    AP_INLINE constexpr ap_range_ref& operator=(const T& x) {
        set(ap_int_base<W, false>(x));
        return *this;
    }
    AP_INLINE constexpr int length() const { return hi >= lo ? hi - lo + 1 : lo - hi + 1; }
    AP_INLINE constexpr bool and_reduce() const { return get().V == static_cast<ap_exact::ubits_t<W>>(static_cast<ap_exact::ubits_t<W>>(-1) >> (W - length())); }
};

template <int W, bool S>
struct ap_bit_ref : ap_exact::reads<ap_bit_ref<W, S>> {
    typedef ap_exact::bits_t<W, S> bits_type;
    bits_type& bits;
    int at;

    AP_INLINE constexpr ap_bit_ref(bits_type& all, int i = 0) : bits(all), at(i) {}
    AP_INLINE constexpr ap_bit_ref(const ap_bit_ref& other) = default;

    AP_INLINE constexpr operator bool() const { return ap_exact::get_bit<W, S>(bits, at); }
    AP_INLINE constexpr bool to_bool() const { return ap_exact::get_bit<W, S>(bits, at); }
    AP_INLINE constexpr ap_int_base<1, false> get() const { return ap_exact::get_bit<W, S>(bits, at); }
    template <int W2, bool S2>
    AP_INLINE constexpr void set(const ap_int_base<W2, S2>& x) const { ap_exact::set_bit<W, S>(bits, at, static_cast<ap_exact::ubits_t<1>>(x.V) != 0); }
    AP_INLINE constexpr ap_bit_ref& operator=(const ap_bit_ref& x) {
        ap_exact::set_bit<W, S>(bits, at, static_cast<bool>(x));
        return *this;
    }
    template <class T>
    AP_INLINE constexpr ap_bit_ref& operator=(const T& x) {
        ap_exact::set_bit<W, S>(bits, at, x != 0);
        return *this;
    }
    AP_INLINE constexpr int length() const { return 1; }
    AP_INLINE constexpr bool operator~() const { return !static_cast<bool>(*this); }
    AP_INLINE constexpr bool operator!() const { return !static_cast<bool>(*this); }
    AP_INLINE constexpr bool get_bit() const { return static_cast<bool>(*this); }
};

// `(left, right)`. T1, T2: a number by reference, or a place.
template <int W1, class T1, int W2, class T2>
struct ap_concat_ref : ap_exact::reads<ap_concat_ref<W1, T1, W2, T2>> {
    static constexpr int total = W1 + W2;
    T1 left;
    T2 right;

    AP_INLINE constexpr ap_concat_ref(T1 l, T2 r) : left(l), right(r) {}
    AP_INLINE constexpr ap_concat_ref(const ap_concat_ref& other) = default;

    AP_INLINE constexpr ap_int_base<total, false> get() const {
        typedef ap_exact::ubits_t<total> U;
        const ap_int_base<W1, false> high(left);
        const ap_int_base<W2, false> low(right);
        return static_cast<U>(static_cast<U>(high.V) << right.length()) | static_cast<U>(low.V);
    }
    template <int W3, bool S3>
    AP_INLINE constexpr void set(const ap_int_base<W3, S3>& x) const {
        const ap_int_base<total, false> all(x);
        left.set(ap_int_base<W1, false>(static_cast<ap_exact::ubits_t<W1>>(all.V >> right.length())));
        right.set(ap_int_base<W2, false>(static_cast<ap_exact::ubits_t<W2>>(all.V)));
    }
    AP_INLINE constexpr ap_concat_ref& operator=(const ap_concat_ref& x) {
        set(x.get());
        return *this;
    }
    template <class T>
    AP_INLINE constexpr ap_concat_ref& operator=(const T& x) {
        set(ap_int_base<total, false>(x));
        return *this;
    }
    AP_INLINE constexpr int length() const { return left.length() + right.length(); }
};

namespace ap_exact {

// How an operand of a concatenation is held.
template <class T> struct part {};
template <int W, bool S> struct part<ap_int_base<W, S>> {
    static constexpr int width = W;
    typedef ap_int_base<W, S>& type;
};
template <int W> struct part<ap_int<W>> : part<ap_int_base<W, true>> {};
template <int W> struct part<ap_uint<W>> : part<ap_int_base<W, false>> {};
template <int W, bool S> struct part<ap_range_ref<W, S>> {
    static constexpr int width = W;
    typedef ap_range_ref<W, S> type;
};
template <int W, bool S> struct part<ap_bit_ref<W, S>> {
    static constexpr int width = 1;
    typedef ap_bit_ref<W, S> type;
};
template <int W1, class T1, int W2, class T2> struct part<ap_concat_ref<W1, T1, W2, T2>> {
    static constexpr int width = W1 + W2;
    typedef ap_concat_ref<W1, T1, W2, T2> type;
};
template <class A, class B>
using concat_t = ap_concat_ref<part<A>::width, typename part<A>::type, part<B>::width, typename part<B>::type>;

}  // namespace ap_exact

template <class A, class B, int = ap_exact::part<A>::width, int = ap_exact::part<B>::width>
AP_INLINE constexpr ap_exact::concat_t<A, B> operator,(const A& a, const B& b) {
    return ap_exact::concat_t<A, B>(const_cast<A&>(a), const_cast<B&>(b));
}
template <class A, class B, int = ap_exact::part<A>::width, int = ap_exact::part<B>::width>
AP_INLINE constexpr ap_exact::concat_t<A, B> concat(const A& a, const B& b) { return (a, b); }

#endif
