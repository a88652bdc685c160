// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// hls::numeric_limits: the extremes of built-in, ap_ and half numbers. fp_struct: the parts of a floating-point number.
// reg: a value, which the tool puts behind a register: here it is a wire.
#ifndef HLSGEN_SCHEDULE_X_HLS_UTILS_H
#define HLSGEN_SCHEDULE_X_HLS_UTILS_H

#include <limits>

#include "../ap_fixed.h"

namespace hls {

template <class T_> class numeric_limits : public std::numeric_limits<T_> {};

template <class T_> class exact_limits {
public:
    static constexpr bool is_specialized = true;
    static constexpr bool is_signed = T_::sign_flag;
    static AP_INLINE constexpr T_ max() { return ap_exact::made<T_>(bits(T_::width - T_::sign_flag)); }
    static AP_INLINE constexpr T_ min() { return ap_exact::made<T_>(T_::sign_flag ? ~bits(T_::width - 1) : ap_exact::ubits_t<T_::width>(0)); }
    static AP_INLINE constexpr T_ lowest() { return min(); }
    static AP_INLINE constexpr T_ epsilon() { return ap_exact::made<T_>(1); }

private:
    // the low `count` bits; 0 of them, too
    static AP_INLINE constexpr ap_exact::ubits_t<T_::width> bits(int count) {
        return count == 0 ? ap_exact::ubits_t<T_::width>(0)
                          : static_cast<ap_exact::ubits_t<T_::width>>(static_cast<ap_exact::ubits_t<T_::width>>(-1) >> (T_::width - count));
    }
};
template <int W_> class numeric_limits<ap_int<W_>> : public exact_limits<ap_int<W_>> {};
template <int W_> class numeric_limits<ap_uint<W_>> : public exact_limits<ap_uint<W_>> {};
template <int W_, int I_, ap_q_mode Q_, ap_o_mode O_, int N_>
class numeric_limits<ap_fixed<W_, I_, Q_, O_, N_>> : public exact_limits<ap_fixed<W_, I_, Q_, O_, N_>> {};
template <int W_, int I_, ap_q_mode Q_, ap_o_mode O_, int N_>
class numeric_limits<ap_ufixed<W_, I_, Q_, O_, N_>> : public exact_limits<ap_ufixed<W_, I_, Q_, O_, N_>> {};
template <> class numeric_limits<half> {
public:
    static AP_INLINE constexpr half max() { return half(65504.0f); }
    static AP_INLINE constexpr half min() { return half(0.00006103515625f); }
    static AP_INLINE constexpr half lowest() { return half(-65504.0f); }
    static AP_INLINE constexpr half epsilon() { return half(0.0009765625f); }
};

}  // namespace hls

template <class T_>
T_ reg(T_ value) {
    return value;
}

// The sign, exponent and fraction of a floating-point number.
template <class T_, class BITS_, int EXPONENT_, int FRACTION_, int BIAS_>
struct hls_fp_parts {
    static const int EXP_BITS = EXPONENT_, SIG_BITS = FRACTION_, BITS = 1 + EXPONENT_ + FRACTION_, BIAS = BIAS_;
    static const int EXP_INFNAN = (1 << EXPONENT_) - 1;
    typedef ap_uint<1 + EXPONENT_ + FRACTION_> data_type;
    typedef ap_uint<FRACTION_> sig_type;
    typedef ap_uint<EXPONENT_> exp_type;
    typedef ap_uint<1> sgn_type;
    sig_type sig;
    exp_type exp;
    sgn_type sign;

    hls_fp_parts(T_ number) { set(data_type(__builtin_bit_cast(BITS_, number))); }
    hls_fp_parts(data_type bits) { set(bits); }
    hls_fp_parts(sgn_type s, exp_type e, sig_type f) : sig(f), exp(e), sign(s) {}
    data_type data() const { return (data_type(sign) << (EXPONENT_ + FRACTION_)) | (data_type(exp) << FRACTION_) | data_type(sig); }
    int expv() const { return int(exp) - BIAS_; }
    bool __signbit() const { return sign == 1; }
    ap_ufixed<FRACTION_ + 1, 1> mantissa() const {
        ap_ufixed<FRACTION_ + 1, 1> found = 0;
        found.range(FRACTION_ - 1, 0) = sig;
        found[FRACTION_] = exp != 0;
        return found;
    }
    void set_mantissa(const ap_ufixed<FRACTION_ + 1, 1>& whole) { sig = whole.range(FRACTION_ - 1, 0); }
    T_ to_ieee() const { return __builtin_bit_cast(T_, static_cast<BITS_>(data().to_uint64())); }
    float to_float() const { return static_cast<float>(to_ieee()); }
    double to_double() const { return static_cast<double>(to_ieee()); }
    half to_half() const { return half(static_cast<float>(to_ieee())); }

private:
    void set(data_type bits) {
        sig = bits.range(FRACTION_ - 1, 0);
        exp = bits.range(EXPONENT_ + FRACTION_ - 1, FRACTION_);
        sign = bits[EXPONENT_ + FRACTION_];
    }
};
template <class T_> struct fp_struct;
template <> struct fp_struct<float> : hls_fp_parts<float, unsigned, 8, 23, 127> {
    using hls_fp_parts::hls_fp_parts;
};
template <> struct fp_struct<double> : hls_fp_parts<double, unsigned long long, 11, 52, 1023> {
    using hls_fp_parts::hls_fp_parts;
};
template <> struct fp_struct<half> : hls_fp_parts<half, unsigned short, 5, 10, 15> {
    using hls_fp_parts::hls_fp_parts;
};

#endif
