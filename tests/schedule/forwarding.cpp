// Words that the vendor's compiler keeps in registers: test_forwarding.py says what public reports have of them.
#include <ap_int.h>

extern "C" void histogram(const ap_uint<4> x[16], int bins[16]) {
    int counts[16];
#pragma HLS bind_storage variable=counts type=ram_2p impl=bram
    for (int b = 0; b < 16; ++b)
        counts[b] = bins[b];
work:
    for (int i = 0; i < 16; ++i) {
#pragma HLS pipeline
        counts[x[i]] = counts[x[i]] + 1;
    }
    for (int b = 0; b < 16; ++b)
        bins[b] = counts[b];
}

extern "C" void histogram_of_two(const ap_uint<4> x[16], int bins[16]) {
    int counts[16];
#pragma HLS bind_storage variable=counts type=ram_2p impl=bram
    for (int b = 0; b < 16; ++b)
        counts[b] = bins[b];
work:
    for (int i = 0; i < 16; ++i) {
#pragma HLS pipeline
#pragma HLS dependence variable=counts type=inter direction=RAW distance=2 dependent=true
        counts[x[i]] = counts[x[i]] + 1;
    }
    for (int b = 0; b < 16; ++b)
        bins[b] = counts[b];
}

extern "C" void scatter(const int at[64], const float a[64], float factor, float x[64]) {
    float y[64];
    for (int i = 0; i < 64; ++i)
        y[i] = x[i];
work:
    for (int i = 0; i < 64; ++i) {
        y[at[i]] -= a[i] * factor;
    }
    for (int i = 0; i < 64; ++i)
        x[i] = y[i];
}

extern "C" void sum_in_place(const float a[64][128], float y[64]) {
    for (int j = 0; j < 64; ++j) {
        y[j] = 0;
    work:
        for (int i = 0; i < 128; ++i) {
            y[j] += a[j][i];
        }
    }
}

// a shift register whose first word the last iteration writes, and one whose first word any iteration may read
extern "C" void shifted(unsigned char taps[8], unsigned char x) {
work:
    for (int i = 7; i >= 0; i--) {
        if (i == 0)
            taps[0] = x;
        else
            taps[i] = taps[i - 1];
    }
}

extern "C" void shifted_from(unsigned char taps[8], unsigned char x, unsigned which) {
work:
    for (int i = 7; i >= 0; i--) {
        if (which == 0)
            taps[0] = x;
        else
            taps[i] = taps[i - 1];
    }
}

// the word is written in front of the loop, and changed under a condition
extern "C" void syndromes(const int received[255], const int table[256], int out[21]) {
    int sums[21];
    for (int i = 0; i < 21; ++i) {
        sums[i] = 0;
    work:
        for (int j = 0; j < 255; ++j)
            if (received[j] != -1)
                sums[i] ^= table[(received[j] + j) & 255];
        sums[i] = table[sums[i] & 255];
    }
    for (int i = 0; i < 21; ++i)
        out[i] = sums[i];
}

// the same, but the word may have been changed since
extern "C" void syndromes_again(const int received[255], const int table[256], int out[21]) {
    int sums[32];
    for (int i = 0; i < 21; ++i) {
        sums[i] = 0;
        sums[received[i] & 31] = 1;
    work:
        for (int j = 0; j < 255; ++j)
            if (received[j] != -1)
                sums[i] ^= table[(received[j] + j) & 255];
        sums[i] = table[sums[i] & 255];
    }
    for (int i = 0; i < 21; ++i)
        out[i] = sums[i];
}

extern "C" void greatest(const int a[64], const int b[64], const int c[64], int found[8]) {
work:
    for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline
        if (a[i] > found[0])
            found[0] = a[i];
        if (b[i] > found[1])
            found[1] = b[i];
        if (c[i] > found[2])
            found[2] = c[i];
        if (a[i] < found[3])
            found[3] = a[i];
    }
}

extern "C" void bounded(const int limits[8], const int a[64], int b[64]) {
work:
    for (int i = 0; i < limits[0]; ++i) {
#pragma HLS pipeline
        b[i] = a[i] * limits[1] + limits[2];
    }
}

