// Counters that a pipelined loop passes one step an iteration, as narrow as their values.
//
// What an iteration leaves for the next must be there within a cycle, and adding, then comparing the sum, then choosing
// by the comparison is a long chain. So a counter keeps in a register whether it stands at its last value. The
// comparison that sets the register lies beside the addition, not behind it, and in nested loops it follows from such
// registers alone which of them move on:
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
    explicit counter(int start) : value(start), last(start == SIZE - 1) {}

    operator int() const {
#pragma HLS inline
        return value.to_int();
    }
    void reset(int start = 0) {
#pragma HLS inline
        value = start;
        last = start == SIZE - 1;
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

// A counter whose value is the one register of a ring that is set. Whose turn it is among memories needs no comparison
// so, and no optimiser can make of SIZE writes in turn a single one at a place that only run time knows.
template <int SIZE>
struct ring {
    bool at[SIZE];

    ring() {
#pragma HLS array_partition variable=at complete
        reset();
    }
    void reset() {
#pragma HLS inline
        for (int n = 0; n < SIZE; ++n) {
#pragma HLS unroll
            at[n] = n == 0;
        }
    }
    bool advance() {
#pragma HLS inline
        const bool ends = at[SIZE - 1];
        for (int n = SIZE - 1; n > 0; --n) {
#pragma HLS unroll
            at[n] = at[n - 1];
        }
        at[0] = ends;
        return ends;
    }
};

// A counter that knows whether it stands below LIMIT.
template <int SIZE, int LIMIT>
struct limited_counter : counter<SIZE> {
    static_assert(LIMIT > 0, "limited_counter: 0 is below its limit");

    bool inside;

    limited_counter() : inside(true) {}

    bool advance() {
#pragma HLS inline
        inside = this->last || (inside && this->value != LIMIT - 1);
        return counter<SIZE>::advance();
    }
};

// value + step modulo LIMIT, of a value below LIMIT and a step of LIMIT at most.
template <int LIMIT, typename V>
inline V moved_on(const V &value, int step) {
#pragma HLS inline
    const V forth = step, back = LIMIT - step;
    return value >= back ? V(value - back) : V(value + forth);
}

// The same of a step that only run time knows, below LIMIT.
template <int LIMIT>
inline ap_uint<bits_for(LIMIT)> wrapped(const ap_uint<bits_for(LIMIT)> &value, const ap_uint<bits_for(LIMIT)> &step) {
#pragma HLS inline
    typedef ap_uint<bits_for(LIMIT) + 1> sum_t;
    const sum_t sum = value + step;
    return sum >= sum_t(LIMIT) ? sum_t(sum - sum_t(LIMIT)) : sum;
}

// 0, STRIDE, 2 * STRIDE .. modulo MODULUS: where the elements of a row lie that are MODULUS to a word.
template <int MODULUS, int STRIDE>
struct strided_counter {
    static_assert(STRIDE <= MODULUS, "strided_counter: a step leads to the next word at most");
    typedef ap_uint<bits_for(MODULUS)> value_t;

    value_t value;

    explicit strided_counter(int start = 0) : value(start) {}

    operator int() const {
#pragma HLS inline
        return value.to_int();
    }
    // To the next value, or where the row `ends` to `start`; true if the next value lies in the next word.
    bool advance(bool ends, int start) {
#pragma HLS inline
        const bool carries = value >= value_t(MODULUS - STRIDE);
        value = ends ? value_t(start) : moved_on<MODULUS>(value, STRIDE);
        return carries;
    }
};

// 0, 1 .. size - 1 and again, of a size that run time knows.
struct sized_counter {
    int size;
    int value;
    bool last;

    explicit sized_counter(int count) : size(count), value(0), last(count == 1) {}

    bool advance() {
#pragma HLS inline
        const bool ends = last;
        last = ends ? size == 1 : value == size - 2;
        value = ends ? 0 : value + 1;
        return ends;
    }
};

// As many steps as run time says, MOST or fewer.
template <int MOST>
struct countdown {
    ap_uint<bits_for(MOST + 1LL)> left;
    bool last;  // one is left

    countdown() : left(0), last(false) {}

    void start(int steps) {
#pragma HLS inline
        left = steps;
        last = steps == 1;
    }
    // Takes a step; true if it was the last one.
    bool advance() {
#pragma HLS inline
        const bool ends = last;
        last = left == 2;
        left = left - 1;
        return ends;
    }
};

// The counters of nested loops, innermost first.
template <int... SIZES>
struct nest;

template <>
struct nest<> {
    int advance() {
#pragma HLS inline
        return 0;
    }
};

template <int SIZE, int... OUTER>
struct nest<SIZE, OUTER...> {
    counter<SIZE> loop;
    nest<OUTER...> outer;

    // Returns the loop that moved on, all loops within it having begun anew; how many there are if every one has.
    int advance() {
#pragma HLS inline
        return loop.advance() ? 1 + outer.advance() : 0;
    }
};

}  // namespace hlsgen

#endif
