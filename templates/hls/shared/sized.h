// Counters of loops whose ends run time knows, as narrow as their values.
#ifndef HLSGEN_SIZED_H
#define HLSGEN_SIZED_H

#include <ap_int.h>

namespace processor {

// 0, 1 .. count - 1 and again. Whether it stands at its last value is a register of its own, as in hlsgen/counter.h.
template <int BITS>
struct sized {
    ap_uint<BITS> before_last, value;
    bool single, last;

    explicit sized(int count) : before_last(count - 2), value(0), single(count <= 1), last(count <= 1) {}

    // To the next value; true if that is 0, the loop having ended.
    bool advance() {
#pragma HLS inline
        const bool ends = last;
        last = single || (!ends && value == before_last);
        value = ends ? ap_uint<BITS>(0) : ap_uint<BITS>(value + 1);
        return ends;
    }
};

// As many steps as run time says; none are left at the begin.
template <int BITS>
struct remaining {
    ap_uint<BITS> left;
    bool some;

    remaining() : left(0), some(false) {}

    void start(int steps) {
#pragma HLS inline
        left = steps;
        some = steps != 0;
    }
    void step() {
#pragma HLS inline
        some = left != 1;
        left = left - 1;
    }
};

}  // namespace processor

#endif
