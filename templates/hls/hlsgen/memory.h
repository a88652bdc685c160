// On-chip memories with one read and one write port, and conflict-free access to several of them at once.
//
// C-simulation can replace this header by one whose memories record every access and fail when an
// iteration asks a memory for more ports than it has; the kernel's source stays the same.
#ifndef HLSGEN_MEMORY_H
#define HLSGEN_MEMORY_H

#include <ap_int.h>

#include "hlsgen/counter.h"

namespace hlsgen {

// A memory of DEPTH words, none of which is read sooner than DISTANCE iterations after its write. In hardware a plain
// array: storage, partitioning and the promise of the distance are the user's pragmas.
template <typename T, int DEPTH, int DISTANCE = 1>
using ram = T[DEPTH];

// One access of an iteration to BANKS memories of DEPTH words: where it goes, and whether it takes place.
template <int BANKS, int DEPTH>
struct access {
    bool enable;
    ap_uint<bits_for(BANKS)> bank;
    ap_uint<bits_for(DEPTH)> address;
};

// Reads N elements that lie in N different banks. Written from the banks' side, so that each bank has one
// read whatever the addresses are; a read that is not enabled gives any value.
template <int N, int BANKS, int DEPTH, typename T>
inline void read_banks(const T (&memory)[BANKS][DEPTH], const access<BANKS, DEPTH> (&wanted)[N], T (&value)[N]) {
#pragma HLS inline
    T port[BANKS];
#pragma HLS array_partition variable=port complete
    for (int b = 0; b < BANKS; ++b) {
#pragma HLS unroll
        ap_uint<bits_for(DEPTH)> address = 0;
        for (int n = 0; n < N; ++n) {
#pragma HLS unroll
            if (wanted[n].enable && wanted[n].bank == b) address = wanted[n].address;
        }
        port[b] = memory[b][address];
    }
    for (int n = 0; n < N; ++n) {
#pragma HLS unroll
        value[n] = port[wanted[n].bank];
    }
}

// Neighbouring elements, of which each bank takes one at most: element n, below `count`, goes to bank
// (first + n) mod BANKS, at `address` or, from element `carry` on, at the address after it.
template <int BANKS, int DEPTH>
struct run {
    ap_uint<bits_for(BANKS)> first;
    ap_uint<bits_for(BANKS + 1)> count;
    ap_uint<bits_for(BANKS + 1)> carry;
    ap_uint<bits_for(DEPTH)> address;
};

// Which element of a run is a bank's: seen from there they go round by `first`, so that a subtraction tells.
template <int BANKS, int DEPTH>
inline ap_uint<bits_for(BANKS)> element_of(int bank, const run<BANKS, DEPTH> &place) {
#pragma HLS inline
    const ap_uint<bits_for(BANKS)> from = place.first <= bank ? bank : bank + BANKS;  // the low bits are enough
    return from - place.first;
}

// Moves what stands at one bank for each to the bank `by` after it, round the banks; by a power of two at a time, which
// takes fewer choices than one of BANKS for every bank.
template <int BANKS, typename T>
inline void turn_on(const ap_uint<bits_for(BANKS)> &by, const T (&from)[BANKS], T (&to)[BANKS]) {
#pragma HLS inline
    constexpr int STEPS = bits_for(BANKS);
    T turned[STEPS + 1][BANKS];
#pragma HLS array_partition variable=turned complete dim=0
    for (int b = 0; b < BANKS; ++b) {
#pragma HLS unroll
        turned[0][b] = from[b];
    }
    for (int k = 0; k < STEPS; ++k) {
#pragma HLS unroll
        const bool turns = by[k];
        for (int b = 0; b < BANKS; ++b) {
#pragma HLS unroll
            turned[k + 1][(b + (1 << k)) % BANKS] = turns ? turned[k][b] : turned[k][(b + (1 << k)) % BANKS];
        }
    }
    for (int b = 0; b < BANKS; ++b) {
#pragma HLS unroll
        to[b] = turned[STEPS][b];
    }
}

// The way back: from the bank `by` after each.
template <int BANKS, typename T>
inline void turn_back(const ap_uint<bits_for(BANKS)> &by, const T (&from)[BANKS], T (&to)[BANKS]) {
#pragma HLS inline
    T there[BANKS], back[BANKS];
#pragma HLS array_partition variable=there complete
#pragma HLS array_partition variable=back complete
    for (int b = 0; b < BANKS; ++b) {
#pragma HLS unroll
        there[b] = from[BANKS - 1 - b];
    }
    turn_on<BANKS>(by, there, back);
    for (int b = 0; b < BANKS; ++b) {
#pragma HLS unroll
        to[b] = back[BANKS - 1 - b];
    }
}

// Reads N elements, each enabled one from the bank `after[n]` banks after `first`, round the banks: as read_banks, of
// elements whose banks, seen from the first one's, are always the same.
template <int N, int BANKS, int DEPTH, typename T>
inline void read_turned(const T (&memory)[BANKS][DEPTH], const ap_uint<bits_for(BANKS)> &first, const int (&after)[N],
                        const access<BANKS, DEPTH> (&wanted)[N], T (&value)[N]) {
#pragma HLS inline
    typedef ap_uint<bits_for(DEPTH)> address_t;
    address_t address[BANKS], of_bank[BANKS];
    T port[BANKS], turned[BANKS];
#pragma HLS array_partition variable=address complete
#pragma HLS array_partition variable=of_bank complete
#pragma HLS array_partition variable=port complete
#pragma HLS array_partition variable=turned complete
    for (int b = 0; b < BANKS; ++b) {
#pragma HLS unroll
        address[b] = 0;
        for (int n = 0; n < N; ++n) {
#pragma HLS unroll
            if (after[n] == b && wanted[n].enable) address[b] = wanted[n].address;
        }
    }
    turn_on<BANKS>(first, address, of_bank);
    for (int b = 0; b < BANKS; ++b) {
#pragma HLS unroll
        port[b] = memory[b][of_bank[b]];
    }
    turn_back<BANKS>(first, port, turned);
    for (int n = 0; n < N; ++n) {
#pragma HLS unroll
        value[n] = turned[after[n]];
    }
}

// Gives each bank the element of the run that is its own, of N at most; any where the run has none for it.
template <int N, int BANKS, int DEPTH, typename T>
inline void turn(const run<BANKS, DEPTH> &place, const T (&value)[N], T (&of_bank)[BANKS]) {
#pragma HLS inline
    static_assert(N <= BANKS, "turn: each bank takes one element at most");
    T from[BANKS];
#pragma HLS array_partition variable=from complete
    for (int b = 0; b < BANKS; ++b) {
#pragma HLS unroll
        from[b] = value[b < N ? b : 0];
    }
    turn_on<BANKS>(place.first, from, of_bank);
}

// Writes a run, each bank its own element, if the memory `takes` it.
template <int BANKS, int DEPTH, typename T>
inline void write_run(bool takes, T (&memory)[BANKS][DEPTH], const run<BANKS, DEPTH> &place,
                      const T (&of_bank)[BANKS]) {
#pragma HLS inline
    const ap_uint<bits_for(DEPTH)> carried = place.address + 1;
    for (int b = 0; b < BANKS; ++b) {
#pragma HLS unroll
        const ap_uint<bits_for(BANKS)> element = element_of(b, place);
        if (takes && element < place.count) memory[b][element >= place.carry ? carried : place.address] = of_bank[b];
    }
}

}  // namespace hlsgen

#endif
