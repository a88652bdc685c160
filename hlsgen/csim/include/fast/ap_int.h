// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// ap_int<W> and ap_uint<W> on native integers, for fast C-simulation; written from scratch against the
// documented behaviour of the vendor's types. C++11, GCC or Clang (needs __int128).
//
// Subset: W <= 128: + - * with exact result widths, unary - + ~ !, & | ^, << >>, their assignments, ++ --,
// comparisons, mixes with built-in integers, range(), operator()(hi, lo), operator[] (read), to_*().
// ap_uint of 129..1024 bits (words of memory ports): construction, ==, range(), operator()(hi, lo).
// `/` and `%` work up to 64 bits through the conversion to a built-in integer. Not here: /= and %=,
// concatenation, strings, reductions, reversed ranges, writing single bits by [].

#ifndef HLSGEN_FAST_AP_INT_H
#define HLSGEN_FAST_AP_INT_H

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

// ---- integers to 128 bits -----------------------------------------------------------------------------

/// The built-in integer that a number of at most 64 bits converts to on its own; none above.
struct no_conversion {};
template <int W, bool S>
struct implicit_integer {
    typedef typename std::conditional<
        (W <= 64), typename std::conditional<S, long long, unsigned long long>::type, no_conversion>::type type;
};

template <int W, bool S>
struct int_value<W, S, false> : number<W, S> {
    typedef typename native<W, S>::type N;
    typedef typename native<W, false>::type U;
    typedef typename int_type<W, S>::type Self;
    static const int width = W;
    static const bool sign_flag = S;

    int_value() = default;
    template <class T, class = typename std::enable_if<std::is_integral<T>::value>::type>
    AP_FAST_INLINE int_value(T x) { this->raw = wrap<W, S>(x); }
    template <int W2, bool S2>
    AP_FAST_INLINE int_value(const int_value<W2, S2, false>& x) { this->raw = wrap<W, S>(x.get()); }
    template <class Owner>
    AP_FAST_INLINE int_value(const range_ref<Owner>& bits) {
        uint128 all = bits.chunk(0);
        if (W > 64) all |= uint128(bits.chunk(1)) << 64;
        this->raw = wrap<W, S>(all);
    }
    /// From numbers with a fraction: rounds towards zero.
    template <int W2, int I2, bool S2, ap_q_mode Q, ap_o_mode O>
    AP_FAST_INLINE int_value(const fixed_value<W2, I2, S2, Q, O>& x) { this->raw = wrap<W, S>(x.integer_part()); }
    AP_FAST_INLINE int_value(double x) {
        const double_parts parts(x);
        const int right = 52 - parts.exponent;
        uint128 size = static_cast<uint128>(parts.mantissa < 0 ? -parts.mantissa : parts.mantissa);
        size = right > 0 ? shift_right(size, right) : shift_left(size, -right);
        this->raw = wrap<W, S>(parts.mantissa < 0 ? uint128(0) - size : size);
    }

    /// Bits 64*index .. 64*index+63, with the sign above W.
    AP_FAST_INLINE std::uint64_t chunk(int index) const {
        return static_cast<std::uint64_t>(shift_right(static_cast<typename native<128, S>::type>(this->get()), 64 * index));
    }

    AP_FAST_INLINE operator typename implicit_integer<W, S>::type() const { return this->get(); }
    AP_FAST_INLINE int to_int() const { return static_cast<int>(this->get()); }
    AP_FAST_INLINE unsigned to_uint() const { return static_cast<unsigned>(this->get()); }
    AP_FAST_INLINE long long to_int64() const { return static_cast<long long>(this->get()); }
    AP_FAST_INLINE unsigned long long to_uint64() const { return static_cast<unsigned long long>(this->get()); }
    AP_FAST_INLINE double to_double() const { return static_cast<double>(this->get()); }
    AP_FAST_INLINE bool to_bool() const { return this->get() != 0; }

    AP_FAST_INLINE bool operator!() const { return this->get() == 0; }
    AP_FAST_INLINE Self operator+() const { return make(this->get()); }
    AP_FAST_INLINE Self operator~() const { return make(~this->get()); }
    AP_FAST_INLINE ap_int<larger(W, 1 + S) + 1> operator-() const {
        ap_int<larger(W, 1 + S) + 1> result;
        result.raw = static_cast<typename native<larger(W, 1 + S) + 1, true>::type>(
            -static_cast<typename native<larger(W, 1 + S) + 1, true>::type>(this->get()));
        return result;
    }

    /// As on hardware: a negative count shifts the other way, a count of W or more leaves zeros or signs.
    AP_FAST_INLINE Self operator<<(int count) const {
        return count < 0 ? make(shift_right(this->get(), -count)) : make(shift_left(static_cast<U>(this->get()), count));
    }
    AP_FAST_INLINE Self operator>>(int count) const {
        return count < 0 ? make(shift_left(static_cast<U>(this->get()), -count)) : make(shift_right(this->get(), count));
    }
    template <int W2, bool S2>
    AP_FAST_INLINE Self operator<<(const int_value<W2, S2, false>& count) const { return *this << count.to_int(); }
    template <int W2, bool S2>
    AP_FAST_INLINE Self operator>>(const int_value<W2, S2, false>& count) const { return *this >> count.to_int(); }
    template <class T>
    AP_FAST_INLINE int_value& operator<<=(const T& count) {
        this->raw = (*this << count).raw;
        return *this;
    }
    template <class T>
    AP_FAST_INLINE int_value& operator>>=(const T& count) {
        this->raw = (*this >> count).raw;
        return *this;
    }

