// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// ap_float<W, E> and its accumulator: what they hold, and operations of which nothing is known.
#ifndef HLSGEN_SCHEDULE_AP_FLOAT_H
#define HLSGEN_SCHEDULE_AP_FLOAT_H

#include "ap_fixed.h"
#include "ap_int.h"
#include "hlsgen_marks.h"

template <int W_, int E_>
class ap_float {
public:
    static constexpr long exact_bits = W_;

    ap_float() = default;
    ap_float(float x);
    ap_float(double x);
    ap_float(int x);
    template <int V_, int F_> explicit ap_float(const ap_float<V_, F_>& x);
    template <int V_, int I_, ap_q_mode Q_, ap_o_mode O_, int N_> explicit ap_float(const ap_fixed<V_, I_, Q_, O_, N_>& x);
    explicit operator float() const;
    explicit operator double() const;
    ap_uint<W_> to_bits() const { return bits_; }

    friend ap_float operator+(const ap_float& a, const ap_float& b) { return added(a, b); }
    friend ap_float operator-(const ap_float& a, const ap_float& b) { return subtracted(a, b); }
    friend ap_float operator*(const ap_float& a, const ap_float& b) { return multiplied(a, b); }
    friend ap_float operator/(const ap_float& a, const ap_float& b) { return divided(a, b); }
    friend bool operator<(const ap_float& a, const ap_float& b) { return less(a, b); }
    friend bool operator>(const ap_float& a, const ap_float& b) { return less(b, a); }
    friend bool operator<=(const ap_float& a, const ap_float& b) { return !less(b, a); }
    friend bool operator>=(const ap_float& a, const ap_float& b) { return !less(a, b); }
    friend bool operator==(const ap_float& a, const ap_float& b) { return equal(a, b); }
    friend bool operator!=(const ap_float& a, const ap_float& b) { return !equal(a, b); }
    ap_float& operator+=(const ap_float& x) { return *this = *this + x; }
    ap_float& operator-=(const ap_float& x) { return *this = *this - x; }
    ap_float& operator*=(const ap_float& x) { return *this = *this * x; }
    ap_float& operator/=(const ap_float& x) { return *this = *this / x; }
    ap_float operator-() const;

private:
    static ap_float added(const ap_float&, const ap_float&);
    static ap_float subtracted(const ap_float&, const ap_float&);
    static ap_float multiplied(const ap_float&, const ap_float&);
    static ap_float divided(const ap_float&, const ap_float&);
    static bool less(const ap_float&, const ap_float&);
    static bool equal(const ap_float&, const ap_float&);
    ap_uint<W_> bits_;
};

template <typename Value_, typename Sum_>
class ap_float_acc {
public:
    Value_ accumulate(const Value_& x, bool last);

private:
    Sum_ sum_;
};

#endif
