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

// a step from one of two images to the other, whose edges stay
void from_one_to_the_other(const int from[64][64], int to[64][64]) {
    static int even[64][64], odd[64][64];
    for (int i = 0; i < 64; ++i)
        for (int j = 0; j < 64; ++j)
            even[i][j] = from[i][j];
    for (int step = 0; step < 10; ++step) {
        bool is_even = step % 2 == 0;
        int before = 0;
        for (int i = 0; i < 64; ++i) {
            work: for (int j = 0; j < 64; ++j) {
#pragma HLS pipeline II=1
                int now = is_even ? even[i][j] : odd[i][j];
                if (i >= 2 && j >= 2) {
                    if (is_even) odd[i - 1][j - 1] = now - before;
                    else even[i - 1][j - 1] = now - before;
                }
                if (i == 0 || i == 63 || j == 0 || j == 63) {
                    if (is_even) odd[i][j] = now;
                    else even[i][j] = now;
                }
                before = now;
            }
        }
    }
    for (int i = 0; i < 64; ++i)
        for (int j = 0; j < 64; ++j)
            to[i][j] = even[i][j];
}

// one of four tables, by the way that the function took, beside two words of the first of them
void one_of_four(const int which[512], int to[512]) {
    static int first[512], second[512], third[512], fourth[512];
    for (int i = 0; i < 512; ++i) {
        first[i] += which[i];
        second[i] += first[i];
        third[i] += second[i];
        fourth[i] += third[i];
    }
    work: for (int i = 0; i < 512; ++i) {
#pragma HLS pipeline II=1
        const int *table;
        switch (which[i]) {
            case 0: table = first; break;
            case 1: table = second; break;
            case 2: table = third; break;
            default: table = fourth; break;
        }
        to[i] = table[i] + first[i * 3 & 511] * first[i * 5 & 511];
    }
}
