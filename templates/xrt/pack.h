// Frames between [C, H, W] as .npy files have them and the words of a kernel in DDR.
#ifndef HLSGEN_HOST_PACK_H
#define HLSGEN_HOST_PACK_H

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "interface.h"

namespace host {

// Calls visit(index of the element in [C, H, W], its first byte in DDR) for every element of a frame.
template <typename V>
void each_element(const layout &l, const V &visit) {
    std::size_t word = 0;
    const auto visit_word = [&](int c0, int y, int x0) {
        for (int p = 0; p < l.px && x0 + p < l.width; ++p) {
            for (int c = 0; c < l.ch; ++c) {
                visit((std::size_t(c0 + c) * l.height + y) * l.width + x0 + p, word + std::size_t(p * l.ch + c) * l.element_bytes);
            }
        }
        word += l.word_bytes;
    };
    if (l.planar) {
        for (int c0 = 0; c0 < l.channels; c0 += l.ch)
            for (int y = 0; y < l.height; ++y)
                for (int x0 = 0; x0 < l.width; x0 += l.px) visit_word(c0, y, x0);
    } else {
        for (int y = 0; y < l.height; ++y)
            for (int x0 = 0; x0 < l.width; x0 += l.px)
                for (int c0 = 0; c0 < l.channels; c0 += l.ch) visit_word(c0, y, x0);
    }
}

// The low `bits` of a code, its sign extended if T has one.
template <typename T>
T extended(T code, int bits) {
    typedef typename std::make_unsigned<T>::type plain;
    const int unused = 8 * int(sizeof(T)) - bits;
    return T(T(plain(plain(code) << unused)) >> unused);
}

template <typename T>
void pack_as(const tensor &t, const char *array, char *ddr, std::size_t frames) {
    for (std::size_t n = 0; n < frames; ++n, array += t.in_ddr.array_bytes(), ddr += t.in_ddr.frame_bytes()) {
        each_element(t.in_ddr, [&](std::size_t element, std::size_t at) { std::memcpy(ddr + at, array + element * sizeof(T), sizeof(T)); });
    }
}

template <typename T>
void unpack_as(const tensor &t, const char *ddr, char *array, std::size_t frames) {
    for (std::size_t n = 0; n < frames; ++n, array += t.in_ddr.array_bytes(), ddr += t.in_ddr.frame_bytes()) {
        each_element(t.in_ddr, [&](std::size_t element, std::size_t at) {
            T code;
            std::memcpy(&code, ddr + at, sizeof code);
            code = extended(code, t.bits);
            std::memcpy(array + element * sizeof(T), &code, sizeof code);
        });
    }
}

// Calls work with a zero of the integer type that holds an element of a .npy type; of float32 its bits.
template <typename W>
auto with_container(const std::string &type, const W &work) {
    const bool is_signed = type[1] == 'i';
    switch (type[2] - '0') {
        case 1: return is_signed ? work(std::int8_t()) : work(std::uint8_t());
        case 2: return is_signed ? work(std::int16_t()) : work(std::uint16_t());
        case 4: return is_signed ? work(std::int32_t()) : work(std::uint32_t());
        default: return is_signed ? work(std::int64_t()) : work(std::uint64_t());
    }
}

inline void pack(const tensor &t, const char *array, char *ddr, std::size_t frames) {
    with_container(t.type, [&](auto zero) { pack_as<decltype(zero)>(t, array, ddr, frames); });
}

inline void unpack(const tensor &t, const char *ddr, char *array, std::size_t frames) {
    with_container(t.type, [&](auto zero) { unpack_as<decltype(zero)>(t, ddr, array, frames); });
}

}  // namespace host

#endif
