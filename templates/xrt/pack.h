// Frames between [C, H, W] as .npy files have them and the words of a kernel in DDR.
#ifndef HLSGEN_HOST_PACK_H
#define HLSGEN_HOST_PACK_H

#include <cstdint>
#include <cstring>

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

// The low `bits` of a code, its sign extended if it has one.
inline std::uint64_t extended(std::uint64_t code, int bits, bool is_signed) {
    const int unused = 64 - bits;
    return is_signed ? std::uint64_t(std::int64_t(code << unused) >> unused) : code << unused >> unused;
}

// Calls work with a zero of the unsigned integer of so many bytes, which holds the bits of an element.
template <typename W>
void with_bits(int bytes, const W &work) {
    if (bytes == 1) work(std::uint8_t());
    else if (bytes == 2) work(std::uint16_t());
    else if (bytes == 4) work(std::uint32_t());
    else work(std::uint64_t());
}

template <typename T>
std::uint64_t read_as(const char *at) {
    T bits;
    std::memcpy(&bits, at, sizeof bits);
    return bits;
}

// The integer of so many bytes that lies at a place.
inline std::uint64_t bits_at(const char *at, int bytes) {
    return bytes == 1   ? read_as<std::uint8_t>(at)
           : bytes == 2 ? read_as<std::uint16_t>(at)
           : bytes == 4 ? read_as<std::uint32_t>(at)
                        : read_as<std::uint64_t>(at);
}

// The code of an element of a .npy file, of floating point its bits.
inline long long code_of(const element_type &type, const char *element) {
    return (long long)extended(bits_at(element, type.bytes()), 8 * type.bytes(), type.is_signed());
}

inline void pack(const tensor &t, const char *array, char *ddr, std::size_t frames) {
    with_bits(t.type.bytes(), [&](auto zero) {
        for (std::size_t n = 0; n < frames; ++n, array += t.in_ddr.array_bytes(), ddr += t.in_ddr.frame_bytes()) {
            each_element(t.in_ddr, [&](std::size_t element, std::size_t at) {
                std::memcpy(ddr + at, array + element * sizeof zero, sizeof zero);
            });
        }
    });
}

inline void unpack(const tensor &t, const char *ddr, char *array, std::size_t frames) {
    with_bits(t.type.bytes(), [&](auto code) {
        for (std::size_t n = 0; n < frames; ++n, array += t.in_ddr.array_bytes(), ddr += t.in_ddr.frame_bytes()) {
            each_element(t.in_ddr, [&](std::size_t element, std::size_t at) {
                std::memcpy(&code, ddr + at, sizeof code);
                code = decltype(code)(extended(code, t.bits, t.type.is_signed()));
                std::memcpy(array + element * sizeof code, &code, sizeof code);
            });
        }
    });
}

}  // namespace host

#endif
