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

// ---- DDR: stream words that share a port word -----------------------------------------------------------------------

// A port word is PARTS stream words of N elements of BITS bits, each element in a SLOT of its own.
template <int STAGE, int BITS, int SLOT, int PARTS, int WORDS, int PORT, typename T, int N>
inline void take_apart(hls::stream<ap_uint<PORT> > &in, hls::stream<lanes<T, N> > &out, int frames) {
#pragma HLS inline
    constexpr int WIDTH = PORT / PARTS;
    static_assert(N * SLOT <= WIDTH, "take_apart: a stream word lies in one port word");
    ap_uint<PORT> bits = 0;
    int part = 0;
    const long long words = (long long)frames * WORDS;
    words: for (long long i = 0; i < words; ++i) {
#pragma HLS pipeline II=1 style=flp
#pragma HLS loop_tripcount min=WORDS max=WORDS
        iteration_of(STAGE);
        if (part == 0) bits = in.read();
        lanes<T, N> word;
        for (int l = 0; l < N; ++l) {
#pragma HLS unroll
            ap_uint<BITS> code = 0;
            for (int p = 0; p < PARTS; ++p) {
#pragma HLS unroll
                if (p == part) code = bits.range(p * WIDTH + l * SLOT + BITS - 1, p * WIDTH + l * SLOT);
            }
            set_bits<BITS>(word.lane[l], code);
        }
        out.write(word);
        if (++part == PARTS) part = 0;
    }
}

// What no stream word fills of the last port word is zero.
template <int STAGE, int BITS, int SLOT, int PARTS, int WORDS, int PORT, typename T, int N>
inline void put_together(hls::stream<lanes<T, N> > &in, hls::stream<ap_uint<PORT> > &out, int frames) {
#pragma HLS inline
    constexpr int WIDTH = PORT / PARTS;
    static_assert(N * SLOT <= WIDTH, "put_together: a stream word lies in one port word");
    ap_uint<PORT> bits = 0;
    int part = 0;
    const long long words = (long long)frames * WORDS;
    words: for (long long i = 0; i < words; ++i) {
#pragma HLS pipeline II=1 style=flp
#pragma HLS loop_tripcount min=WORDS max=WORDS
        iteration_of(STAGE);
        const lanes<T, N> word = in.read();
        if (part == 0) bits = 0;
        for (int l = 0; l < N; ++l) {
#pragma HLS unroll
            for (int p = 0; p < PARTS; ++p) {
#pragma HLS unroll
                if (p == part) {
                    bits.range(p * WIDTH + l * SLOT + BITS - 1, p * WIDTH + l * SLOT) = bits_of<BITS>(word.lane[l]);
                }
            }
        }
        if (++part == PARTS || i == words - 1) {
            part = 0;
            out.write(bits);
        }
    }
}

// ---- DDR: stream words of whole port words --------------------------------------------------------------------------

// The lanes that lie in part `beat` of a stream word; the others stay.
template <int BITS, int SLOT, int BEATS, int WIDTH, typename T, int N>
inline void set_part(lanes<T, N> &word, int beat, const ap_uint<WIDTH> &bits) {
#pragma HLS inline
    constexpr int PER_BEAT = WIDTH / SLOT;
    for (int l = 0; l < PER_BEAT; ++l) {
#pragma HLS unroll
        const ap_uint<BITS> code = bits.range(l * SLOT + BITS - 1, l * SLOT);
        for (int b = 0; b < BEATS; ++b) {
#pragma HLS unroll
            const int lane = b * PER_BEAT + l;
            if (b == beat && lane < N) set_bits<BITS>(word.lane[lane < N ? lane : 0], code);
        }
    }
}

template <int BITS, int SLOT, int BEATS, int WIDTH, typename T, int N>
inline ap_uint<WIDTH> part_of(const lanes<T, N> &word, int beat) {
#pragma HLS inline
    constexpr int PER_BEAT = WIDTH / SLOT;
    ap_uint<WIDTH> bits = 0;
    for (int l = 0; l < PER_BEAT; ++l) {
#pragma HLS unroll
        for (int b = 0; b < BEATS; ++b) {
#pragma HLS unroll
            const int lane = b * PER_BEAT + l;
            if (b == beat && lane < N) {
                bits.range(l * SLOT + BITS - 1, l * SLOT) = bits_of<BITS>(word.lane[lane < N ? lane : 0]);
            }
        }
    }
    return bits;
}

