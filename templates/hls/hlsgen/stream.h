// What joins the stages of a streaming kernel: forks, words of another format, and weights for their memories.
//
// Words hold PX neighbouring pixels x CH channels, channels innermost; of the same pixels come all channels, then the
// next pixels; each row of an image begins with a new word.
//
// Loops run over all frames of a call. Their trip counts, which only reports know, are those of one frame.
#ifndef HLSGEN_STREAM_H
#define HLSGEN_STREAM_H

#include <ap_int.h>
#include <hls_stream.h>

#include "lanes.h"
#include "stage.h"

namespace hlsgen {

// ---- Weights that arrive at run time ------------------------------------------------------------------------------

constexpr int WEIGHT_BEAT_BITS = 64;
typedef ap_uint<WEIGHT_BEAT_BITS> weight_beat;

constexpr int lanes_per_beat(int bits) { return WEIGHT_BEAT_BITS / bits; }

// A word of N elements of BITS bits from beats of WIDTH bits; of these every 64 bits hold as many elements as fit.
template <int BITS, int WIDTH, typename T, int N>
struct word_of_beats {
    static constexpr int PER_PART = lanes_per_beat(BITS);
    static constexpr int LANES = PER_PART * (WIDTH / WEIGHT_BEAT_BITS);
    static constexpr int BEATS = (N + LANES - 1) / LANES;
    lanes<T, LANES * BEATS> word;  // the last beat may be partly empty

