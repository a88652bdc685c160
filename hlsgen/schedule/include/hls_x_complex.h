// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// hls::x_complex: a pair of numbers of any type, with the arithmetic of complex numbers.
#ifndef HLSGEN_SCHEDULE_HLS_X_COMPLEX_H
#define HLSGEN_SCHEDULE_HLS_X_COMPLEX_H

#include <complex>

namespace hls {

template <typename T_>
struct x_complex {
    T_ re, im;

    x_complex() = default;
    __attribute__((always_inline)) x_complex(const T_& r, const T_& i = T_(0)) : re(r), im(i) {}
    template <class U_>
    __attribute__((always_inline)) x_complex(const x_complex<U_>& x) : re(x.re), im(x.im) {}
    __attribute__((always_inline)) T_ real() const { return re; }
    __attribute__((always_inline)) T_ imag() const { return im; }
    __attribute__((always_inline)) void real(const T_& r) { re = r; }
    __attribute__((always_inline)) void imag(const T_& i) { im = i; }
    __attribute__((always_inline)) x_complex conj() const { return x_complex(re, -im); }
    __attribute__((always_inline)) x_complex& operator+=(const x_complex& x) { return *this = *this + x; }
    __attribute__((always_inline)) x_complex& operator-=(const x_complex& x) { return *this = *this - x; }
    __attribute__((always_inline)) x_complex& operator*=(const x_complex& x) { return *this = *this * x; }
    __attribute__((always_inline)) friend x_complex operator-(const x_complex& a) { return x_complex(-a.re, -a.im); }
    __attribute__((always_inline)) friend x_complex operator+(const x_complex& a, const x_complex& b) { return x_complex(a.re + b.re, a.im + b.im); }
    __attribute__((always_inline)) friend x_complex operator-(const x_complex& a, const x_complex& b) { return x_complex(a.re - b.re, a.im - b.im); }
    __attribute__((always_inline)) friend x_complex operator*(const x_complex& a, const x_complex& b) {
        return x_complex(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
    }
    __attribute__((always_inline)) friend bool operator==(const x_complex& a, const x_complex& b) { return a.re == b.re && a.im == b.im; }
    __attribute__((always_inline)) friend bool operator!=(const x_complex& a, const x_complex& b) { return !(a == b); }
};
template <typename T_> __attribute__((always_inline)) inline x_complex<T_> x_conj(const x_complex<T_>& x) { return x.conj(); }

}  // namespace hls

#endif
