// On-chip memories with one read and one write port, and conflict-free access to several of them at once.
//
// C-simulation can replace this header by one whose memories record every access and fail when an
// iteration asks a memory for more ports than it has; the kernel's source stays the same.
#ifndef HLSGEN_MEMORY_H
#define HLSGEN_MEMORY_H

namespace hlsgen {

// A memory of DEPTH words, none of which is read sooner than DISTANCE iterations after its write. In hardware a plain
// array: storage, partitioning and the promise of the distance are the user's pragmas.
template <typename T, int DEPTH, int DISTANCE = 1>
using ram = T[DEPTH];

// One access of an iteration: where it goes, and whether it takes place.
struct access {
    bool enable;
    int bank;
    int address;
};

// value modulo LIMIT for a value below 2 * LIMIT.
template <int LIMIT>
inline int wrap(int value) {
#pragma HLS inline
    return value >= LIMIT ? value - LIMIT : value;
}

// Reads N elements that lie in N different banks. Written from the banks' side, so that each bank has one
// read whatever the addresses are; a read that is not enabled gives any value.
template <int N, int BANKS, int DEPTH, typename T>
inline void read_banks(const T (&memory)[BANKS][DEPTH], const access (&wanted)[N], T (&value)[N]) {
#pragma HLS inline
    T port[BANKS];
#pragma HLS array_partition variable=port complete
    for (int b = 0; b < BANKS; ++b) {
#pragma HLS unroll
        int address = 0;
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

// Writes N elements to N different banks.
template <int N, int BANKS, int DEPTH, typename T>
inline void write_banks(T (&memory)[BANKS][DEPTH], const access (&wanted)[N], const T (&value)[N]) {
#pragma HLS inline
    for (int b = 0; b < BANKS; ++b) {
#pragma HLS unroll
        bool enable = false;
        int address = 0;
        T data = value[0];
        for (int n = 0; n < N; ++n) {
#pragma HLS unroll
            if (wanted[n].enable && wanted[n].bank == b) {
                enable = true;
                address = wanted[n].address;
                data = value[n];
            }
        }
        if (enable) memory[b][address] = data;
    }
}

}  // namespace hlsgen

#endif
