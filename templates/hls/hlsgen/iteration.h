// Marks the begin of each iteration of a pipelined loop. Nothing in hardware; C-simulation may replace this
// header by one that counts, so that the cycles the report states are the iterations the kernel makes.
#ifndef HLSGEN_ITERATION_H
#define HLSGEN_ITERATION_H

namespace hlsgen {

enum loop { LOOP_WEIGHTS, LOOP_FILL, LOOP_COMPUTE, LOOP_DRAIN, LOOP_LOAD, LOOP_STORE, LOOPS };

inline void iteration(loop) {
#pragma HLS inline
}

}  // namespace hlsgen

#endif
