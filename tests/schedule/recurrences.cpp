// Loops that wait for registers: test_recurrences.py says what public reports have of loops like them.
#include <ap_fixed.h>
#include <ap_int.h>

extern "C" void summed(const float a[512], float out[1]) {
    float sum = out[0];
work:
    for (int i = 0; i < 512; ++i) {
#pragma HLS pipeline II=1
        sum += a[i];
    }
    out[0] = sum;
}

extern "C" void hashed(unsigned long key, unsigned out[1]) {
    unsigned hash = 0;
work:
    for (int i = 0; i < 20; ++i) {
#pragma HLS pipeline II=1
        hash += (key >> i) & 1;
        hash += hash << 10;
        hash ^= hash >> 6;
    }
    out[0] = hash;
}

extern "C" void hashed_by_itself(unsigned long key, unsigned out[1]) {
    unsigned hash = 0;
work:
    for (int i = 0; i < 200; ++i) {
        hash += (key >> i) & 1;
        hash += hash << 10;
        hash ^= hash >> 6;
    }
    out[0] = hash;
}

extern "C" void root_of(const ap_uint<16> parent[1024], ap_uint<16> from, ap_uint<16> found[1]) {
    ap_uint<16> root = from;
work:
    while (parent[root] != root) {
        root = parent[root];
    }
    found[0] = root;
}

typedef ap_fixed<15, 3> angle;
extern "C" void rotated(angle x, angle y, angle out[2]) {
work:
    for (int i = 0; i < 11; ++i) {
        angle along = x;
        if (y >= 0) {
            switch (i) {
                case 0: x += y; y -= along; break;
                case 1: x += y >> 1; y -= along >> 1; break;
                case 2: x += y >> 2; y -= along >> 2; break;
                case 3: x += y >> 3; y -= along >> 3; break;
                case 4: x += y >> 4; y -= along >> 4; break;
            }
        } else {
            switch (i) {
                case 0: x -= y; y += along; break;
                case 1: x -= y >> 1; y += along >> 1; break;
                case 2: x -= y >> 2; y += along >> 2; break;
                case 3: x -= y >> 3; y += along >> 3; break;
                case 4: x -= y >> 4; y += along >> 4; break;
            }
        }
    }
    out[0] = x;
    out[1] = y;
}

extern "C" void greatest_of_lanes(const float a[4096], float out[8]) {
    float lanes[8] = {0, 0, 0, 0, 0, 0, 0, 0};
#pragma HLS array_partition variable=lanes complete
work:
    for (int i = 0; i < 4096; ++i) {
#pragma HLS pipeline II=1
        if (a[i] > lanes[i & 7]) lanes[i & 7] = a[i];
    }
    for (int lane = 0; lane < 8; ++lane) out[lane] = lanes[lane];
}

extern "C" void divided(const int by[64], int out[8]) {
    int row[8] = {1, 2, 3, 4, 5, 6, 7, 8};
#pragma HLS array_partition variable=row complete
work:
    for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        for (int at = 0; at < 8; ++at) row[at] = row[at] / by[i];
    }
    for (int at = 0; at < 8; ++at) out[at] = row[at];
}

extern "C" void stepped(ap_fixed<17, 2> angle, ap_fixed<17, 2> out[1]) {
    ap_fixed<17, 2> left[18];
    const ap_fixed<17, 2> steps[17] = {0.785, 0.4636, 0.2449, 0.1243, 0.0624, 0.0312, 0.0156, 0.0078,
                                       0.0039, 0.0019, 0.0009, 0.0004, 0.0002, 0.0001, 0.00006, 0, 0};
    left[0] = angle;
work:
    for (int i = 0; i < 17; ++i) {
        if (left[i] >= 0)
            left[i + 1] = left[i] - steps[i];
        else
            left[i + 1] = left[i] + steps[i];
    }
    out[0] = left[16];
}

extern "C" void turned(const int a[512], int out[512]) {
    int at = -1;
work:
    for (int i = 0; i < 512; ++i) {
#pragma HLS pipeline II=1
        if (a[i] == 0) at = (at + 1) % 128;
        out[i] = at;
    }
}

extern "C" void halved(const int a[512], int out[512]) {
work:
    for (int i = 0; i < 512; ++i) {
#pragma HLS pipeline II=1
        out[i] = a[i] / 8;
    }
}

extern "C" void copied(const int a[512], int out[512]) {
work:
    for (int i = 0; i < 512; ++i) {
#pragma HLS pipeline II=64
        out[i] = a[i] + 1;
    }
}

// a bound that is a quotient: it is known before the loop begins
extern "C" void bounded(const int a[512], int out[512], const unsigned short of[2], const unsigned char by[2]) {
    const unsigned count = of[0], parts = by[1];
    unsigned at = 0;
work:
    for (unsigned i = 0; i < count / parts; i += 8) {
#pragma HLS pipeline II=1
        out[at++ & 511] = a[i & 511];
    }
}

// one under a condition stays where it stands
extern "C" void divided_at_times(const int a[512], int out[512], const unsigned by[2]) {
    const unsigned parts = by[0];
work:
    for (unsigned i = 0; i < 512; ++i) {
#pragma HLS pipeline II=1
        out[i] = a[i] > 0 ? 70000u / parts : 0u;
    }
}

// members of a struct that say how long the loop is, beside the array that it writes
struct board {
    bool marks[256];
    unsigned rows, columns;
};