extern "C" void swapped(int a[64]) {
work:
    for (int i = 0; i < 63; ++i) {
#pragma HLS pipeline
        int first = a[i], second = a[i + 1];
        if (first > second) {
            a[i] = second;
            a[i + 1] = first;
        }
    }
}

extern "C" void parts_of_words(const short in[8][46], short out[8][46]) {
    short lines[8][46];
#pragma HLS array_reshape variable=lines complete dim=2
    for (int i = 0; i < 8; ++i)
    work:
        for (int j = 0; j < 46; ++j) {
#pragma HLS pipeline
            lines[i][j] = in[i][j];
        }
    for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 46; ++j)
            out[i][j] = lines[i][45 - j];
}

// cells that were seen, of those that a list names: a cell that was seen is left as it is
extern "C" void marked(const unsigned char at[64], bool cells[256], unsigned short found[1]) {
    bool seen[256];
    unsigned short count = 0;
    for (int i = 0; i < 256; ++i)
        seen[i] = cells[i];
work:
    for (int i = 0; i < 64; ++i) {
        if (!seen[at[i]]) {
            seen[at[i]] = true;
            ++count;
        }
    }
    found[0] = count;
    for (int i = 0; i < 256; ++i)
        cells[i] = seen[i];
}

// a parameter without its first extent, and one that has it
static void butterflies(int line[], const int by) {
#pragma HLS inline
work:
    for (int k = 0; k < 128; ++k) {
#pragma HLS pipeline II=1
#pragma HLS dependence variable=line inter false
        const int first = k / 2 * 4 + k % 2;
        const int sum = line[first] + by, difference = line[first + 2] - by;
        line[first] = sum;
        line[first + 2] = difference;
    }
}

extern "C" void promised_of_a_pointer(const int in[256], int out[256], int by) {
    int line[256];
#pragma HLS array_partition variable=line cyclic factor=4
    for (int i = 0; i < 256; ++i)
        line[i] = in[i];
    butterflies(line, by);
    for (int i = 0; i < 256; ++i)
        out[i] = line[i];
}

static void butterflies_of_256(int line[256], const int by) {
#pragma HLS inline
work:
    for (int k = 0; k < 128; ++k) {
#pragma HLS pipeline II=1
#pragma HLS dependence variable=line inter false
        const int first = k / 2 * 4 + k % 2;
        const int sum = line[first] + by, difference = line[first + 2] - by;
        line[first] = sum;
        line[first + 2] = difference;
    }
}

extern "C" void promised_of_an_array(const int in[256], int out[256], int by) {
    int line[256];
#pragma HLS array_partition variable=line cyclic factor=4
    for (int i = 0; i < 256; ++i)
        line[i] = in[i];
    butterflies_of_256(line, by);
    for (int i = 0; i < 256; ++i)
        out[i] = line[i];
}

// two arrays that a loop around swaps
extern "C" void swapped_around(float *from, float *to, const float by[64], int times) {
    for (int time = 0; time < times; ++time) {
    work:
        for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
            to[i] = from[i] + by[i];
        }
        float *left = from;
        from = to;
        to = left;
    }
}

extern "C" void not_swapped(const float *from, float *to, const float by[64], int times) {
    for (int time = 0; time < times; ++time) {
    work:
        for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
            to[i] = from[i] + by[i];
        }
    }
}

// a row of scores that falls, to its end or until it is too small
extern "C" void falling(int first, int step, int scores[130]) {
    int score[130];
    for (int j = 0; j < 130; ++j) {
        score[j] = 0;
    }
    score[1] = first;
work:
    for (int j = 2; j < 129; ++j) {
#pragma HLS pipeline II=1
        score[j] = score[j - 1] - step;
    }
    for (int j = 0; j < 130; ++j) {
        scores[j] = score[j];
    }
}

extern "C" void falling_until(int first, int step, int scores[130]) {
    int score[130];
    for (int j = 0; j < 130; ++j) {
        score[j] = 0;
    }
    score[1] = first;
work:
    for (int j = 2; j < 129; ++j) {
#pragma HLS pipeline II=1
        if (score[j - 1] <= step) break;
        score[j] = score[j - 1] - step;
    }
    for (int j = 0; j < 130; ++j) {
        scores[j] = score[j];
    }
}
