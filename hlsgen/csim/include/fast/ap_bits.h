// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// What ap_int and ap_fixed share: native integers as storage, and ranges of bits.

#ifndef HLSGEN_FAST_AP_BITS_H
#define HLSGEN_FAST_AP_BITS_H

#include <cstdint>
#include <type_traits>

#define AP_FAST_INLINE inline __attribute__((always_inline))

enum ap_q_mode {
    AP_RND,          // nearest, halves towards plus infinity
    AP_RND_ZERO,     // nearest, halves towards zero
    AP_RND_MIN_INF,  // nearest, halves towards minus infinity
    AP_RND_INF,      // nearest, halves away from zero
    AP_RND_CONV,     // nearest, halves to even
    AP_TRN,          // towards minus infinity
    AP_TRN_ZERO      // towards zero
};

enum ap_o_mode {
    AP_SAT,       // nearest end of the range
    AP_SAT_ZERO,  // zero
    AP_SAT_SYM,   // nearest end of the range, which is symmetric
    AP_WRAP,      // drop the high bits
    AP_WRAP_SM    // sign-magnitude wrap
};

template <int W>
struct ap_int;
template <int W>
struct ap_uint;

namespace ap_fast {

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

// ---- storage ------------------------------------------------------------------------------------------

template <int Bytes, bool S>
struct native_of_size;
template <> struct native_of_size<1, true> { typedef std::int8_t type; };
template <> struct native_of_size<2, true> { typedef std::int16_t type; };
template <> struct native_of_size<4, true> { typedef std::int32_t type; };
template <> struct native_of_size<8, true> { typedef std::int64_t type; };
template <> struct native_of_size<16, true> { typedef int128 type; };
template <> struct native_of_size<1, false> { typedef std::uint8_t type; };
template <> struct native_of_size<2, false> { typedef std::uint16_t type; };
template <> struct native_of_size<4, false> { typedef std::uint32_t type; };
template <> struct native_of_size<8, false> { typedef std::uint64_t type; };
template <> struct native_of_size<16, false> { typedef uint128 type; };

/// The smallest native integer of at least W bits.
template <int W, bool S>
struct native {
    static_assert(W >= 1, "an ap_ type has at least 1 bit");
    static_assert(W <= 128, "ap_ arithmetic above 128 bits is not supported by these headers");
    typedef typename native_of_size<(W <= 8 ? 1 : W <= 16 ? 2 : W <= 32 ? 4 : W <= 64 ? 8 : 16), S>::type type;
};

constexpr int larger(int a, int b) { return a > b ? a : b; }

/// Shifts whose count may be anything that fits the type of x; negative numbers shift as on hardware.
template <class U>
AP_FAST_INLINE U shift_left(U x, int count) {
    return static_cast<U>(count < static_cast<int>(8 * sizeof(U)) ? x << count : U(0));
}
template <class T>
AP_FAST_INLINE T shift_right(T x, int count) {
    const int last = static_cast<int>(8 * sizeof(T)) - 1;
    return static_cast<T>(count <= last ? x >> count : (x >> last) >> 1);
}

/// The low W bits of x as a number of W bits.
template <int W, bool S, class T>
AP_FAST_INLINE typename native<W, S>::type wrap(T x) {
    typedef typename native<W, S>::type N;
    typedef typename native<W, false>::type U;
    const int unused = static_cast<int>(8 * sizeof(N)) - W;
    const U low = static_cast<U>(x);
    return S ? static_cast<N>(static_cast<N>(static_cast<U>(low << unused)) >> unused)
             : static_cast<N>(low & static_cast<U>(static_cast<U>(~U(0)) >> unused));
}

AP_FAST_INLINE std::uint64_t low_bits(std::uint64_t x, int count) { return x & (~std::uint64_t(0) >> (64 - count)); }

template <class Owner>
struct range_ref;

/// The bits of a number. Eager: `raw` is always the number. Lazy (odd widths of 17 bits and more, which
/// is what accumulators have): += and -= leave carries above bit W-1 of `raw`, and each read drops them;
/// so a sum of products is one native addition per term, which compilers vectorise. A copy has none.
template <int W, bool S, bool Lazy>
struct number_bits {
    typedef typename native<W, S>::type N;
    N raw;
    number_bits() = default;
    AP_FAST_INLINE N get() const { return raw; }
    template <class T>
    AP_FAST_INLINE void add_raw(T x) { raw = wrap<W, S>(static_cast<typename native<W, false>::type>(raw) + x); }
};
template <int W, bool S>
struct number_bits<W, S, true> {
    typedef typename native<W, S>::type N;
    N raw;
    number_bits() = default;
    AP_FAST_INLINE number_bits(const number_bits& other) : raw(other.get()) {}
    AP_FAST_INLINE number_bits& operator=(const number_bits& other) {
        raw = other.get();
        return *this;
    }
    AP_FAST_INLINE N get() const { return wrap<W, S>(raw); }
    template <class T>
    AP_FAST_INLINE void add_raw(T x) {
        typedef typename native<W, false>::type U;
        raw = static_cast<N>(static_cast<U>(static_cast<U>(raw) + static_cast<U>(x)));
    }
};

constexpr bool is_lazy(int w) { return w > 16 && w != 32 && w != 64 && w != 128; }

/// What ap_int and ap_fixed share: storage and access to bits.
template <int W, bool S, bool Lazy = is_lazy(W)>
struct number : number_bits<W, S, Lazy> {
    typedef typename native<W, S>::type N;
    typedef typename native<W, false>::type U;
    number() = default;

