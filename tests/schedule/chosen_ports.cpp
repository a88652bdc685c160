// Pointers that are one of several arguments which lead to DDR.
#include "ap_int.h"

struct header {
    short time, start, bank;
};

// three fields of one word of a port that a switch chooses
void fields_of_one_of_several(const header *a, const header *b, const header *c, int to[3]) {
#pragma HLS interface m_axi port=a bundle=first
#pragma HLS interface m_axi port=b bundle=second
#pragma HLS interface m_axi port=c bundle=third
#pragma HLS interface ap_memory port=to
    work: for (int i = 0; i < 3; ++i) {
#pragma HLS pipeline II=1
        const header *from;
        switch (i) {
            case 0: from = a; break;
            case 1: from = b; break;
            default: from = c; break;
        }
        int start = from->time - from->start;
        to[i] = (start < 0 ? start + 256 : start) ^ from->bank;
    }
}

// parts of a word that are written in turn, of arrays that are swapped
void parts_in_turn(ap_uint<512> *a, ap_uint<512> *b, const int from[4096], int times) {
#pragma HLS interface m_axi port=a bundle=only
#pragma HLS interface m_axi port=b bundle=only
#pragma HLS interface ap_memory port=from
    ap_uint<512> *to = a, *other = b;
    for (int step = 0; step < times; ++step) {
        for (int i = 0; i < 4096; i += 16) {
            int low = 0;
            work: for (int j = 0; j < 16; ++j) {
#pragma HLS pipeline II=1
                to[i / 16].range(low + 31, low) = from[i + j] + step;
                low += 32;
            }
        }
        ap_uint<512> *swapped = to;
        to = other;
        other = swapped;
    }
}
