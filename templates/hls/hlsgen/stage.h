// A stage of a streaming kernel: marks the begin of each iteration of its loop, and starts it.
//
// In hardware an iteration's mark is nothing, and STAGE is a plain call in a dataflow region. C-simulation may replace
// this header by one that counts the iterations, or by one that runs all stages at once with bounded streams.
#ifndef HLSGEN_STAGE_H
#define HLSGEN_STAGE_H

#define HLSGEN_STAGE(run, ...) run(__VA_ARGS__)

namespace hlsgen {

inline void iteration_of(int) {
#pragma HLS inline
}

}  // namespace hlsgen

#endif
