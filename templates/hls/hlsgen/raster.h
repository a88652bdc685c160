// Where a sliding window stands in its raster of ROWS x STEPS positions a frame.
//
// At each position a group of pixels arrives, if the position is one of the image's IN_ROWS x IN_STEPS; the frames
// follow each other without a gap. The output whose window is complete then belongs to a position LAG positions before,
// so it is counted on its own. Outputs stand in every STRIDE-th row, OUT_ROWS of them, and in the first OUT_STEPS
// steps.
#ifndef HLSGEN_RASTER_H
#define HLSGEN_RASTER_H

#include "counter.h"

namespace hlsgen {

template <int ROWS, int STEPS, int LAG, int IN_ROWS, int IN_STEPS, int OUT_ROWS, int OUT_STEPS, int STRIDE>
struct raster {
    limited_counter<ROWS, IN_ROWS> row;  // of the position that arrives
    limited_counter<STEPS, IN_STEPS> step;
    int frames;  // whose raster has not ended
    bool any;    // there is one
    limited_counter<ROWS, OUT_ROWS * STRIDE> out_row;  // of the position that an output may belong to
    limited_counter<STEPS, OUT_STEPS> out_step;
    counter<STRIDE> between;         // rows since the last one with outputs
    bool due;                        // none
    counter<(LAG > 0 ? LAG : 1)> lag;
    bool waits;  // the first output's position is still to come

    explicit raster(int count) : frames(count), any(count > 0), due(true), waits(LAG > 0) {}

    // A group of pixels arrives.
    bool arrives() const {
#pragma HLS inline
        return any && row.inside && step.inside;
    }
    // An output's window is complete.
    bool computes() const {
#pragma HLS inline
        return !waits && due && out_row.inside && out_step.inside;
    }
    void advance() {
#pragma HLS inline
        if (step.advance() && row.advance()) {
            any = frames > 1;
            --frames;
        }
        if (waits) {
            waits = !lag.advance();
        } else if (out_step.advance()) {
            const bool begins = out_row.advance();
            due = begins || between.last;
            if (begins) between.reset();
            else between.advance();
        }
    }
};

}  // namespace hlsgen

#endif
