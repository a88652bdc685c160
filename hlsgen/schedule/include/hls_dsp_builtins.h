// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// DSP intrinsics (UG1399, "Using DSP Intrinsics"): their arithmetic at the widths of a DSP's ports, and what a second
// register of B delays by an iteration along a cascade. How many cycles the registers of `flags` add is not told.
// Which of C and the product `_sub` and `_rsub` take from the other is a guess: a schedule is the same.
#ifndef HLSGEN_SCHEDULE_HLS_DSP_BUILTINS_H
#define HLSGEN_SCHEDULE_HLS_DSP_BUILTINS_H

#include <complex>
#include <cstdint>

#include "ap_int.h"

namespace hls {

#define HLS_DSP_INLINE inline __attribute__((always_inline))

namespace dsp_registers {
constexpr int64_t REG_A1 = 1 << 0;
constexpr int64_t REG_A2 = 1 << 1;
constexpr int64_t REG_B1 = 1 << 2;
constexpr int64_t REG_B2 = 1 << 3;
constexpr int64_t REG_D = 1 << 4;
constexpr int64_t REG_AD = 1 << 5;
constexpr int64_t REG_M = 1 << 6;
constexpr int64_t REG_C = 1 << 7;
constexpr int64_t REG_P = 1 << 8;
} // namespace dsp_registers

#define HLS_DSP_OF_INTEGERS                                                                                    \
    using namespace dsp_registers;                                                                             \
    struct R_t {                                                                                               \
        A_t acout;                                                                                             \
        B_t bcout;                                                                                             \
        C_t pcout;                                                                                             \
    };                                                                                                         \
    template <int64_t flags> HLS_DSP_INLINE C_t mul_add(A_t a, B_t b, C_t c) { return a * b + c; }             \
    template <int64_t flags> HLS_DSP_INLINE C_t mul_sub(A_t a, B_t b, C_t c) { return c - a * b; }             \
    template <int64_t flags> HLS_DSP_INLINE C_t mul_rsub(A_t a, B_t b, C_t c) { return a * b - c; }            \
    template <int64_t flags> HLS_DSP_INLINE C_t add_mul_add(D_t d, A_t a, B_t b, C_t c) { return A_t(a + d) * b + c; } \
    template <int64_t flags> HLS_DSP_INLINE C_t add_mul_sub(D_t d, A_t a, B_t b, C_t c) { return c - A_t(a + d) * b; } \
    template <int64_t flags> HLS_DSP_INLINE C_t add_mul_rsub(D_t d, A_t a, B_t b, C_t c) { return A_t(a + d) * b - c; } \
    template <int64_t flags> HLS_DSP_INLINE C_t sub_mul_add(D_t d, A_t a, B_t b, C_t c) { return A_t(d - a) * b + c; } \
    template <int64_t flags> HLS_DSP_INLINE C_t sub_mul_sub(D_t d, A_t a, B_t b, C_t c) { return c - A_t(d - a) * b; } \
    template <int64_t flags> HLS_DSP_INLINE C_t sub_mul_rsub(D_t d, A_t a, B_t b, C_t c) { return A_t(d - a) * b - c; } \
    template <int64_t flags> class acc {                                                                       \
    public:                                                                                                    \
        HLS_DSP_INLINE C_t mul_acc(A_t a, B_t b, bool init) { return p_ = a * b + (init ? C_t(0) : p_); }      \
        HLS_DSP_INLINE C_t add_mul_acc(D_t d, A_t a, B_t b, bool init) {                                       \
            return p_ = A_t(a + d) * b + (init ? C_t(0) : p_);                                                 \
        }                                                                                                      \
                                                                                                               \
    private:                                                                                                   \
        C_t p_;                                                                                                \
    };                                                                                                         \
    template <int64_t flags> class cascade {                                                                   \
    public:                                                                                                    \
        HLS_DSP_INLINE R_t mul_add(A_t a, B_t b, C_t c) {                                                      \
            R_t result;                                                                                        \
            result.acout = flags & REG_A2 ? a_ : a;                                                            \
            result.bcout = flags & REG_B2 ? b_ : b;                                                            \
            result.pcout = (flags & REG_A2 ? a_ : a) * (flags & REG_B2 ? b_ : b) + c;                          \
            a_ = a;                                                                                            \
            b_ = b;                                                                                            \
            return result;                                                                                     \
        }                                                                                                      \
                                                                                                               \
    private:                                                                                                   \
        A_t a_;                                                                                                \
        B_t b_;                                                                                                \
    };

namespace dsp48e1 {
typedef ap_int<25> A_t;
typedef ap_int<18> B_t;
typedef ap_int<48> C_t;
typedef ap_int<25> D_t;
typedef ap_int<48> P_t;
HLS_DSP_OF_INTEGERS
} // namespace dsp48e1
namespace dsp48e2 {
typedef ap_int<27> A_t;
typedef ap_int<18> B_t;
typedef ap_int<48> C_t;
typedef ap_int<27> D_t;
typedef ap_int<48> P_t;
HLS_DSP_OF_INTEGERS
} // namespace dsp48e2
namespace dsp58 {
typedef ap_int<27> A_t;
typedef ap_int<24> B_t;
typedef ap_int<58> C_t;
typedef ap_int<27> D_t;
typedef ap_int<58> P_t;
HLS_DSP_OF_INTEGERS
} // namespace dsp58

namespace dspcplx {
constexpr int64_t NO_PIPELINE = 0;
constexpr int64_t BALANCED_PIPELINE = 1 << 0;
constexpr int64_t FULL_PIPELINE = 1 << 1;
constexpr int64_t REG_M = 1 << 6;
constexpr int64_t REG_P = 1 << 8;

typedef std::complex<ap_int<18>> A_t;
typedef std::complex<ap_int<18>> B_t;
typedef std::complex<ap_int<58>> C_t;
typedef C_t P_t;
struct R_t {
    A_t acout;
    B_t bcout;
    C_t pcout;
};

HLS_DSP_INLINE C_t product(const A_t& a, const B_t& b) {
    return C_t(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
}
HLS_DSP_INLINE C_t sum(const C_t& a, const C_t& b) { return C_t(a.real() + b.real(), a.imag() + b.imag()); }
template <int64_t flags> HLS_DSP_INLINE C_t mul(A_t a, B_t b) { return product(a, b); }
template <int64_t flags> HLS_DSP_INLINE C_t mul_add(A_t a, B_t b, C_t c) { return sum(product(a, b), c); }
template <int64_t flags>
class acc {
public:
    HLS_DSP_INLINE C_t mul_acc(A_t a, B_t b, bool init) { return p_ = sum(product(a, b), init ? C_t() : p_); }

private:
    C_t p_;
};
template <int64_t flags>
class cascade {
public:
    HLS_DSP_INLINE R_t mul_add(A_t a, B_t b, C_t c) {
        R_t result;
        result.acout = flags & FULL_PIPELINE ? a_ : a;
        result.bcout = flags & FULL_PIPELINE ? b_ : b;
        result.pcout = sum(product(a, result.bcout), c);
        a_ = a;
        b_ = b;
        return result;
    }

private:
    A_t a_;
    B_t b_;
};
} // namespace dspcplx
#undef HLS_DSP_OF_INTEGERS
#undef HLS_DSP_INLINE

} // namespace hls

#endif
