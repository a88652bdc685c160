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

#include "ap_bits.h"

namespace ap_fast {

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