extern "C" void cleared(unsigned rows, unsigned columns, const bool in[256], bool out[256]) {
    static board played;
    played.rows = rows;
    played.columns = columns;
    for (unsigned i = 0; i < played.rows * played.columns; ++i)
        played.marks[i] = in[i];
work:
    for (unsigned i = 0; i < played.rows * played.columns; ++i)
        played.marks[i] = false;
    for (int i = 0; i < 256; ++i)
        out[i] = played.marks[i];
}

// a table that is read seventeen times: with two ports that takes nine cycles, and so long an iteration
static const signed char WEIGHTS[17 * 64] = {3, 1, 4, 1, 5};

extern "C" void weighed(const signed char in[64], int out[17]) {
    int sums[17];
#pragma HLS array_partition variable=sums complete
    for (int n = 0; n < 17; ++n) {
#pragma HLS unroll
        sums[n] = 0;
    }
work:
    for (int f = 0; f < 64; ++f) {
#pragma HLS pipeline II=10
        for (int n = 0; n < 17; ++n)
            sums[n] += in[f] * WEIGHTS[f + n * 64];
    }
    for (int n = 0; n < 17; ++n)
        out[n] = sums[n];
}

// the same with a memory each: the products may share multipliers
extern "C" void shared(const signed char in[64], const signed char weights[17][64], int out[17]) {
#pragma HLS array_partition variable=weights complete dim=1
    int sums[17];
#pragma HLS array_partition variable=sums complete
    for (int n = 0; n < 17; ++n) {
#pragma HLS unroll
        sums[n] = 0;
    }
work:
    for (int f = 0; f < 64; ++f) {
#pragma HLS pipeline II=10
        for (int n = 0; n < 17; ++n)
            sums[n] += in[f] * weights[n][f];
    }
    for (int n = 0; n < 17; ++n)
        out[n] = sums[n];
}

// a sum that begins anew in a nest which becomes one loop
extern "C" void sums_of_rows(const float in[96], const float weights[32][96], float out[32]) {
    for (int i = 0; i < 32; ++i) {
        float sum = 0;
    work:
        for (int j = 0; j < 96; ++j)
            sum += weights[i][j] * in[j];
        out[i] = sum + 1.5f;
    }
}

// a difference is no accumulator's
extern "C" void sum_and_difference(const float in[128], const float other[128], float out[2]) {
    float sum = 0, difference = 0;
work:
    for (int i = 0; i < 128; ++i) {
        sum += in[i] * other[i];
        difference -= in[i] * other[127 - i];
    }
    out[0] = sum;
    out[1] = difference;
}

// the greatest of floats and where it stands
extern "C" void greatest(const float in[256], int &where) {
    int best = -1;
    float most = -999.9f;
work:
    for (int i = 0; i < 256; ++i) {
        if (in[i] > most) {
            best = i;
            most = in[i];
        }
    }
    where = best;
}

// the same of a struct's member, which a branch writes
struct patch {
    float least[5];
    int end;
};
extern "C" void greatest_of_patch(patch *of, const float radii[5]) {
    float lambda[5] = {0};
    for (int i = 0; i < 5; ++i)
        lambda[i] = of->least[i] / radii[i];
    float most = -2147483645.f;
work:
    for (int i = 0; i < 5; ++i) {
        if (lambda[i] > most) {
            of->end = i;
            most = lambda[i];
        }
    }
}

// sums one after the other: each begins with zero, in the iteration that follows the last one's end
extern "C" void sums_of_columns(const unsigned short words[100], float sums[200]) {
    static float table[100][200];
    for (int r = 0; r < 100; ++r)
        for (int c = 0; c < 200; ++c) table[r][c] += r;
    float sum = 0;
    for (unsigned short c = 0; c < 200; ++c) {
        work: for (unsigned short r = 0; r < 100; ++r)
            sum += table[r][c] * words[r];
        sums[c] = sum;
        sum = 0;
    }
}

// a sum that begins anew in each word of a local array
extern "C" void products_of_rows(const float in[96], const float weights[32][96], float out[32]) {
    float sums[32];
    for (int i = 0; i < 32; ++i) {
        sums[i] = 0;
        work: for (int j = 0; j < 96; ++j)
            sums[i] += weights[i][j] * in[j];
        sums[i] += 1.5f;
    }
    for (int i = 0; i < 32; ++i) out[i] = sums[i];
}

// a word that every iteration of the inner loop reads and writes, in a bank that the outer one chooses
extern "C" void products_in_banks(const signed char in[12][768], const short weights[768][768],
                                  int out[12][768]) {
    int sums[12][768];
#pragma HLS array_partition variable=sums complete dim=1
    for (int i = 0; i < 12; ++i)
        for (int j = 0; j < 768; ++j) sums[i][j] = j;
    for (int i = 0; i < 12; ++i)
        for (int j = 0; j < 768; ++j)
            work: for (int k = 0; k < 768; ++k) sums[i][j] += in[i][k] * weights[j][k];
    for (int i = 0; i < 12; ++i)
        for (int j = 0; j < 768; ++j) out[i][j] = sums[i][j];
}

// the same of floats, asked for
extern "C" void means_of_rows(const float in[12][768], float means[12]) {
    for (int i = 0; i < 12; ++i)
        work: for (int j = 0; j < 768; ++j) {
#pragma HLS pipeline II = 1
            means[i] += in[i][j];
        }
}
