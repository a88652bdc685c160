// Where a sliding window stands in its raster of ROWS x STEPS positions a frame.
//
// At each position a group of pixels arrives; the frames follow each other without a gap. The output whose window is
// complete then belongs to a position LAG positions before, so it is counted on its own.
#ifndef HLSGEN_RASTER_H
#define HLSGEN_RASTER_H

namespace hlsgen {

template <int ROWS, int STEPS, int LAG>
struct raster {
    int row, step;          // of the position that arrives
    int out_row, out_step;  // of the position that an output may belong to
    int frames;             // whose raster has not ended
    int wait;               // positions until the first output's

    explicit raster(int count) : row(0), step(0), out_row(0), out_step(0), frames(count), wait(LAG) {}

    bool within(int height, int steps) const {
#pragma HLS inline
        return frames > 0 && row < height && step < steps;
    }
    void advance() {
#pragma HLS inline
        if (++step == STEPS) {
            step = 0;
            if (++row == ROWS) {
                row = 0;
                --frames;
            }
        }
        if (wait > 0) {
            --wait;
        } else if (++out_step == STEPS) {
            out_step = 0;
            if (++out_row == ROWS) out_row = 0;
        }
    }
};

}  // namespace hlsgen

#endif
