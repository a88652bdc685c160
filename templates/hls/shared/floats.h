// Numbers in floating point as words have them: 32 bits a lane.
#ifndef HLSGEN_FLOATS_H
#define HLSGEN_FLOATS_H

#include "hlsgen/lanes.h"
#include "processor.h"

namespace processor {

typedef ap_uint<ACTIVATION> number_t;  // the bits of a float

constexpr unsigned MINUS_INFINITY = 0xff800000u;

inline float as_float(const number_t &bits) {
#pragma HLS inline
    float value;
    hlsgen::set_bits<ACTIVATION>(value, bits);
    return value;
}

inline number_t as_bits(float value) {
#pragma HLS inline
    return hlsgen::bits_of<ACTIVATION>(value);
}

template <int BITS>
inline number_t lane_of(const ap_uint<BITS> &word, int lane) {
#pragma HLS inline
    return word.range(lane * ACTIVATION + ACTIVATION - 1, lane * ACTIVATION);
}

// Bits in the order of the numbers that they stand for: with the sign turned over, those below zero wholly.
inline number_t in_order(const number_t &bits) {
#pragma HLS inline
    const bool negative = bits[ACTIVATION - 1];
    const number_t sign = number_t(1) << (ACTIVATION - 1);
    return negative ? number_t(~bits) : number_t(bits ^ sign);
}

inline bool is_less(const number_t &a, const number_t &b) {
#pragma HLS inline
    return in_order(a) < in_order(b);
}

}  // namespace processor

#endif
