// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// hls::numeric_limits: the extremes of built-in, ap_ and half numbers.
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

#endif
