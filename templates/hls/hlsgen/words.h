// Words of several elements in on-chip memory, as plain bits.
//
// An array of structs would have to be packed, reshaped and bound to its storage by pragmas, all at once. These are
// arrays of ap_uint, several side by side where a word has more bits than that type. Partitioning and storage are the
// user's pragmas: dimension 1, the parts of a word, always apart.
#ifndef HLSGEN_WORDS_H
#define HLSGEN_WORDS_H

#include <ap_int.h>

#include "lanes.h"

namespace hlsgen {

constexpr int WIDEST_PART = 1024;  // bits, the most of an ap_uint

// A word of N elements is PARTS of LANES elements, the last one perhaps of fewer.
template <typename T, int N>
struct word_parts {
    static constexpr int BITS = width_of<T>::BITS;
    static constexpr int LANES = N * BITS <= WIDEST_PART ? N : WIDEST_PART / BITS;
    static constexpr int PARTS = (N + LANES - 1) / LANES;
    typedef ap_uint<LANES * BITS> part_t;
};

// DEPTH words of N elements.
template <typename T, int N, int DEPTH>
using word_memory = typename word_parts<T, N>::part_t[word_parts<T, N>::PARTS][DEPTH];

// M words as the one of all their elements.
template <typename T, int N, int M, typename PART, int PARTS>
inline void pack_words(const lanes<T, N> (&words)[M], PART (&parts)[PARTS]) {
#pragma HLS inline
    typedef word_parts<T, N * M> layout;
    static_assert(PARTS == layout::PARTS, "pack_words: the parts must be those of such words");
    for (int p = 0; p < PARTS; ++p) {
#pragma HLS unroll
        parts[p] = 0;
    }
    for (int l = 0; l < N * M; ++l) {
#pragma HLS unroll
        const int low = l % layout::LANES * layout::BITS;
        parts[l / layout::LANES].range(low + layout::BITS - 1, low) = bits_of<layout::BITS>(words[l / N].lane[l % N]);
    }
}

template <typename T, int N, int M, typename PART, int PARTS>
inline void unpack_words(const PART (&parts)[PARTS], lanes<T, N> (&words)[M]) {
#pragma HLS inline
    typedef word_parts<T, N * M> layout;
    static_assert(PARTS == layout::PARTS, "unpack_words: the parts must be those of such words");
    for (int l = 0; l < N * M; ++l) {
#pragma HLS unroll
        const int low = l % layout::LANES * layout::BITS;
        const ap_uint<layout::BITS> bits = parts[l / layout::LANES].range(low + layout::BITS - 1, low);
        set_bits<layout::BITS>(words[l / N].lane[l % N], bits);
    }
}

// The M words at an address. MEMORY: an array, or a hlsgen::ram.
template <typename MEMORY, int PARTS, typename T, int N, int M>
inline void read_words(const MEMORY (&memory)[PARTS], int address, lanes<T, N> (&words)[M]) {
#pragma HLS inline
    typename word_parts<T, N * M>::part_t parts[PARTS];
#pragma HLS array_partition variable=parts complete
    for (int p = 0; p < PARTS; ++p) {
#pragma HLS unroll
        parts[p] = memory[p][address];
    }
    unpack_words(parts, words);
}

template <typename MEMORY, int PARTS, typename T, int N, int M>
inline void write_words(MEMORY (&memory)[PARTS], int address, const lanes<T, N> (&words)[M]) {
#pragma HLS inline
    typename word_parts<T, N * M>::part_t parts[PARTS];
#pragma HLS array_partition variable=parts complete
    pack_words(words, parts);
    for (int p = 0; p < PARTS; ++p) {
#pragma HLS unroll
        memory[p][address] = parts[p];
    }
}

// DEPTH words of N elements in registers, each at its own, constant place: it takes an element or keeps what it has.
template <typename T, int N, int DEPTH>
using word_registers = T[DEPTH][N];

template <typename T, int ALL, int DEPTH, int N, int M>
inline void read_registers(const T (&registers)[DEPTH][ALL], int address, lanes<T, N> (&words)[M]) {
#pragma HLS inline
    static_assert(ALL == N * M, "read_registers: they must hold such words");
    // a choice among all registers, each read at a place of its own: registers[address][l] would be a memory
    for (int l = 0; l < ALL; ++l) {
#pragma HLS unroll
        T chosen = registers[0][l];
        for (int d = 1; d < DEPTH; ++d) {
#pragma HLS unroll
            const T other = registers[d][l];
            chosen = d == address ? other : chosen;
        }
        words[l / N].lane[l % N] = chosen;
    }
}

template <typename T, int ALL, int DEPTH, int N, int M>
inline void write_registers(T (&registers)[DEPTH][ALL], int address, const lanes<T, N> (&words)[M]) {
#pragma HLS inline
    static_assert(ALL == N * M, "write_registers: they must hold such words");
    for (int d = 0; d < DEPTH; ++d) {
#pragma HLS unroll
        for (int l = 0; l < ALL; ++l) {
#pragma HLS unroll
            if (d == address) registers[d][l] = words[l / N].lane[l % N];
        }
    }
}

// The one word at an address.
template <typename T, int N, typename MEMORY, int PARTS>
inline lanes<T, N> read_word(const MEMORY (&memory)[PARTS], int address) {
#pragma HLS inline
    lanes<T, N> words[1];
    read_words(memory, address, words);
    return words[0];
}

template <typename MEMORY, int PARTS, typename T, int N>
inline void write_word(MEMORY (&memory)[PARTS], int address, const lanes<T, N> &word) {
#pragma HLS inline
    const lanes<T, N> words[1] = {word};
    write_words(memory, address, words);
}

template <typename T, int N, int DEPTH>
inline lanes<T, N> read_register(const T (&registers)[DEPTH][N], int address) {
#pragma HLS inline
    lanes<T, N> words[1];
    read_registers(registers, address, words);
    return words[0];
}

template <typename T, int N, int DEPTH>
inline void write_register(T (&registers)[DEPTH][N], int address, const lanes<T, N> &word) {
#pragma HLS inline
    const lanes<T, N> words[1] = {word};
    write_registers(registers, address, words);
}

}  // namespace hlsgen

#endif