    AP_FAST_INLINE int length() const { return W; }
    AP_FAST_INLINE range_ref<number> range(int hi, int lo) { return range_ref<number>(*this, hi, lo); }
    AP_FAST_INLINE range_ref<const number> range(int hi, int lo) const {
        return range_ref<const number>(*this, hi, lo);
    }
    AP_FAST_INLINE range_ref<number> range() { return range(W - 1, 0); }
    AP_FAST_INLINE range_ref<const number> range() const { return range(W - 1, 0); }
    AP_FAST_INLINE range_ref<number> operator()(int hi, int lo) { return range(hi, lo); }
    AP_FAST_INLINE range_ref<const number> operator()(int hi, int lo) const { return range(hi, lo); }
    AP_FAST_INLINE bool operator[](int bit) const { return get_bits(bit, 1) != 0; }

    /// `count` (1..64) bits from bit `lo` up.
    AP_FAST_INLINE std::uint64_t get_bits(int lo, int count) const {
        return low_bits(static_cast<std::uint64_t>(shift_right(static_cast<U>(this->get()), lo)), count);
    }
    AP_FAST_INLINE void set_bits(int lo, int count, std::uint64_t bits) {
        const U mask = shift_left(static_cast<U>(low_bits(~std::uint64_t(0), count)), lo);
        const U kept = static_cast<U>(static_cast<U>(this->raw) & static_cast<U>(~mask));
        this->raw = wrap<W, S>(static_cast<U>(kept | (shift_left(static_cast<U>(bits), lo) & mask)));
    }
};

template <int W, bool S, bool Wide = (W > 128)>
struct int_value;
template <int W, int I, bool S, ap_q_mode Q, ap_o_mode O>
struct fixed_value;

/// ap_int or ap_uint, whichever has this signedness.
template <int W, bool S>
struct int_type { typedef ap_int<W> type; };
template <int W>
struct int_type<W, false> { typedef ap_uint<W> type; };

/// Built-in integers as numbers of known width.
template <class T, bool = std::is_integral<T>::value>
struct builtin {};
template <class T>
struct builtin<T, true> {
    static const int width = std::is_same<T, bool>::value ? 1 : static_cast<int>(8 * sizeof(T));
    static const bool sign = std::is_signed<T>::value;
    typedef typename int_type<width, sign>::type type;
};

/// A finite double as mantissa * 2**(exponent - 52), mantissa of 54 bits with its sign.
struct double_parts {
    std::int64_t mantissa;
    int exponent;
    explicit double_parts(double d) {
        std::uint64_t bits;
        __builtin_memcpy(&bits, &d, sizeof bits);
        const std::uint64_t fraction = bits & ((std::uint64_t(1) << 52) - 1);
        const int biased = static_cast<int>(bits >> 52 & 0x7ff);
        // Subnormal numbers get an implicit 1 too: they are far below any resolution, only the sign counts.
        mantissa = biased == 0 && fraction == 0 ? 0 : static_cast<std::int64_t>(fraction | std::uint64_t(1) << 52);
        if (bits >> 63) mantissa = -mantissa;
        exponent = biased - 1023;
    }
};

// ---- ranges -------------------------------------------------------------------------------------------

/// Bits hi..lo of a number: reads as an unsigned integer, and can be assigned to.
template <class Owner>
struct range_ref {
    Owner& owner;
    int hi, lo;
    AP_FAST_INLINE range_ref(Owner& o, int h, int l) : owner(o), hi(h), lo(l) {}
    AP_FAST_INLINE range_ref(const range_ref& other) = default;

    AP_FAST_INLINE int length() const { return hi - lo + 1; }
    /// Bits 64*index .. 64*index+63 of the range; zero above its end.
    AP_FAST_INLINE std::uint64_t chunk(int index) const {
        const int count = length() - 64 * index;
        return count <= 0 ? 0 : owner.get_bits(lo + 64 * index, count < 64 ? count : 64);
    }
    template <class Source>
    AP_FAST_INLINE void set(const Source& source) {
        for (int at = 0, index = 0; at < length(); at += 64, ++index)
            owner.set_bits(lo + at, length() - at < 64 ? length() - at : 64, source.chunk(index));
    }
    AP_FAST_INLINE range_ref& operator=(const range_ref& source) {
        set(source);
        return *this;
    }
    template <class Other>
    AP_FAST_INLINE range_ref& operator=(const range_ref<Other>& source) {
        set(source);
        return *this;
    }
    template <int W2, bool S2, bool Wide2>
    AP_FAST_INLINE range_ref& operator=(const int_value<W2, S2, Wide2>& source) {
        set(source);
        return *this;
    }
    template <class T>
    AP_FAST_INLINE typename std::enable_if<std::is_integral<T>::value, range_ref&>::type operator=(T x) {
        set(typename builtin<T>::type(x));
        return *this;
    }

    AP_FAST_INLINE operator unsigned long long() const { return chunk(0); }
    AP_FAST_INLINE int to_int() const { return static_cast<int>(chunk(0)); }
    AP_FAST_INLINE unsigned to_uint() const { return static_cast<unsigned>(chunk(0)); }
    AP_FAST_INLINE long long to_int64() const { return static_cast<long long>(chunk(0)); }
    AP_FAST_INLINE unsigned long long to_uint64() const { return chunk(0); }
};

}  // namespace ap_fast

#endif
