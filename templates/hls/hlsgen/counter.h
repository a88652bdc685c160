// Counters that a pipelined loop passes one step an iteration, as narrow as their values.
//
// An iteration must not add, then compare, then choose: in one cycle that is a long chain, and a counter's next value
// cannot wait. So each counter keeps in a register whether it is at its last value. The comparison that sets the
// register stands beside the addition, not behind it, and in a nest of loops what moves on follows from these bits alone:
//
//     if (fold.advance() && group.advance()) row.advance();
#ifndef HLSGEN_COUNTER_H
#define HLSGEN_COUNTER_H

#include <ap_int.h>

namespace hlsgen {

// Bits that `values` different values need.
constexpr int bits_for(long long values) { return values <= 2 ? 1 : 1 + bits_for((values + 1) / 2); }

// 0, 1 .. SIZE - 1 and again.
template <int SIZE>
struct counter {
    static_assert(SIZE > 0, "counter: it has at least one value");
    typedef ap_uint<bits_for(SIZE)> value_t;

    value_t value;
    bool last;  // value is SIZE - 1

    counter() : value(0), last(SIZE == 1) {}

    operator int() const {
#pragma HLS inline
        return value.to_int();
    }
    void reset() {
#pragma HLS inline
        value = 0;
        last = SIZE == 1;
    }
    // To the next value; true if that is 0, the loop having ended.
    bool advance() {
#pragma HLS inline
        const bool ends = last;
        last = SIZE == 1 || value == value_t(SIZE == 1 ? 0 : SIZE - 2);
        value = ends ? value_t(0) : value_t(value + 1);
        return ends;
    }
};

}  // namespace hlsgen

#endif