    // The low W bits of a result depend on the low W bits of the operands only.
    template <class T>
    AP_FAST_INLINE int_value& operator+=(const T& x) {
        this->add_raw(static_cast<U>(number_of(x)));
        return *this;
    }
    template <class T>
    AP_FAST_INLINE int_value& operator-=(const T& x) {
        this->add_raw(static_cast<U>(U(0) - static_cast<U>(number_of(x))));
        return *this;
    }
    template <class T>
    AP_FAST_INLINE int_value& operator*=(const T& x) {
        typedef typename native<larger(W, 32), false>::type Product;  // int16 operands would promote to int
        this->raw = wrap<W, S>(static_cast<Product>(this->get()) * static_cast<Product>(number_of(x)));
        return *this;
    }
    template <class T>
    AP_FAST_INLINE int_value& operator&=(const T& x) {
        this->raw = wrap<W, S>(this->get() & static_cast<U>(number_of(x)));
        return *this;
    }
    template <class T>
    AP_FAST_INLINE int_value& operator|=(const T& x) {
        this->raw = wrap<W, S>(this->get() | static_cast<U>(number_of(x)));
        return *this;
    }
    template <class T>
    AP_FAST_INLINE int_value& operator^=(const T& x) {
        this->raw = wrap<W, S>(this->get() ^ static_cast<U>(number_of(x)));
        return *this;
    }
    AP_FAST_INLINE int_value& operator++() { return *this += 1; }
    AP_FAST_INLINE int_value& operator--() { return *this -= 1; }
    AP_FAST_INLINE Self operator++(int) {
        const Self before = make(this->get());
        *this += 1;
        return before;
    }
    AP_FAST_INLINE Self operator--(int) {
        const Self before = make(this->get());
        *this -= 1;
        return before;
    }

private:
    template <class T>
    static AP_FAST_INLINE Self make(T x) {
        Self result;
        result.raw = wrap<W, S>(x);
        return result;
    }
    template <int W2, bool S2>
    static AP_FAST_INLINE typename native<W2, S2>::type number_of(const int_value<W2, S2, false>& x) { return x.get(); }
    template <class T>
    static AP_FAST_INLINE typename std::enable_if<std::is_integral<T>::value, T>::type number_of(T x) { return x; }
};

// ---- words of more than 128 bits ----------------------------------------------------------------------

template <int W, bool S>
struct int_value<W, S, true> {
    static_assert(!S, "ap_int above 128 bits is not supported by these headers; ap_uint is, to 1024 bits");
    static_assert(W <= 1024, "ap_uint above 1024 bits is not supported by these headers");
    static const int width = W;
    static const int count_of_words = (W + 63) / 64;
    std::uint64_t words[count_of_words];

    int_value() = default;
    template <class T, class = typename std::enable_if<std::is_integral<T>::value>::type>
    AP_FAST_INLINE int_value(T x) { set(typename builtin<T>::type(x)); }
    template <int W2, bool S2, bool Wide2>
    AP_FAST_INLINE int_value(const int_value<W2, S2, Wide2>& x) { set(x); }
    template <class Owner>
    AP_FAST_INLINE int_value(const range_ref<Owner>& bits) { set(bits); }

    AP_FAST_INLINE int length() const { return W; }
    AP_FAST_INLINE range_ref<int_value> range(int hi, int lo) { return range_ref<int_value>(*this, hi, lo); }
    AP_FAST_INLINE range_ref<const int_value> range(int hi, int lo) const {
        return range_ref<const int_value>(*this, hi, lo);
    }
    AP_FAST_INLINE range_ref<int_value> range() { return range(W - 1, 0); }
    AP_FAST_INLINE range_ref<const int_value> range() const { return range(W - 1, 0); }
    AP_FAST_INLINE range_ref<int_value> operator()(int hi, int lo) { return range(hi, lo); }
    AP_FAST_INLINE range_ref<const int_value> operator()(int hi, int lo) const { return range(hi, lo); }
    AP_FAST_INLINE bool operator[](int bit) const { return get_bits(bit, 1) != 0; }
    AP_FAST_INLINE unsigned long long to_uint64() const { return words[0]; }

