#include "hls_stream.h"

template <int WORDS>
void copy(hls::stream<int> &in, hls::stream<int> &out, int frames) {
    const long long words = (long long)frames * WORDS;
    words: for (long long i = 0; i < words; ++i) {
#pragma HLS pipeline II=1
        out.write(in.read());
    }
    frames: for (int frame = 0; frame < frames; ++frame) {
        for (int i = 0; i < WORDS; ++i) {
#pragma HLS pipeline II=1
            out.write(in.read());
        }
    }
    rest: for (int i = frames; i < WORDS; ++i) {
#pragma HLS pipeline II=1
        out.write(0);
    }
    while (!in.empty()) {
#pragma HLS pipeline II=1
        out.write(in.read());
    }
    // said
    constexpr int TRIPS = 2 * WORDS;
    for (int i = 0; i < frames * TRIPS; ++i) {
#pragma HLS pipeline II=1
#pragma HLS loop_tripcount min=TRIPS max=TRIPS
        out.write(in.read());
    }
    // constant
    const int HALF = TRIPS / 2;
    for (int i = 0, j = 0; i < HALF && j < TRIPS; ++i, j += 2) {
#pragma HLS pipeline II=1
        out.write(i + j);
    }
    // not pipelined
    for (int i = 0; i < frames; ++i) out.write(i);
}