// A stream word is BEATS port words, a frame WORDS stream words.
template <int STAGE, int BITS, int SLOT, int BEATS, int WORDS, int PORT, typename T, int N>
inline void load(const ap_uint<PORT> *memory, hls::stream<lanes<T, N> > &out, int frames) {
#pragma HLS inline
    constexpr int FRAME = WORDS * BEATS;
    lanes<T, N> word;
    clear(word);
    int beat = 0;
    words: for (long long i = 0; i < (long long)frames * FRAME; ++i) {
#pragma HLS pipeline II=1 style=flp
#pragma HLS loop_tripcount min=FRAME max=FRAME
        iteration_of(STAGE);
        set_part<BITS, SLOT, BEATS>(word, beat, memory[i]);
        if (++beat == BEATS) {
            beat = 0;
            out.write(word);
        }
    }
}

template <int STAGE, int BITS, int SLOT, int BEATS, int WORDS, int PORT, typename T, int N>
inline void store(hls::stream<lanes<T, N> > &in, ap_uint<PORT> *memory, int frames) {
#pragma HLS inline
    constexpr int FRAME = WORDS * BEATS;
    lanes<T, N> word;
    clear(word);
    int beat = 0;
    words: for (long long i = 0; i < (long long)frames * FRAME; ++i) {
#pragma HLS pipeline II=1 style=flp
#pragma HLS loop_tripcount min=FRAME max=FRAME
        iteration_of(STAGE);
        if (beat == 0) word = in.read();
        memory[i] = part_of<BITS, SLOT, BEATS, PORT>(word, beat);
        if (++beat == BEATS) beat = 0;
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
    ap_uint<PORT> bits = 0;
    const int blocks = (frames + BATCH - 1) / BATCH;
    blocks: for (int block = 0; block < blocks; ++block) {
#pragma HLS loop_tripcount min=1 max=1
        int word = 0, beat = 0, part = 0;  // word 0: the biases
        words: for (int i = 0; i < GROUPS * (BIAS_BEATS + WORDS * WEIGHT_BEATS); ++i) {
#pragma HLS pipeline II=1 style=flp
            iteration_of(STAGE);
            if (part == 0) bits = in.read();
            ++beat;
            if (word == 0) {
                bias.take(bits, part);
                if (beat == BIAS_BEATS) biases.write(bias.value());
            } else {
                weight.take(bits, part);
                if (beat == WEIGHT_BEATS) weights.write(weight.value());
            }
            if (beat == (word == 0 ? BIAS_BEATS : WEIGHT_BEATS)) {
                beat = 0;
                word = word == WORDS ? 0 : word + 1;
            }
            if (++part == PORT / WIDTH) part = 0;
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
    ap_uint<PORT> bits = 0;
    const int blocks = (frames + BATCH - 1) / BATCH;
    blocks: for (int block = 0; block < blocks; ++block) {
#pragma HLS loop_tripcount min=1 max=1
        int beat = 0, part = 0;
        words: for (int i = 0; i < GROUPS * WORDS * BEATS; ++i) {
#pragma HLS pipeline II=1 style=flp
            iteration_of(STAGE);
            if (part == 0) bits = in.read();
            weight.take(bits, part);
            if (++beat == BEATS) {
                beat = 0;
                weights.write(weight.value());
            }
            if (++part == PORT / WIDTH) part = 0;
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
    lanes<T, N> word;
    clear(word);
    int beat = 0;
    words: for (long long i = 0; i < (long long)frames * FRAME; ++i) {
#pragma HLS pipeline II=1 style=flp
#pragma HLS loop_tripcount min=FRAME max=FRAME
        iteration_of(STAGE);
        const A transfer = in.read();
#ifndef __SYNTHESIS__
        const ap_uint<WIDTH / 8> all = -1;
        check_transfer(i, FRAME, transfer.last != 0, transfer.keep == all && transfer.strb == all);
#endif
        set_part<BITS, BITS, BEATS, WIDTH>(word, beat, transfer.data);
        if (++beat == BEATS) {
            beat = 0;
            out.write(word);
        }
    }
}

// The last transfer of each frame has TLAST; every byte is kept.
template <int STAGE, int BITS, int BEATS, int WIDTH, int FRAME, typename A, typename T, int N>
inline void send(hls::stream<lanes<T, N> > &in, hls::stream<A> &out, int frames) {
#pragma HLS inline
    lanes<T, N> word;
    clear(word);
    int beat = 0, of_frame = 0;
    words: for (long long i = 0; i < (long long)frames * FRAME; ++i) {
#pragma HLS pipeline II=1 style=flp
#pragma HLS loop_tripcount min=FRAME max=FRAME
        iteration_of(STAGE);
        if (beat == 0) word = in.read();
        A transfer;
        transfer.data = part_of<BITS, BITS, BEATS, WIDTH>(word, beat);
        transfer.keep = -1;
        transfer.strb = -1;
        transfer.last = of_frame == FRAME - 1;
        out.write(transfer);
        if (++beat == BEATS) beat = 0;
        of_frame = of_frame == FRAME - 1 ? 0 : of_frame + 1;
    }
}

}  // namespace hlsgen

#endif