    AP_FAST_INLINE std::uint64_t chunk(int index) const { return index < count_of_words ? words[index] : 0; }
    AP_FAST_INLINE std::uint64_t get_bits(int lo, int count) const {
        const int word = lo / 64, offset = lo % 64;
        std::uint64_t bits = words[word] >> offset;
        // the second condition follows from the range, which GCC does not always see
        if (offset + count > 64 && word + 1 < count_of_words) bits |= words[word + 1] << (64 - offset);
        return low_bits(bits, count);
    }
    AP_FAST_INLINE void set_bits(int lo, int count, std::uint64_t bits) {
        const int word = lo / 64, offset = lo % 64;
        const std::uint64_t mask = low_bits(~std::uint64_t(0), count);
        words[word] = (words[word] & ~(mask << offset)) | (bits & mask) << offset;
        if (offset + count > 64 && word + 1 < count_of_words) {
            const int done = 64 - offset;
            words[word + 1] = (words[word + 1] & ~(mask >> done)) | (bits & mask) >> done;
        }
    }
    AP_FAST_INLINE bool operator==(const int_value& other) const {
        std::uint64_t difference = 0;
        for (int i = 0; i < count_of_words; ++i) difference |= words[i] ^ other.words[i];
        return difference == 0;
    }
    AP_FAST_INLINE bool operator!=(const int_value& other) const { return !(*this == other); }

private:
    template <class Source>
    AP_FAST_INLINE void set(const Source& source) {
        for (int i = 0; i < count_of_words; ++i) words[i] = source.chunk(i);
        words[count_of_words - 1] = low_bits(words[count_of_words - 1], W - 64 * (count_of_words - 1));
    }
};

// ---- operators on two integers ------------------------------------------------------------------------

/// Widths of results. A signed operand makes the result signed; an unsigned one beside it grows by a bit.
template <int W1, bool S1, int W2, bool S2>
struct int_results {
    static const bool sign = S1 || S2;
    static const int logic = larger(W1 + (S2 && !S1), W2 + (S1 && !S2));
    static const int sum = logic + 1;
    static const int product = W1 + W2;
};

#define AP_FAST_BINARY(op, WIDTH, SIGN)                                                                        \
    template <int W1, bool S1, int W2, bool S2>                                                                \
    AP_FAST_INLINE typename int_type<int_results<W1, S1, W2, S2>::WIDTH, SIGN>::type operator op(              \
        const int_value<W1, S1, false>& a, const int_value<W2, S2, false>& b) {                                \
        const int width = int_results<W1, S1, W2, S2>::WIDTH;                                                  \
        typedef typename native<width, SIGN>::type N;                                                          \
        typename int_type<width, SIGN>::type result;                                                           \
        result.raw = wrap<width, SIGN>(static_cast<N>(static_cast<N>(a.get()) op static_cast<N>(b.get())));    \
        return result;                                                                                         \
    }                                                                                                          \
    template <int W1, bool S1, class T>                                                                        \
    AP_FAST_INLINE auto operator op(const int_value<W1, S1, false>& a, T b)                                    \
        ->decltype(a op typename builtin<T>::type(b)) {                                                        \
        return a op typename builtin<T>::type(b);                                                              \
    }                                                                                                          \
    template <int W2, bool S2, class T>                                                                        \
    AP_FAST_INLINE auto operator op(T a, const int_value<W2, S2, false>& b)                                    \
        ->decltype(typename builtin<T>::type(a) op b) {                                                        \
        return typename builtin<T>::type(a) op b;                                                              \
    }
AP_FAST_BINARY(+, sum, (S1 || S2))
AP_FAST_BINARY(-, sum, true)
AP_FAST_BINARY(*, product, (S1 || S2))
AP_FAST_BINARY(&, logic, (S1 || S2))
AP_FAST_BINARY(|, logic, (S1 || S2))
AP_FAST_BINARY(^, logic, (S1 || S2))
#undef AP_FAST_BINARY

#define AP_FAST_COMPARE(op)                                                                                    \
    template <int W1, bool S1, int W2, bool S2>                                                                \
    AP_FAST_INLINE bool operator op(const int_value<W1, S1, false>& a, const int_value<W2, S2, false>& b) {    \
        typedef typename native<int_results<W1, S1, W2, S2>::logic, S1 || S2>::type N;                         \
        return static_cast<N>(a.get()) op static_cast<N>(b.get());                                             \
    }                                                                                                          \
    template <int W1, bool S1, class T>                                                                        \
    AP_FAST_INLINE auto operator op(const int_value<W1, S1, false>& a, T b)                                    \
        ->decltype(a op typename builtin<T>::type(b)) {                                                        \
        return a op typename builtin<T>::type(b);                                                              \
    }                                                                                                          \
    template <int W2, bool S2, class T>                                                                        \
    AP_FAST_INLINE auto operator op(T a, const int_value<W2, S2, false>& b)                                    \
        ->decltype(typename builtin<T>::type(a) op b) {                                                        \
        return typename builtin<T>::type(a) op b;                                                              \
    }
AP_FAST_COMPARE(==)
AP_FAST_COMPARE(!=)
AP_FAST_COMPARE(<)
AP_FAST_COMPARE(<=)
AP_FAST_COMPARE(>)
AP_FAST_COMPARE(>=)
#undef AP_FAST_COMPARE

}  // namespace ap_fast

template <int W>
struct ap_int : ap_fast::int_value<W, true> {
    using ap_fast::int_value<W, true>::int_value;
    ap_int() = default;
};

template <int W>
struct ap_uint : ap_fast::int_value<W, false> {
    using ap_fast::int_value<W, false>::int_value;
    ap_uint() = default;
};

#endif
