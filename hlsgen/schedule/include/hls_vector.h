// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// hls::vector<T, N>: N elements that are computed with at once.
#ifndef HLSGEN_SCHEDULE_HLS_VECTOR_H
#define HLSGEN_SCHEDULE_HLS_VECTOR_H

#include <array>
#include <initializer_list>

#include "hlsgen_marks.h"

namespace hls {

#define HLS_VECTOR_EACH(statement)                                                                             \
    _Pragma("clang loop unroll(full)") for (size_t i = 0; i < N; ++i) { statement; }
#define HLS_VECTOR_INLINE inline __attribute__((always_inline))

template <typename T, size_t N>
class vector {
public:
    typedef T value_type;
    static constexpr long exact_bits = N * hls_marks::bits_of<T>::value;
    static constexpr size_t size() { return N; }
    std::array<T, N> data;

    vector() = default;
    HLS_VECTOR_INLINE vector(const T& x) { HLS_VECTOR_EACH(data[i] = x) }
    HLS_VECTOR_INLINE vector(const std::array<T, N>& x) : data(x) {}
    HLS_VECTOR_INLINE vector(std::initializer_list<T> list) {
        HLS_VECTOR_EACH(data[i] = list.begin()[i])
    }
    HLS_VECTOR_INLINE T& operator[](size_t i) { return data[i]; }
    HLS_VECTOR_INLINE const T& operator[](size_t i) const { return data[i]; }
    HLS_VECTOR_INLINE T* begin() { return data.data(); }
    HLS_VECTOR_INLINE T* end() { return data.data() + N; }
    HLS_VECTOR_INLINE const T* begin() const { return data.data(); }
    HLS_VECTOR_INLINE const T* end() const { return data.data() + N; }

#define HLS_VECTOR_ASSIGN(op)                                                                                  \
    HLS_VECTOR_INLINE vector& operator op##=(const vector& x) {                                                \
        HLS_VECTOR_EACH(data[i] op##= x.data[i])                                                               \
        return *this;                                                                                          \
    }                                                                                                          \
    HLS_VECTOR_INLINE friend vector operator op(const vector& a, const vector& b) {                            \
        vector r = a;                                                                                          \
        r op##= b;                                                                                             \
        return r;                                                                                              \
    }
    HLS_VECTOR_ASSIGN(+)
    HLS_VECTOR_ASSIGN(-)
    HLS_VECTOR_ASSIGN(*)
    HLS_VECTOR_ASSIGN(/)
    HLS_VECTOR_ASSIGN(%)
    HLS_VECTOR_ASSIGN(&)
    HLS_VECTOR_ASSIGN(|)
    HLS_VECTOR_ASSIGN(^)
    HLS_VECTOR_ASSIGN(<<)
    HLS_VECTOR_ASSIGN(>>)
#undef HLS_VECTOR_ASSIGN
#define HLS_VECTOR_COMPARE(op)                                                                                 \
    HLS_VECTOR_INLINE friend vector<bool, N> operator op(const vector& a, const vector& b) {                   \
        vector<bool, N> r;                                                                                     \
        HLS_VECTOR_EACH(r.data[i] = a.data[i] op b.data[i])                                                    \
        return r;                                                                                              \
    }
    HLS_VECTOR_COMPARE(<)
    HLS_VECTOR_COMPARE(<=)
    HLS_VECTOR_COMPARE(>)
    HLS_VECTOR_COMPARE(>=)
#undef HLS_VECTOR_COMPARE
    HLS_VECTOR_INLINE friend bool operator==(const vector& a, const vector& b) {
        bool all = true;
        HLS_VECTOR_EACH(all = all && a.data[i] == b.data[i])
        return all;
    }
    HLS_VECTOR_INLINE friend bool operator!=(const vector& a, const vector& b) { return !(a == b); }

    // Trees: levels of pairs.
    HLS_VECTOR_INLINE T reduce_add() const { return tree<0, N>([](const T& a, const T& b) { return T(a + b); }); }
    HLS_VECTOR_INLINE T reduce_mult() const { return tree<0, N>([](const T& a, const T& b) { return T(a * b); }); }
    HLS_VECTOR_INLINE T reduce_and() const { return tree<0, N>([](const T& a, const T& b) { return T(a & b); }); }
    HLS_VECTOR_INLINE T reduce_or() const { return tree<0, N>([](const T& a, const T& b) { return T(a | b); }); }
    HLS_VECTOR_INLINE T reduce_xor() const { return tree<0, N>([](const T& a, const T& b) { return T(a ^ b); }); }
    HLS_VECTOR_INLINE T reduce_max() const { return tree<0, N>([](const T& a, const T& b) { return a < b ? b : a; }); }
    HLS_VECTOR_INLINE T reduce_min() const { return tree<0, N>([](const T& a, const T& b) { return b < a ? b : a; }); }

private:
    template <size_t FROM, size_t COUNT, class F>
    HLS_VECTOR_INLINE T tree(F f) const {
        if constexpr (COUNT == 1) return data[FROM];
        else return f(tree<FROM, COUNT / 2>(f), tree<FROM + COUNT / 2, COUNT - COUNT / 2>(f));
    }
};
#undef HLS_VECTOR_EACH

}  // namespace hls

#endif
