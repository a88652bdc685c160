// A streaming kernel's ports: DDR, of which whole port words move in bursts, and AXI streams to other kernels.
//
// Vitis HLS makes long bursts of a loop that moves the next port word in every iteration, whatever the data. A stream
// word that is only a part of a port word asks for a new one now and then, which is no such loop. So where several
// stream words share a port word one process moves port words between DDR and a FIFO, and another takes them apart or
// puts them together.
//
// Loops run over all frames of a call. Their trip counts, which only reports know, are those of one frame.
#ifndef HLSGEN_PORT_H
#define HLSGEN_PORT_H

#include <ap_int.h>
#include <hls_stream.h>

#ifndef __SYNTHESIS__
#include <cstdio>
#include <cstdlib>
#endif

#include "counter.h"
#include "lanes.h"
#include "stage.h"
#include "stream.h"

namespace hlsgen {

// ---- DDR: port words ------------------------------------------------------------------------------------------------

// A frame is WORDS stream words, PARTS of them in a port word; frames follow each other without a gap.
// TRIPS: for reports.
template <int STAGE, int WORDS, int PARTS, int PORT, int TRIPS = (WORDS + PARTS - 1) / PARTS>
inline void read_port(const ap_uint<PORT> *memory, hls::stream<ap_uint<PORT> > &out, int frames) {
#pragma HLS inline
    const long long count = ((long long)frames * WORDS + PARTS - 1) / PARTS;
    port_words: for (long long i = 0; i < count; ++i) {
#pragma HLS pipeline II=1 style=flp
#pragma HLS loop_tripcount min=TRIPS max=TRIPS
        iteration_of(STAGE);
        out.write(memory[i]);
    }
}

// The first COUNT port words, for each block of BATCH frames.
template <int STAGE, int COUNT, int BATCH, int PORT>
inline void read_port_again(const ap_uint<PORT> *memory, hls::stream<ap_uint<PORT> > &out, int frames) {
#pragma HLS inline
    const int blocks = (frames + BATCH - 1) / BATCH;
    blocks: for (int block = 0; block < blocks; ++block) {
#pragma HLS loop_tripcount min=1 max=1
        port_words: for (int i = 0; i < COUNT; ++i) {
#pragma HLS pipeline II=1 style=flp
            iteration_of(STAGE);
            out.write(memory[i]);
        }
    }
}

template <int STAGE, int WORDS, int PARTS, int PORT, int TRIPS = (WORDS + PARTS - 1) / PARTS>
inline void write_port(hls::stream<ap_uint<PORT> > &in, ap_uint<PORT> *memory, int frames) {
#pragma HLS inline
    const long long count = ((long long)frames * WORDS + PARTS - 1) / PARTS;
    port_words: for (long long i = 0; i < count; ++i) {
#pragma HLS pipeline II=1 style=flp
#pragma HLS loop_tripcount min=TRIPS max=TRIPS
        iteration_of(STAGE);
        memory[i] = in.read();
    }
}

// ---- Words in parts -------------------------------------------------------------------------------------------------

// PARTS of WIDTH bits, which shift: each register takes what its neighbour has, wherever the words' ends are.
template <int PARTS, int WIDTH>
struct part_shifter {
    ap_uint<WIDTH> part[PARTS];