    // Part `part` of `bits` is the next beat. They shift through the word: the first one ends in its first lanes.
    template <int PORT>
    void take(const ap_uint<PORT> &bits, int part) {
#pragma HLS inline
        for (int l = 0; l < LANES * (BEATS - 1); ++l) {
#pragma HLS unroll
            word.lane[l] = word.lane[l + LANES];
        }
        for (int l = 0; l < LANES; ++l) {
#pragma HLS unroll
            const int low = l / PER_PART * WEIGHT_BEAT_BITS + l % PER_PART * BITS;
            ap_uint<BITS> code = 0;
            for (int p = 0; p < PORT / WIDTH; ++p) {
#pragma HLS unroll
                if (p == part) code = bits.range(p * WIDTH + low + BITS - 1, p * WIDTH + low);
            }
            set_bits<BITS>(word.lane[LANES * (BEATS - 1) + l], code);
        }
    }
    lanes<T, N> value() const {
#pragma HLS inline
        lanes<T, N> all;
        for (int l = 0; l < N; ++l) {
#pragma HLS unroll
            all.lane[l] = word.lane[l];
        }
        return all;
    }
};

// Fills WORDS words of N elements of BITS bits, which lie tightly in beats; each word begins with a new beat.
template <int BITS, typename T, int N, int WORDS>
inline void load_words(hls::stream<weight_beat> &beats, lanes<T, N> (&words)[WORDS]) {
#pragma HLS inline
    constexpr int BEATS = word_of_beats<BITS, WEIGHT_BEAT_BITS, T, N>::BEATS;
    word_of_beats<BITS, WEIGHT_BEAT_BITS, T, N> word;
    clear(word.word);
    int beat = 0, at = 0;
    weights: for (long long i = 0; i < (long long)WORDS * BEATS; ++i) {
#pragma HLS pipeline II=1 style=flp
        word.take(beats.read(), 0);
        if (++beat == BEATS) {
            beat = 0;
            words[at] = word.value();
            ++at;
        }
    }
}

// ---- Forks ----------------------------------------------------------------------------------------------------------

// WORDS: of a frame.
template <int STAGE, int WORDS, typename W>
inline void fork(hls::stream<W> &in, hls::stream<W> &first, hls::stream<W> &second, int frames) {
#pragma HLS inline
    words: for (long long i = 0; i < (long long)frames * WORDS; ++i) {
#pragma HLS pipeline II=1 style=flp
#pragma HLS loop_tripcount min=WORDS max=WORDS
        iteration_of(STAGE);
        const W word = in.read();
        first.write(word);
        second.write(word);
    }
}

// WORDS: of a frame.
template <int STAGE, int WORDS, typename W>
inline void relay(hls::stream<W> &in, hls::stream<W> &out, int frames) {
#pragma HLS inline
    words: for (long long i = 0; i < (long long)frames * WORDS; ++i) {
#pragma HLS pipeline II=1 style=flp
#pragma HLS loop_tripcount min=WORDS max=WORDS
        iteration_of(STAGE);
        out.write(in.read());
    }
}

// ---- Words of another format ----------------------------------------------------------------------------------------

// RATIO words of CH channels become one of RATIO * CH, of the same PX pixels. WORDS: of an input frame.
template <int STAGE, int PX, int CH, int RATIO, int WORDS, typename T>
inline void gather_channels(hls::stream<lanes<T, PX * CH> > &in, hls::stream<lanes<T, PX * CH * RATIO> > &out,
                            int frames) {
#pragma HLS inline
    lanes<T, PX * CH * RATIO> wide;
    clear(wide);
    int part = 0;
    words: for (long long i = 0; i < (long long)frames * WORDS; ++i) {
#pragma HLS pipeline II=1 style=flp
#pragma HLS loop_tripcount min=WORDS max=WORDS
        iteration_of(STAGE);
        const lanes<T, PX * CH> word = in.read();
        for (int r = 0; r < RATIO; ++r) {
#pragma HLS unroll
            for (int l = 0; l < PX * CH; ++l) {
#pragma HLS unroll
                if (r == part) wide.lane[l / CH * CH * RATIO + r * CH + l % CH] = word.lane[l];
            }
        }
        if (++part == RATIO) {
            part = 0;
            out.write(wide);
        }
    }
}

// WORDS: of an output frame.
template <int STAGE, int PX, int CH, int RATIO, int WORDS, typename T>
inline void split_channels(hls::stream<lanes<T, PX * CH * RATIO> > &in, hls::stream<lanes<T, PX * CH> > &out,
                           int frames) {
#pragma HLS inline
    lanes<T, PX * CH * RATIO> wide;
    clear(wide);
    int part = 0;
    words: for (long long i = 0; i < (long long)frames * WORDS; ++i) {
#pragma HLS pipeline II=1 style=flp
#pragma HLS loop_tripcount min=WORDS max=WORDS
        iteration_of(STAGE);
        if (part == 0) wide = in.read();
        lanes<T, PX * CH> word;
        clear(word);
        for (int r = 0; r < RATIO; ++r) {
#pragma HLS unroll
            for (int l = 0; l < PX * CH; ++l) {
#pragma HLS unroll
                if (r == part) word.lane[l] = wide.lane[l / CH * CH * RATIO + r * CH + l % CH];
            }
        }
        out.write(word);
        if (++part == RATIO) part = 0;
    }
}

// Words of all channels: RATIO of LANES elements become one, a row's last perhaps of fewer. WORDS: of an input row;
// ROWS: of a frame.
template <int STAGE, int LANES, int RATIO, int WORDS, int ROWS, typename T>
inline void gather_pixels(hls::stream<lanes<T, LANES> > &in, hls::stream<lanes<T, LANES * RATIO> > &out, int frames) {
#pragma HLS inline
    constexpr int FRAME = ROWS * WORDS;
    lanes<T, LANES * RATIO> wide;
    clear(wide);
    int part = 0, column = 0;
    words: for (long long i = 0; i < (long long)frames * FRAME; ++i) {
#pragma HLS pipeline II=1 style=flp
#pragma HLS loop_tripcount min=FRAME max=FRAME
        iteration_of(STAGE);
        const lanes<T, LANES> word = in.read();
        for (int r = 0; r < RATIO; ++r) {
#pragma HLS unroll
            for (int l = 0; l < LANES; ++l) {
#pragma HLS unroll
                if (r == part) wide.lane[r * LANES + l] = word.lane[l];
            }
        }
        ++part;
        ++column;
        if (part == RATIO || column == WORDS) {
            part = 0;
            out.write(wide);
        }
        if (column == WORDS) column = 0;
    }
}

// WORDS: of an output row.
template <int STAGE, int LANES, int RATIO, int WORDS, int ROWS, typename T>
inline void split_pixels(hls::stream<lanes<T, LANES * RATIO> > &in, hls::stream<lanes<T, LANES> > &out, int frames) {
#pragma HLS inline
    constexpr int FRAME = ROWS * WORDS;
    lanes<T, LANES * RATIO> wide;
    clear(wide);
    int part = 0, column = 0;
    words: for (long long i = 0; i < (long long)frames * FRAME; ++i) {
#pragma HLS pipeline II=1 style=flp
#pragma HLS loop_tripcount min=FRAME max=FRAME
        iteration_of(STAGE);
        if (part == 0) wide = in.read();
        lanes<T, LANES> word;
        clear(word);
        for (int r = 0; r < RATIO; ++r) {
#pragma HLS unroll
            for (int l = 0; l < LANES; ++l) {
#pragma HLS unroll
                if (r == part) word.lane[l] = wide.lane[r * LANES + l];
            }
        }
        out.write(word);
        if (++part == RATIO) part = 0;
        if (++column == WORDS) {
            column = 0;
            part = 0;
        }
    }
}

// Any format to any other: two blocks of BLOCK pixels x CHANNELS channels, one filled while the other is emptied.
template <int STAGE, int CHANNELS, int WIDTH, int BLOCK, int PX_A, int CH_A, int PX_B, int CH_B, int ROWS, typename T>
inline void regroup(hls::stream<lanes<T, PX_A * CH_A> > &in, hls::stream<lanes<T, PX_B * CH_B> > &out, int frames) {
#pragma HLS inline
    constexpr int BLOCKS = ROWS * ((WIDTH + BLOCK - 1) / BLOCK);  // of a frame
    constexpr int FOLDS_A = CHANNELS / CH_A, FOLDS_B = CHANNELS / CH_B;
    constexpr int WORDS_A = BLOCK / PX_A * FOLDS_A, WORDS_B = BLOCK / PX_B * FOLDS_B;
    constexpr int ITERATIONS = WORDS_A > WORDS_B ? WORDS_A : WORDS_B;  // of a block
    constexpr int TRIPS = (BLOCKS + 1) * ITERATIONS;  // with one frame
    constexpr int TOGETHER = CH_A > CH_B ? CH_A : CH_B;  // neighbouring channels lie in memories of their own
    static_assert(CHANNELS % TOGETHER == 0, "regroup: a word must hold a divisor of the channels");
    HLSGEN_STATIC T block[2][BLOCK][CHANNELS];
#pragma HLS array_partition variable=block dim=2 complete
#pragma HLS array_partition variable=block dim=3 cyclic factor=TOGETHER
#pragma HLS dependence variable=block inter false
    int filled = 0;                      // which of the two is filled
    int first_a = 0, first_b = 0;        // pixels before the block in its row
    int pixel_a = 0, channel_a = 0, pixel_b = 0, channel_b = 0, step = 0;
    bool any = false;                    // a block is there to be emptied
    const long long blocks = (long long)frames * BLOCKS;
    long long left = blocks;             // to be filled
    words: for (long long i = 0; i < (blocks - BLOCKS) * ITERATIONS + TRIPS; ++i) {
#pragma HLS pipeline II=1 style=flp
#pragma HLS loop_tripcount min=TRIPS max=TRIPS
        iteration_of(STAGE);
        if (left > 0 && pixel_a < BLOCK && first_a + pixel_a < WIDTH) {
            const lanes<T, PX_A * CH_A> word = in.read();
            for (int x = 0; x < PX_A; ++x) {
#pragma HLS unroll
                for (int c = 0; c < CH_A; ++c) {
#pragma HLS unroll
                    block[filled][pixel_a + x][channel_a + c] = word.lane[x * CH_A + c];
                }
            }
        }
        if (any && pixel_b < BLOCK && first_b + pixel_b < WIDTH) {
            lanes<T, PX_B * CH_B> word;
            for (int x = 0; x < PX_B; ++x) {
#pragma HLS unroll
                for (int c = 0; c < CH_B; ++c) {
#pragma HLS unroll
                    word.lane[x * CH_B + c] = block[1 - filled][pixel_b + x][channel_b + c];
                }
            }
            out.write(word);
        }
        channel_a += CH_A;
        if (channel_a == CHANNELS) {
            channel_a = 0;
            pixel_a += PX_A;
        }
        channel_b += CH_B;
        if (channel_b == CHANNELS) {
            channel_b = 0;
            pixel_b += PX_B;
        }
        if (++step == ITERATIONS) {
            step = 0;
            pixel_a = channel_a = pixel_b = channel_b = 0;
            filled = 1 - filled;
            first_b = first_a;
            first_a = first_a + BLOCK < WIDTH ? first_a + BLOCK : 0;
            any = true;
            --left;
        }
    }
}

}  // namespace hlsgen

#endif
