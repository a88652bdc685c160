// Sums to results: bias, binary point, rounding, limits; then, if the task says so, an addition or a slope and these again.
#ifndef HLSGEN_FINISH_H
#define HLSGEN_FINISH_H

#include <hls_stream.h>

#include "load.h"

namespace processor {

// How a remainder of half a step or more is rounded, in bits of `rounding`.
enum {
    NEAREST = 1,        // halves decide by the next three; without it remainders are dropped, towards minus infinity
    HALF_UP_ABOVE = 2,  // halves go up where the number is 0 or more
    HALF_UP_BELOW = 4,  // halves go up where the number is below 0
    HALF_UP_ODD = 8,    // halves go up where the whole part is odd
    TO_ZERO = 16        // remainders are dropped towards zero
};

struct rounding_t {
    bool nearest, half_up_above, half_up_below, half_up_odd, to_zero;

    explicit rounding_t(int bits) {
#pragma HLS inline
        nearest = bits & NEAREST;
        half_up_above = bits & HALF_UP_ABOVE;
        half_up_below = bits & HALF_UP_BELOW;
        half_up_odd = bits & HALF_UP_ODD;
        to_zero = bits & TO_ZERO;
    }
};

// A number with FRACTION bits behind the point as a whole one. A remainder up to `tie` counts as none, beside a half too.
template <int BITS>
inline ap_int<BITS - FRACTION + 1> rounded(const ap_int<BITS> &value, const rounding_t &way,
                                           const ap_uint<FRACTION> &tie) {
#pragma HLS inline
    const ap_int<BITS - FRACTION> whole = value >> FRACTION;
    const bool half = value[FRACTION - 1];
    const ap_uint<FRACTION - 1> below = value.range(FRACTION - 2, 0);
    const bool more = below > tie;
    const bool negative = value[BITS - 1];
    const bool half_up = negative ? way.half_up_below : way.half_up_above;
    const bool odd = way.half_up_odd && whole[0];
    const bool up = way.nearest ? half && (more || half_up || odd) : way.to_zero && negative && (half || more);
    return whole + ap_uint<1>(up);
}

template <int BITS>
inline ap_int<RESULT> limited(const ap_int<BITS> &value, const ap_int<RESULT> &low, const ap_int<RESULT> &high) {
#pragma HLS inline
    if (value < low) return low;
    if (value > high) return high;
    return value;
}

// What is done to each sum of a task.
struct finishing {
    ap_int<FACTOR> factor, slope, second_factor, second_slope, residual;
    ap_int<32> offset;
    ap_uint<FRACTION> tie;
    rounding_t way, second_way;
    ap_int<RESULT> low, high, second_low, second_high;
    bool early, again, residual_signed;

    explicit finishing(const task_t &task)
        : factor(task.factor),
          slope(task.slope),
          second_factor(task.second_factor),
          second_slope(task.second_slope),
          residual(task.residual_factor),
          offset(task.offset),
          tie(task.tie),
          way(task.rounding),
          second_way(task.second_rounding),
          low(task.low),
          high(task.high),
          second_low(task.second_low),
          second_high(task.second_high),
          early(task.early),
          again(task.second),
          residual_signed(task.residual_signed) {}

    ap_uint<ACTIVATION> result(const ap_int<SUM> &sum, const ap_int<BIAS> &bias,
                               const ap_uint<ACTIVATION> &added) const {
#pragma HLS inline
        const bool sign = residual_signed && added[ACTIVATION - 1];
        const ap_uint<ACTIVATION + 1> other_bits = (ap_uint<ACTIVATION + 1>(sign) << ACTIVATION) | added;
        const ap_int<ACTIVATION + 1> other = other_bits;
        const ap_int<ACTIVATION + 1 + FACTOR> joining = other * residual;
        const ap_int<SUM> biased = sum + bias;
        const ap_int<FACTOR> by = biased[SUM - 1] ? slope : factor;
        ap_int<SUM + FACTOR> scaled = biased * by + offset;
        if (early) scaled += joining;
        const ap_int<RESULT> first = limited(rounded(scaled, way, tie), low, high);
        const ap_int<FACTOR> again_by = first[RESULT - 1] ? second_slope : second_factor;
        ap_int<RESULT + FACTOR + 1> both = first * again_by;
        if (!early) both += joining;
        const ap_int<RESULT> then = limited(rounded(both, second_way, ap_uint<FRACTION>(0)), second_low, second_high);
        return again ? then : first;
    }
};

// Every position gives the sums of ROWS rows at once; they leave a word at a time.
inline void finish(hls::stream<sums_t> (&sums)[ROWS], hls::stream<beat_t> &biases, hls::stream<word_t> &added,
                   hls::stream<word_t> &results, const task_t task) {
    const finishing how(task);
    const bool adds = task.residual;
    for (int sequel = 0; sequel < task.frame_bands; ++sequel) {
#pragma HLS loop_tripcount min=1 max=MOST_STEPS
        for (int band = 0; band < task.bands; ++band) {
#pragma HLS loop_tripcount min=1 max=MOST_STEPS
            const int words = output_blocks(task, band) * task.out_columns * task.frames * ROWS;
            for (int group = 0; group < task.out_groups; ++group) {
#pragma HLS loop_tripcount min=1 max=MOST_STEPS
                beat_t bias[BIAS_BEATS];
#pragma HLS array_partition variable=bias complete
                biases: for (int i = 0; i < BIAS_BEATS; ++i) {
#pragma HLS pipeline II=1 style=flp
                    for (int b = 0; b + 1 < BIAS_BEATS; ++b) {
#pragma HLS unroll
                        bias[b] = bias[b + 1];
                    }
                    bias[BIAS_BEATS - 1] = biases.read();
                }
                sums_t waiting[ROWS];
#pragma HLS array_partition variable=waiting complete
                hlsgen::counter<ROWS> row;
                words: for (int i = 0; i < words; ++i) {
#pragma HLS pipeline II=1 style=flp
#pragma HLS loop_tripcount min=1 max=MOST_ITERATIONS
                    hlsgen::iteration_of(FINISH);
                    for (int r = 0; r < ROWS; ++r) {
#pragma HLS unroll
                        if (row.value == 0) waiting[r] = sums[r].read();
                        else if (r + 1 < ROWS) waiting[r] = waiting[r + 1];
                    }
                    word_t other = 0;
                    if (adds) other = added.read();
                    word_t word = 0;
                    for (int l = 0; l < LANES; ++l) {
#pragma HLS unroll
                        const ap_int<SUM> sum = waiting[0].range(l * SUM + SUM - 1, l * SUM);
                        constexpr int A_BEAT = BEAT / BIAS;
                        const int place = l % A_BEAT * BIAS;
                        const ap_int<BIAS> of_lane = bias[l / A_BEAT].range(place + BIAS - 1, place);
                        const ap_uint<ACTIVATION> code = other.range(l * ACTIVATION + ACTIVATION - 1, l * ACTIVATION);
                        word.range(l * ACTIVATION + ACTIVATION - 1, l * ACTIVATION) = how.result(sum, of_lane, code);
                    }
                    results.write(word);
                    row.advance();
                }
            }
        }
    }
}

}  // namespace processor

#endif
