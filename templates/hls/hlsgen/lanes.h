// A row of N neighbouring elements that move together, and how they are packed into a memory word.
#ifndef HLSGEN_LANES_H
#define HLSGEN_LANES_H

#include <ap_int.h>

#include "hlsgen/static.h"

namespace hlsgen {

template <typename T, int N>
struct lanes {
    T lane[N];

    // Copied element by element: Vitis HLS takes structs apart, and cannot do so with every copy of a whole one.
    lanes() = default;
    lanes(const lanes &other) {
#pragma HLS inline
        copy(other);
    }
    lanes &operator=(const lanes &other) {
#pragma HLS inline
        copy(other);
        return *this;
    }

private:
    void copy(const lanes &other) {
#pragma HLS inline
        for (int l = 0; l < N; ++l) {
#pragma HLS unroll
            lane[l] = other.lane[l];
        }
    }
};

// Bits of an element.
template <typename T>
struct width_of {
    static constexpr int BITS = T::width;
};

template <>
struct width_of<float> {
    static constexpr int BITS = 32;
};

// The bits of an element. Fixed point: its code. float: IEEE 754.
template <int BITS, typename T>
inline ap_uint<BITS> bits_of(const T &value) {
#pragma HLS inline
    return value.range(BITS - 1, 0);
}

template <int BITS, typename T>
inline void set_bits(T &value, const ap_uint<BITS> &bits) {
#pragma HLS inline
    value.range(BITS - 1, 0) = bits;
}

union float_bits {
    float value;
    unsigned int bits;
};

template <int BITS>
inline ap_uint<BITS> bits_of(const float &value) {
#pragma HLS inline
    float_bits both;
    both.value = value;
    return both.bits;
}

template <int BITS>
inline void set_bits(float &value, const ap_uint<BITS> &bits) {
#pragma HLS inline
    float_bits both;
    both.bits = bits.to_uint();
    value = both.value;
}

// The element whose code is `code`, of BITS bits.
template <int BITS, typename T>
inline void set_code(T &value, long long code) {
#pragma HLS inline
    const ap_uint<BITS> bits = code;
    value = 0;
    set_bits<BITS>(value, bits);
}

template <typename T, int N>
inline void clear(lanes<T, N> &word) {
#pragma HLS inline
    for (int l = 0; l < N; ++l) {
#pragma HLS unroll
        word.lane[l] = 0;
    }
}

// Lane l of N elements of BITS bits lies at bit l * SLOT of the word; the bits between are zero.
template <int BITS, int SLOT, int N, typename T>
inline lanes<T, N> unpack(const ap_uint<SLOT * N> &word) {
#pragma HLS inline
    lanes<T, N> out;
    for (int l = 0; l < N; ++l) {
#pragma HLS unroll
        const ap_uint<BITS> bits = word.range(l * SLOT + BITS - 1, l * SLOT);
        set_bits<BITS>(out.lane[l], bits);
    }
    return out;
}

template <int BITS, int SLOT, int N, typename T>
inline ap_uint<SLOT * N> pack(const lanes<T, N> &in) {
#pragma HLS inline
    ap_uint<SLOT * N> word = 0;
    for (int l = 0; l < N; ++l) {
#pragma HLS unroll
        word.range(l * SLOT + BITS - 1, l * SLOT) = bits_of<BITS>(in.lane[l]);
    }
    return word;
}

}  // namespace hlsgen

#endif
