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

// T: of an element in .npy files, M: in the memory, which may be wider. Of float32 both are its bits.
template <typename T, typename M>
void pack_blocks_as(const place &p, const tensor &t, const char *array, char *memory, std::size_t frames) {
    for (std::size_t n = 0; n < frames; ++n, array += t.in_ddr.array_bytes(), memory += p.frame_bytes()) {
        each_in_blocks(p, t.in_ddr, [&](std::size_t element, std::size_t at) {
            T code;
            std::memcpy(&code, array + element * sizeof(T), sizeof code);
            const M wide = M(code);
            std::memcpy(memory + at, &wide, sizeof wide);
        });
    }
}

template <typename T, typename M>
void unpack_blocks_as(const place &p, const tensor &t, const char *memory, char *array, std::size_t frames) {
    for (std::size_t n = 0; n < frames; ++n, array += t.in_ddr.array_bytes(), memory += p.frame_bytes()) {
        each_in_blocks(p, t.in_ddr, [&](std::size_t element, std::size_t at) {
            M wide;
            std::memcpy(&wide, memory + at, sizeof wide);
            const T code = extended(T(wide), t.bits);
            std::memcpy(array + element * sizeof(T), &code, sizeof code);
        });
    }
}

inline void pack_blocks(const place &p, const tensor &t, const char *array, char *memory, std::size_t frames) {
    with_container(t.type, [&](auto zero) {
        if (p.element_bytes == 1) pack_blocks_as<decltype(zero), std::int8_t>(p, t, array, memory, frames);
        else if (p.element_bytes == 2) pack_blocks_as<decltype(zero), std::int16_t>(p, t, array, memory, frames);
        else pack_blocks_as<decltype(zero), std::int32_t>(p, t, array, memory, frames);
    });
}

inline void unpack_blocks(const place &p, const tensor &t, const char *memory, char *array, std::size_t frames) {
    with_container(t.type, [&](auto zero) {
        if (p.element_bytes == 1) unpack_blocks_as<decltype(zero), std::int8_t>(p, t, memory, array, frames);
        else if (p.element_bytes == 2) unpack_blocks_as<decltype(zero), std::int16_t>(p, t, memory, array, frames);
        else unpack_blocks_as<decltype(zero), std::int32_t>(p, t, memory, array, frames);
    });
}

}  // namespace host

#endif
