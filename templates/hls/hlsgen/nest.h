// Counters of nested loops that a pipelined loop passes one step an iteration.
#ifndef HLSGEN_NEST_H
#define HLSGEN_NEST_H

namespace hlsgen {

template <int LOOPS>
struct nest {
    int digit[LOOPS];  // innermost first

    nest() {
#pragma HLS array_partition variable=digit complete
        for (int l = 0; l < LOOPS; ++l) {
#pragma HLS unroll
            digit[l] = 0;
        }
    }
    // Passes to the next step of loops of `sizes`, innermost first. Returns the loop that moved on, all loops within it
    // having begun anew; LOOPS if every one has.
    int advance(const int (&sizes)[LOOPS]) {
#pragma HLS inline
        int moved = LOOPS;
        bool ends = true;  // all loops so far
        for (int l = 0; l < LOOPS; ++l) {
#pragma HLS unroll
            const bool last = digit[l] == sizes[l] - 1;
            if (ends && !last) moved = l;
            if (ends) digit[l] = last ? 0 : digit[l] + 1;
            ends = ends && last;
        }
        return moved;
    }
};

}  // namespace hlsgen

#endif
