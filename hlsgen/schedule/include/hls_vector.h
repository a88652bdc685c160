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
    _Pragma("clang loop unroll(full)") for (size_t i = 0; i < N_; ++i) { statement; }
#define HLS_VECTOR_INLINE inline __attribute__((always_inline))

template <typename T_, size_t N_>
class vector {
public:
    typedef T_ value_type;
    static constexpr long exact_bits = N_ * hls_marks::bits_of<T_>::value;
    static constexpr size_t size() { return N_; }
    std::array<T_, N_> data;

    vector() = default;
    HLS_VECTOR_INLINE vector(const T_& x) { HLS_VECTOR_EACH(data[i] = x) }
    HLS_VECTOR_INLINE vector(const std::array<T_, N_>& x) : data(x) {}
    HLS_VECTOR_INLINE vector(std::initializer_list<T_> list) {
        HLS_VECTOR_EACH(data[i] = list.begin()[i])
    }
    HLS_VECTOR_INLINE T_& operator[](size_t i) { return data[i]; }
    HLS_VECTOR_INLINE const T_& operator[](size_t i) const { return data[i]; }
    HLS_VECTOR_INLINE T_* begin() { return data.data(); }
    HLS_VECTOR_INLINE T_* end() { return data.data() + N_; }
    HLS_VECTOR_INLINE const T_* begin() const { return data.data(); }
    HLS_VECTOR_INLINE const T_* end() const { return data.data() + N_; }

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
    HLS_VECTOR_INLINE friend vector<bool, N_> operator op(const vector& a, const vector& b) {                   \
        vector<bool, N_> r;                                                                                     \
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
    HLS_VECTOR_INLINE T_ reduce_add() const { return tree<0, N_>([](const T_& a, const T_& b) __attribute__((always_inline)) { return T_(a + b); }); }
    HLS_VECTOR_INLINE T_ reduce_mult() const { return tree<0, N_>([](const T_& a, const T_& b) __attribute__((always_inline)) { return T_(a * b); }); }
    HLS_VECTOR_INLINE T_ reduce_and() const { return tree<0, N_>([](const T_& a, const T_& b) __attribute__((always_inline)) { return T_(a & b); }); }
    HLS_VECTOR_INLINE T_ reduce_or() const { return tree<0, N_>([](const T_& a, const T_& b) __attribute__((always_inline)) { return T_(a | b); }); }
    HLS_VECTOR_INLINE T_ reduce_xor() const { return tree<0, N_>([](const T_& a, const T_& b) __attribute__((always_inline)) { return T_(a ^ b); }); }
    HLS_VECTOR_INLINE T_ reduce_max() const { return tree<0, N_>([](const T_& a, const T_& b) __attribute__((always_inline)) { return a < b ? b : a; }); }
    HLS_VECTOR_INLINE T_ reduce_min() const { return tree<0, N_>([](const T_& a, const T_& b) __attribute__((always_inline)) { return b < a ? b : a; }); }

private:
    template <size_t From_, size_t Count_, class F_>
    HLS_VECTOR_INLINE T_ tree(F_ f) const {
        if constexpr (Count_ == 1) return data[From_];
        else return f(tree<From_, Count_ / 2>(f), tree<From_ + Count_ / 2, Count_ - Count_ / 2>(f));
    }
};
#undef HLS_VECTOR_EACH

}  // namespace hls

#endif