    part_shifter() {
#pragma HLS array_partition variable=part complete
        for (int p = 0; p < PARTS; ++p) {
#pragma HLS unroll
            part[p] = 0;
        }
    }
    // The last part becomes `bits`, the others move towards the first.
    void push(const ap_uint<WIDTH> &bits) {
#pragma HLS inline
        for (int p = 0; p + 1 < PARTS; ++p) {
#pragma HLS unroll
            part[p] = part[p + 1];
        }
        part[PARTS - 1] = bits;
    }
    // Takes the first part away; the others move towards it.
    ap_uint<WIDTH> pop() {
#pragma HLS inline
        const ap_uint<WIDTH> first = part[0];
        push(0);
        return first;
    }
    void set(const ap_uint<WIDTH * PARTS> &bits) {
#pragma HLS inline
        for (int p = 0; p < PARTS; ++p) {
#pragma HLS unroll
            part[p] = bits.range(p * WIDTH + WIDTH - 1, p * WIDTH);
        }
    }
};

// A word of N elements of BITS bits, each in a SLOT of its own, of which a part holds whole ones.
template <int BITS, int SLOT, int PARTS, int WIDTH, typename T, int N>
inline void word_from_parts(const ap_uint<WIDTH> (&part)[PARTS], lanes<T, N> &word) {
#pragma HLS inline
    constexpr int PER_PART = WIDTH / SLOT;
    static_assert(PER_PART * PARTS >= N, "word_from_parts: the parts must hold a word");
    for (int l = 0; l < N; ++l) {
#pragma HLS unroll
        const int low = l % PER_PART * SLOT;
        const ap_uint<BITS> code = part[l / PER_PART].range(low + BITS - 1, low);
        set_bits<BITS>(word.lane[l], code);
    }
}

template <int BITS, int SLOT, int PARTS, int WIDTH, typename T, int N>
inline void word_into_parts(const lanes<T, N> &word, ap_uint<WIDTH> (&part)[PARTS]) {
#pragma HLS inline
    constexpr int PER_PART = WIDTH / SLOT;
    static_assert(PER_PART * PARTS >= N, "word_into_parts: the parts must hold a word");
    for (int p = 0; p < PARTS; ++p) {
#pragma HLS unroll
        part[p] = 0;
    }
    for (int l = 0; l < N; ++l) {
#pragma HLS unroll
        const int low = l % PER_PART * SLOT;
        part[l / PER_PART].range(low + BITS - 1, low) = bits_of<BITS>(word.lane[l]);
    }
}

// ---- DDR: stream words that share a port word -----------------------------------------------------------------------

// A port word is PARTS stream words of N elements of BITS bits, each element in a SLOT of its own.
template <int STAGE, int BITS, int SLOT, int PARTS, int WORDS, int PORT, typename T, int N>
inline void take_apart(hls::stream<ap_uint<PORT> > &in, hls::stream<lanes<T, N> > &out, int frames) {
#pragma HLS inline
    constexpr int WIDTH = PORT / PARTS;
    static_assert(N * SLOT <= WIDTH, "take_apart: a stream word lies in one port word");
    part_shifter<PARTS, WIDTH> parts;
    counter<PARTS> part;
    words: for (long long i = 0; i < (long long)frames * WORDS; ++i) {
#pragma HLS pipeline II=1 style=flp
#pragma HLS loop_tripcount min=WORDS max=WORDS
        iteration_of(STAGE);
        if (part.value == 0) parts.set(in.read());
        const ap_uint<WIDTH> bits[1] = {parts.pop()};
        lanes<T, N> word;
        word_from_parts<BITS, SLOT>(bits, word);
        out.write(word);
        part.advance();
    }
}

// What no stream word fills of the last port word is zero.
template <int STAGE, int BITS, int SLOT, int PARTS, int WORDS, int PORT, typename T, int N>
inline void put_together(hls::stream<lanes<T, N> > &in, hls::stream<ap_uint<PORT> > &out, int frames) {
#pragma HLS inline
    constexpr int WIDTH = PORT / PARTS;
    static_assert(N * SLOT <= WIDTH, "put_together: a stream word lies in one port word");
    ap_uint<WIDTH> parts[PARTS];
#pragma HLS array_partition variable=parts complete
    counter<PARTS> part;
    const long long words = (long long)frames * WORDS;
    words: for (long long i = 0; i < words; ++i) {
#pragma HLS pipeline II=1 style=flp
#pragma HLS loop_tripcount min=WORDS max=WORDS
        iteration_of(STAGE);
        ap_uint<WIDTH> bits[1];
        word_into_parts<BITS, SLOT>(in.read(), bits);
        ap_uint<PORT> all = 0;
        for (int p = 0; p < PARTS; ++p) {
#pragma HLS unroll
            if (part.value == p) parts[p] = bits[0];
            else if (part.value == 0) parts[p] = 0;
            all.range(p * WIDTH + WIDTH - 1, p * WIDTH) = parts[p];
        }
        if (part.advance() || i == words - 1) out.write(all);
    }
}

// ---- DDR: stream words of whole port words --------------------------------------------------------------------------

// A stream word is BEATS port words, a frame WORDS stream words.
template <int STAGE, int BITS, int SLOT, int BEATS, int WORDS, int PORT, typename T, int N>
inline void load(const ap_uint<PORT> *memory, hls::stream<lanes<T, N> > &out, int frames) {
#pragma HLS inline
    constexpr int FRAME = WORDS * BEATS;
    part_shifter<BEATS, PORT> beats;
    counter<BEATS> beat;
    words: for (long long i = 0; i < (long long)frames * FRAME; ++i) {
#pragma HLS pipeline II=1 style=flp
#pragma HLS loop_tripcount min=FRAME max=FRAME
        iteration_of(STAGE);
        beats.push(memory[i]);
        if (beat.advance()) {
            lanes<T, N> word;
            word_from_parts<BITS, SLOT>(beats.part, word);
            out.write(word);
        }
    }
}

template <int STAGE, int BITS, int SLOT, int BEATS, int WORDS, int PORT, typename T, int N>
inline void store(hls::stream<lanes<T, N> > &in, ap_uint<PORT> *memory, int frames) {
#pragma HLS inline
    constexpr int FRAME = WORDS * BEATS;
    part_shifter<BEATS, PORT> beats;
    counter<BEATS> beat;
    words: for (long long i = 0; i < (long long)frames * FRAME; ++i) {
#pragma HLS pipeline II=1 style=flp
#pragma HLS loop_tripcount min=FRAME max=FRAME
        iteration_of(STAGE);
        if (beat.value == 0) word_into_parts<BITS, SLOT>(in.read(), beats.part);
        memory[i] = beats.pop();
        beat.advance();
    }
}

// Blocks of rows of GROUPS groups of channels, RUN words each, which come block by block. In memory the BLOCKS blocks
// of a group lie together, group after group, frame after frame. A port word is a stream word.
template <int STAGE, int BITS, int SLOT, int BLOCKS, int GROUPS, int RUN, int PORT, typename T, int N>
inline void store_blocks(hls::stream<lanes<T, N> > &in, ap_uint<PORT> *memory, int frames) {
#pragma HLS inline
    static_assert(N * SLOT == PORT, "store_blocks: a stream word must be a port word");
    constexpr int GROUP = BLOCKS * RUN, FRAME = GROUPS * GROUP;
    counter<GROUPS> group;
    counter<BLOCKS> block;
    int frame_begin = 0, block_begin = 0, begin = 0;
    runs: for (int run = 0; run < frames * BLOCKS * GROUPS; ++run) {
#pragma HLS loop_tripcount min=BLOCKS*GROUPS max=BLOCKS*GROUPS
        words: for (int i = 0; i < RUN; ++i) {
#pragma HLS pipeline II=1 style=flp
            iteration_of(STAGE);
            ap_uint<PORT> bits[1];
            word_into_parts<BITS, SLOT>(in.read(), bits);
            memory[begin + i] = bits[0];
        }
        if (!group.advance()) {
            begin += GROUP;
        } else if (!block.advance()) {
            block_begin += RUN;
            begin = block_begin;
        } else {
            frame_begin += FRAME;
            block_begin = frame_begin;
            begin = frame_begin;
        }
    }
}

// ---- DDR: weights for every block of frames -------------------------------------------------------------------------

// For each block of BATCH frames: GROUPS times a word of biases, then WORDS words of weights. Beats are of WIDTH bits;
// a block begins with a new port word.
template <int STAGE, int WIDTH, int BITS, int BIAS_BITS, int GROUPS, int WORDS, int BATCH, int PORT, typename T, int N,
          typename B, int M>
inline void stream_weights(hls::stream<ap_uint<PORT> > &in, hls::stream<lanes<T, N> > &weights,
                           hls::stream<lanes<B, M> > &biases, int frames) {
#pragma HLS inline
    constexpr int WEIGHT_BEATS = word_of_beats<BITS, WIDTH, T, N>::BEATS;
    constexpr int BIAS_BEATS = word_of_beats<BIAS_BITS, WIDTH, B, M>::BEATS;
    word_of_beats<BITS, WIDTH, T, N> weight;
    word_of_beats<BIAS_BITS, WIDTH, B, M> bias;
    clear(weight.word);
    clear(bias.word);
    part_shifter<PORT / WIDTH, WIDTH> beats;
    const int blocks = (frames + BATCH - 1) / BATCH;
    blocks: for (int block = 0; block < blocks; ++block) {
#pragma HLS loop_tripcount min=1 max=1
        counter<PORT / WIDTH> part;
        counter<BIAS_BEATS> bias_beat;
        counter<WEIGHT_BEATS> weight_beat;
        counter<WORDS> word;
        bool of_biases = true;
        words: for (int i = 0; i < GROUPS * (BIAS_BEATS + WORDS * WEIGHT_BEATS); ++i) {
#pragma HLS pipeline II=1 style=flp
            iteration_of(STAGE);
            if (part.value == 0) beats.set(in.read());
            const ap_uint<WIDTH> beat = beats.pop();
            if (of_biases) {
                bias.take(beat);
                if (bias_beat.advance()) {
                    biases.write(bias.value());
                    of_biases = false;
                }
            } else {
                weight.take(beat);
                if (weight_beat.advance()) {
                    weights.write(weight.value());
                    of_biases = word.advance();
                }
            }
            part.advance();
        }
    }
}

// Without biases.
template <int STAGE, int WIDTH, int BITS, int GROUPS, int WORDS, int BATCH, int PORT, typename T, int N>
inline void stream_weights(hls::stream<ap_uint<PORT> > &in, hls::stream<lanes<T, N> > &weights, int frames) {
#pragma HLS inline
    constexpr int BEATS = word_of_beats<BITS, WIDTH, T, N>::BEATS;
    word_of_beats<BITS, WIDTH, T, N> weight;
    clear(weight.word);
    part_shifter<PORT / WIDTH, WIDTH> beats;
    const int blocks = (frames + BATCH - 1) / BATCH;
    blocks: for (int block = 0; block < blocks; ++block) {
#pragma HLS loop_tripcount min=1 max=1
        counter<PORT / WIDTH> part;
        counter<BEATS> beat;
        words: for (int i = 0; i < GROUPS * WORDS * BEATS; ++i) {
#pragma HLS pipeline II=1 style=flp
            iteration_of(STAGE);
            if (part.value == 0) beats.set(in.read());
            weight.take(beats.pop());
            if (beat.advance()) weights.write(weight.value());
            part.advance();
        }
    }
}

// ---- AXI streams ----------------------------------------------------------------------------------------------------

#ifndef __SYNTHESIS__
// The hardware does not look at TLAST, TKEEP and TSTRB: it counts, so that frames must come whole. C-simulation checks.
inline void check_transfer(long long transfer, int frame, bool last, bool whole) {
    const bool ends = (transfer + 1) % frame == 0;
    if (last == ends && whole) return;
    std::fprintf(stderr,
                 "AXI stream: transfer %lld of frame %lld has TLAST %d%s; a frame is %d transfers, the last one with "
                 "TLAST\n",
                 transfer % frame, transfer / frame, int(last), whole ? "" : " and bytes left out by TKEEP or TSTRB",
                 frame);
    std::exit(67);
}
#endif

// A stream word is BEATS transfers of WIDTH bits, elements of BITS bits side by side; a frame is FRAME transfers.
template <int STAGE, int BITS, int BEATS, int WIDTH, int FRAME, typename A, typename T, int N>
inline void receive(hls::stream<A> &in, hls::stream<lanes<T, N> > &out, int frames) {
#pragma HLS inline
    part_shifter<BEATS, WIDTH> beats;
    counter<BEATS> beat;
    words: for (long long i = 0; i < (long long)frames * FRAME; ++i) {
#pragma HLS pipeline II=1 style=flp
#pragma HLS loop_tripcount min=FRAME max=FRAME
        iteration_of(STAGE);
        const A transfer = in.read();
#ifndef __SYNTHESIS__
        const ap_uint<WIDTH / 8> all = -1;
        check_transfer(i, FRAME, transfer.last != 0, transfer.keep == all && transfer.strb == all);
#endif
        beats.push(transfer.data);
        if (beat.advance()) {
            lanes<T, N> word;
            word_from_parts<BITS, BITS>(beats.part, word);
            out.write(word);
        }
    }
}

// The last transfer of each frame has TLAST; every byte is kept.
template <int STAGE, int BITS, int BEATS, int WIDTH, int FRAME, typename A, typename T, int N>
inline void send(hls::stream<lanes<T, N> > &in, hls::stream<A> &out, int frames) {
#pragma HLS inline
    part_shifter<BEATS, WIDTH> beats;
    counter<BEATS> beat;
    counter<FRAME> of_frame;
    words: for (long long i = 0; i < (long long)frames * FRAME; ++i) {
#pragma HLS pipeline II=1 style=flp
#pragma HLS loop_tripcount min=FRAME max=FRAME
        iteration_of(STAGE);
        if (beat.value == 0) word_into_parts<BITS, BITS>(in.read(), beats.part);
        A transfer;
        transfer.data = beats.pop();
        transfer.keep = -1;
        transfer.strb = -1;
        transfer.last = of_frame.last;
        out.write(transfer);
        beat.advance();
        of_frame.advance();
    }
}

}  // namespace hlsgen

#endif
