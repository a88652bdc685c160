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

#include "counter.h"
#include "lanes.h"
#include "stage.h"
#include "words.h"

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

    // Takes the next beat. Beats shift through the word: the first one ends in its first lanes.
    void take(const ap_uint<WIDTH> &beat) {
#pragma HLS inline
        for (int l = 0; l < LANES * (BEATS - 1); ++l) {
#pragma HLS unroll
            word.lane[l] = word.lane[l + LANES];
        }
        for (int l = 0; l < LANES; ++l) {
#pragma HLS unroll
            const int low = l / PER_PART * WEIGHT_BEAT_BITS + l % PER_PART * BITS;
            const ap_uint<BITS> code = beat.range(low + BITS - 1, low);
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

// Puts a word at its place of a memory, or of registers.
template <int WIDTH, int PARTS, int DEPTH, typename T, int N>
inline void put(ap_uint<WIDTH> (&memory)[PARTS][DEPTH], int at, const lanes<T, N> &word) {
#pragma HLS inline
    write_word(memory, at, word);
}

template <typename T, int N, int DEPTH>
inline void put(T (&registers)[DEPTH][N], int at, const lanes<T, N> &word) {
#pragma HLS inline
    write_register(registers, at, word);
}

// Fills a memory, or registers, with WORDS words of N elements, which lie tightly in beats; each begins with a new
// beat.
template <typename T, int N, int WORDS, typename MEMORY>
inline void load_words(hls::stream<weight_beat> &beats, MEMORY &words) {
#pragma HLS inline
    typedef word_of_beats<width_of<T>::BITS, WEIGHT_BEAT_BITS, T, N> word_t;
    constexpr int BEATS = word_t::BEATS;
    word_t word;
    clear(word.word);
    counter<BEATS> beat;
    counter<WORDS> at;
    weights: for (int i = 0; i < WORDS * BEATS; ++i) {
#pragma HLS pipeline II=1 style=flp
        word.take(beats.read());
        if (beat.advance()) {
            put(words, at, word.value());
            at.advance();
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
    counter<RATIO> part;
    words: for (long long i = 0; i < (long long)frames * WORDS; ++i) {
#pragma HLS pipeline II=1 style=flp
#pragma HLS loop_tripcount min=WORDS max=WORDS
        iteration_of(STAGE);
        const lanes<T, PX * CH> word = in.read();
        for (int r = 0; r < RATIO; ++r) {
#pragma HLS unroll
            for (int l = 0; l < PX * CH; ++l) {
#pragma HLS unroll
                if (part.value == r) wide.lane[(l / CH * RATIO + r) * CH + l % CH] = word.lane[l];
            }
        }
        if (part.advance()) out.write(wide);
    }
}

// WORDS: of an output frame.
template <int STAGE, int PX, int CH, int RATIO, int WORDS, typename T>
inline void split_channels(hls::stream<lanes<T, PX * CH * RATIO> > &in, hls::stream<lanes<T, PX * CH> > &out,
                           int frames) {
#pragma HLS inline
    lanes<T, PX * CH * RATIO> wide;
    clear(wide);
    counter<RATIO> part;
    words: for (long long i = 0; i < (long long)frames * WORDS; ++i) {
#pragma HLS pipeline II=1 style=flp
#pragma HLS loop_tripcount min=WORDS max=WORDS
        iteration_of(STAGE);
        if (part.value == 0) wide = in.read();
        lanes<T, PX * CH> word;
        for (int l = 0; l < PX * CH; ++l) {
#pragma HLS unroll
            word.lane[l] = wide.lane[l / CH * RATIO * CH + l % CH];
        }
        out.write(word);
        for (int x = 0; x < PX; ++x) {
#pragma HLS unroll
            for (int c = 0; c < (RATIO - 1) * CH; ++c) {
#pragma HLS unroll
                wide.lane[x * RATIO * CH + c] = wide.lane[x * RATIO * CH + c + CH];
            }
        }
        part.advance();
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
    counter<RATIO> part;
    counter<WORDS> column;
    words: for (long long i = 0; i < (long long)frames * FRAME; ++i) {
#pragma HLS pipeline II=1 style=flp
#pragma HLS loop_tripcount min=FRAME max=FRAME
        iteration_of(STAGE);
        const lanes<T, LANES> word = in.read();
        for (int r = 0; r < RATIO; ++r) {
#pragma HLS unroll
            for (int l = 0; l < LANES; ++l) {
#pragma HLS unroll
                if (part.value == r) wide.lane[r * LANES + l] = word.lane[l];
            }
        }
        if (part.last || column.last) out.write(wide);
        if (column.advance()) part.reset();
        else part.advance();
    }
}

// WORDS: of an output row.
template <int STAGE, int LANES, int RATIO, int WORDS, int ROWS, typename T>
inline void split_pixels(hls::stream<lanes<T, LANES * RATIO> > &in, hls::stream<lanes<T, LANES> > &out, int frames) {
#pragma HLS inline
    constexpr int FRAME = ROWS * WORDS;
    lanes<T, LANES * RATIO> wide;
    clear(wide);
    counter<RATIO> part;
    counter<WORDS> column;
    words: for (long long i = 0; i < (long long)frames * FRAME; ++i) {
#pragma HLS pipeline II=1 style=flp
#pragma HLS loop_tripcount min=FRAME max=FRAME
        iteration_of(STAGE);
        if (part.value == 0) wide = in.read();
        lanes<T, LANES> word;
        for (int l = 0; l < LANES; ++l) {
#pragma HLS unroll
            word.lane[l] = wide.lane[l];
        }
        out.write(word);
        for (int l = 0; l < LANES * (RATIO - 1); ++l) {
#pragma HLS unroll
            wide.lane[l] = wide.lane[l + LANES];
        }
        if (column.advance()) part.reset();
        else part.advance();
    }
}

// The words of a block of CHANNELS channels as one side of `regroup` passes them: PX pixels x CH channels at a time, of
// the same pixels all channels. PARTS words hold the channels that lie at one address. TURN: a counter, or a ring.
template <int PX, int CH, int CHANNELS, int WIDTH, int BLOCK, int PARTS, template <int> class TURN>
struct block_words {
    static constexpr int GROUPS = BLOCK / PX;
    static constexpr int LAST_GROUPS = ((WIDTH - 1) % BLOCK + PX) / PX;  // of a row's last block

    TURN<PARTS> part;
    counter<CHANNELS / CH / PARTS> address;
    TURN<GROUPS> group;  // of pixels
    countdown<GROUPS> groups;  // this one and those after it
    bool any;  // a word of the block is left

    void begin(bool block, bool last_of_row) {
#pragma HLS inline
        group.reset();
        groups.start(last_of_row ? LAST_GROUPS : GROUPS);
        any = block;
    }
    void advance() {
#pragma HLS inline
        if (part.advance() && address.advance()) {
            group.advance();
            if (groups.advance()) any = false;
        }
    }
};

// Any format to any other: two blocks of BLOCK pixels x CHANNELS channels, one filled while the other is emptied.
//
// TOGETHER neighbouring channels of each pixel lie in memories of their own. Every memory has its own place in a word,
// on either side: it takes that element in the one iteration of PARTS x GROUPS that is its, and a word's element is
// chosen among as many memories.
template <int STAGE, int CHANNELS, int WIDTH, int BLOCK, int PX_A, int CH_A, int PX_B, int CH_B, int TOGETHER, int ROWS,
          typename T>
inline void regroup(hls::stream<lanes<T, PX_A * CH_A> > &in, hls::stream<lanes<T, PX_B * CH_B> > &out, int frames) {
#pragma HLS inline
    constexpr int ROW_BLOCKS = (WIDTH + BLOCK - 1) / BLOCK;
    constexpr int BLOCKS = ROWS * ROW_BLOCKS;  // of a frame
    constexpr int ADDRESSES = CHANNELS / TOGETHER;  // of a block
    constexpr int PARTS_A = TOGETHER / CH_A, PARTS_B = TOGETHER / CH_B;
    typedef block_words<PX_A, CH_A, CHANNELS, WIDTH, BLOCK, PARTS_A, ring> words_a;
    typedef block_words<PX_B, CH_B, CHANNELS, WIDTH, BLOCK, PARTS_B, counter> words_b;
    constexpr int WORDS_A = words_a::GROUPS * ADDRESSES * PARTS_A, WORDS_B = words_b::GROUPS * ADDRESSES * PARTS_B;
    constexpr int ITERATIONS = WORDS_A > WORDS_B ? WORDS_A : WORDS_B;  // of a block
    constexpr int TRIPS = (BLOCKS + 1) * ITERATIONS;  // with one frame
    static_assert(CHANNELS % TOGETHER == 0, "regroup: the channels must fill their memories alike");
    static_assert(TOGETHER % CH_A == 0 && TOGETHER % CH_B == 0, "regroup: a word's channels must lie at one address");
    HLSGEN_STATIC T block[BLOCK][TOGETHER][2 * ADDRESSES];
#pragma HLS array_partition variable=block complete dim=1
#pragma HLS array_partition variable=block complete dim=2
    words_a arriving;
    words_b leaving;
    counter<ITERATIONS> step;
    counter<ROW_BLOCKS> of_row;    // the block that is filled
    bool upper = false;            // the half that is filled
    const long long blocks = (long long)frames * BLOCKS;
    long long left = blocks;       // to be filled
    arriving.begin(left > 0, of_row.last);
    leaving.begin(false, false);
    words: for (long long i = 0; i < (blocks - BLOCKS) * ITERATIONS + TRIPS; ++i) {
#pragma HLS pipeline II=1 style=flp
#pragma HLS loop_tripcount min=TRIPS max=TRIPS
#pragma HLS dependence variable=block inter false
        iteration_of(STAGE);
        if (arriving.any) {
            const lanes<T, PX_A * CH_A> word = in.read();
            const int address = arriving.address + (upper ? ADDRESSES : 0);
            for (int x = 0; x < BLOCK; ++x) {
#pragma HLS unroll
                for (int c = 0; c < TOGETHER; ++c) {
#pragma HLS unroll
                    const bool taken = arriving.group.at[x / PX_A] && arriving.part.at[c / CH_A];
                    if (taken) block[x][c][address] = word.lane[x % PX_A * CH_A + c % CH_A];
                }
            }
            arriving.advance();
        }
        if (leaving.any) {
            const int address = leaving.address + (upper ? 0 : ADDRESSES);
            lanes<T, PX_B * CH_B> word;
            for (int l = 0; l < PX_B * CH_B; ++l) {
#pragma HLS unroll
                T element[words_b::GROUPS][PARTS_B];  // of the memories that this lane may come from
#pragma HLS array_partition variable=element complete dim=0
                for (int g = 0; g < words_b::GROUPS; ++g) {
#pragma HLS unroll
                    for (int p = 0; p < PARTS_B; ++p) {
#pragma HLS unroll
                        element[g][p] = block[g * PX_B + l / CH_B][p * CH_B + l % CH_B][address];
                    }
                }
                word.lane[l] = element[leaving.group.value][leaving.part.value];
            }
            out.write(word);
            leaving.advance();
        }
        if (step.advance()) {
            upper = !upper;
            leaving.begin(left > 0, of_row.last);
            of_row.advance();
            arriving.begin(left > 1, of_row.last);
            --left;
        }
    }
}

}  // namespace hlsgen

#endif
