// Frames between [C, H, W] as .npy files have them and the memory of a shared processor.
#ifndef HLSGEN_HOST_BLOCKS_H
#define HLSGEN_HOST_BLOCKS_H

#include "pack.h"

namespace host {

// Calls visit(index of the element in [C, H, W], its first byte in the memory) for every element of a frame that lies
// there. What lies beside them is padding, zero since the buffer was made.
template <typename V>
void each_in_blocks(const place &p, const layout &l, const V &visit) {
    const int blocks = (p.height + p.rows - 1) / p.rows;
    for (int c = 0; c < p.channels; ++c) {
        const int channel = c / p.columns, moved = c % p.columns;
        for (int y = 0; y < p.height; ++y) {
            const std::size_t row = (std::size_t(c / p.lanes) * blocks + y / p.rows) * p.width * p.rows + y % p.rows;
            for (int x = 0; x < p.width; ++x) {
                const int column = p.columns == 1 ? x : x * p.stride + moved * p.dilation - p.left;
                if (column < 0 || column >= l.width) continue;
                const std::size_t word = row + std::size_t(x) * p.rows;
                visit((std::size_t(channel) * l.height + y) * l.width + column, (word * p.lanes + c % p.lanes) * p.element_bytes);
            }
        }
    }
}

// A frame's way into the memory, whose elements may be wider than those of its type.
inline void pack_blocks(const place &p, const tensor &t, const char *array, char *memory, std::size_t frames) {
    with_bits(p.element_bytes, [&](auto wide) {
        for (std::size_t n = 0; n < frames; ++n, array += t.in_ddr.array_bytes(), memory += p.frame_bytes()) {
            each_in_blocks(p, t.in_ddr, [&](std::size_t element, std::size_t at) {
                wide = decltype(wide)(code_of(t.type, array + element * t.type.bytes()));
                std::memcpy(memory + at, &wide, sizeof wide);
            });
        }
    });
}

// And back: the low bits are the code.
inline void unpack_blocks(const place &p, const tensor &t, const char *memory, char *array, std::size_t frames) {
    with_bits(t.type.bytes(), [&](auto code) {
        for (std::size_t n = 0; n < frames; ++n, array += t.in_ddr.array_bytes(), memory += p.frame_bytes()) {
            each_in_blocks(p, t.in_ddr, [&](std::size_t element, std::size_t at) {
                code = decltype(code)(extended(bits_at(memory + at, p.element_bytes), t.bits, t.type.is_signed()));
                std::memcpy(array + element * sizeof code, &code, sizeof code);
            });
        }
    });
}

}  // namespace host

#endif
