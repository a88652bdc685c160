// Arrays that the vendor's compiler keeps copies of, to read them more often, and arrays of which it has none.
#include "ap_int.h"
#include "hls_stream.h"

// four reads of an array of the kernel's own
void read_often(hls::stream<float> &in, hls::stream<float> &out) {
    float words[1024];
    for (int i = 0; i < 1024; ++i)
        words[i] = in.read();
    work: for (int i = 0; i < 512; ++i) {
#pragma HLS pipeline II=1
        out.write(words[i] + words[i * 2 & 1023] + words[i * 3 & 1023] + words[i * 5 & 1023]);
    }
}

// sixteen of one that stays from call to call
void read_often_of_a_static(hls::stream<int> &in, hls::stream<int> &out) {
    static int line[4096];
#pragma HLS array_partition variable=line cyclic factor=32
    for (int i = 0; i < 4095; ++i)
        line[i] = line[i + 1];
    line[4095] = in.read();
    int all = 0;
    work: for (int j = 0; j < 112; ++j) {
#pragma HLS unroll factor=16
        all ^= line[300 + 32 * j];
    }
    out.write(all);
}

// eight of one that another loop writes at four places at once
void written_at_four_places(hls::stream<int> &in, hls::stream<int> &out) {
    int square[64][8];
    for (int i = 0; i < 256; ++i) {
#pragma HLS pipeline II=2
        int a = in.read();
        int row = a & 31, column = a >> 5 & 3;
        square[2 * row][2 * column] = a;
        square[2 * row][2 * column + 1] = -a;
        square[2 * row + 1][2 * column] = a + 1;
        square[2 * row + 1][2 * column + 1] = a - 1;
    }
    work: for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        int at = in.read() & 7, sum = 0;
        for (int k = 0; k < 8; ++k)
            sum += square[i * (k + 3) & 63][at];
        out.write(sum);
    }
}

// lines that the iteration writes and reads; no pragma asks for anything
void lines(hls::stream<int> &in, hls::stream<int> &out) {
    int linebuf[3][66];
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 66; ++c)
            linebuf[r][c] = 0;
    for (int row = 0; row < 64; ++row) {
        work: for (int column = 0; column < 64; ++column) {
            linebuf[2][column + 2] = in.read();
            int sum = 0;
            for (int r = 0; r < 3; ++r)
                for (int c = 0; c < 3; ++c)
                    sum += linebuf[r][column + c];
            out.write(sum);
        }
        for (int c = 0; c < 66; ++c) {
            linebuf[0][c] = linebuf[1][c];
            linebuf[1][c] = linebuf[2][c];
            linebuf[2][c] = 0;
        }
    }
}

// an array that two calls of a function are given
void sums_of(const int words[1024], hls::stream<int> &at, hls::stream<int> &out) {
    work: for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        int from = at.read() & 511, sum = 0;
        for (int k = 0; k < 10; ++k)
            sum += words[(from * (k + 3)) & 1023];
        out.write(sum);
    }
}

void called_twice(hls::stream<int> &in, hls::stream<int> &out) {
    int words[1024];
    for (int i = 0; i < 1024; ++i)
        words[i] = in.read();
    sums_of(words, in, out);
    out.write(0);
    sums_of(words, in, out);
}

// two calls with other constants: two functions
static void greatest_of(const int *words, int rows, hls::stream<int> &out) {
    for (int r = 0; r < rows; ++r) {
        work: for (int c = 0; c < rows; ++c) {
#pragma HLS pipeline II=1
            int most = 0;
            for (int k = 0; k < 10; ++k) {
                int word = words[((r * rows + c) * (k + 3)) & 1023];
                most = word > most ? word : most;
            }
            out.write(most);
        }
    }
}

void called_with_constants(hls::stream<int> &in, hls::stream<int> &out) {
    int words[1024], others[1024];
    for (int i = 0; i < 1024; ++i)
        words[i] = in.read();
    greatest_of(words, 28, out);
    for (int i = 0; i < 1024; ++i)
        others[i] = in.read();
    greatest_of(others, 14, out);
}

void called_once(hls::stream<int> &in, hls::stream<int> &out) {
    int words[1024];
    for (int i = 0; i < 1024; ++i)
        words[i] = in.read();
    sums_of(words, in, out);
}

// neighbours in both directions of a static: its banks are chosen at run time
void neighbours(hls::stream<int> &in, hls::stream<int> &out) {
    static int tile[66][66];
    for (int r = 0; r < 66; ++r)
        for (int c = 0; c < 66; ++c)
            tile[r][c] = in.read();
    for (int r = 0; r < 64; ++r) {
        work: for (int c = 0; c < 64; ++c) {
#pragma HLS pipeline II=1
            int sum = 0;
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j)
                    sum += tile[r + i][c + j];
            out.write(sum);
        }
    }
}

// ten sums in a memory; no pragma asks for anything
void ten_sums(hls::stream<int> &in, hls::stream<int> &out) {
    int sums[10] = {0};
    work: for (int i = 0; i < 196; ++i) {
        int value = in.read();
        for (int k = 0; k < 10; ++k)
            sums[k] += value * (k + 3);
    }
    for (int k = 0; k < 10; ++k)
        out.write(sums[k]);
}

// one line that the iteration writes once and reads three times
void one_line(hls::stream<int> &in, hls::stream<int> &out) {
    int line[66] = {0};
    for (int row = 0; row < 64; ++row) {
        work: for (int column = 0; column < 64; ++column) {
            line[column + 2] = in.read();
            out.write(line[column] + line[column + 1] * 3 + line[(column * 5) & 63]);
        }
    }
}

// a table that nothing writes, though it is no constant of the language
int table[64] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
void table_read_often(hls::stream<int> &in, hls::stream<int> &out) {
    work: for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        int at = in.read(), sum = 0;
        for (int k = 0; k < 20; ++k)
            sum ^= table[(at * (k + 3)) & 63];
        out.write(sum);
    }
}

// rows that are always named
void rows_apart(hls::stream<long> &in, hls::stream<long> &out) {
    long rows[2][1024];
    work: for (int i = 0; i < 1024; ++i) {
#pragma HLS unroll factor=2
        rows[0][i] = 0;
        rows[1][i] = 0;
    }
    for (int i = 0; i < 1024; ++i) {
#pragma HLS pipeline off
        long at = in.read() & 1023;
        rows[0][at] += 1;
        rows[1][at] -= 1;
        out.write(rows[0][at] * rows[1][at]);
    }
}

// an array that the host reaches through AXI-lite: a read and a write an iteration, and eleven reads
void reached_by_the_host(const int a[64], int c[64]) {
#pragma HLS interface s_axilite port=c
    work: for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        c[i] ^= a[i] * 5;
    }
}

void coefficients_of_the_host(hls::stream<int> &in, hls::stream<int> &out, int c[12], int length) {
#pragma HLS interface s_axilite port=c
    work: for (int i = 0; i < length; ++i) {
#pragma HLS pipeline II=1
        int word = in.read(), sum = 0;
        for (int k = 0; k < 11; ++k)
            sum += word * c[k] * (k + 1);
        out.write(sum);
        if (word == 0) break;
    }
}

// bytes that pointers lead through, of arrays of the host and of the kernel's own
static void exclusive_or(unsigned char *to, const unsigned char *from, const unsigned char *key, int count) {
    work: while (count-- > 0) *to++ = *from++ ^ *key++;
}
void moved_pointers(unsigned char text[16], const unsigned char keys[16]) {
#pragma HLS interface s_axilite port=text
#pragma HLS interface s_axilite port=keys
    exclusive_or(text + 4, text + 4, keys, 12);
}
void moved_pointers_apart(hls::stream<int> &in, hls::stream<int> &out) {
    unsigned char text[64], keys[64];
    for (int i = 0; i < 64; ++i) text[i] = in.read();
    for (int i = 0; i < 64; ++i) keys[i] = in.read();
    exclusive_or(text, text, keys, 64);
    for (int i = 0; i < 64; ++i) out.write(text[i]);
}

// a sum in a word that only the loop around moves, in some of the iterations: others may see the memory
typedef ap_fixed<16, 16, AP_RND, AP_SAT> sum_t;
static sum_t sums[128];
static const unsigned char ends[65] = {0, 3, 9, 12, 30, 31, 45, 70};
void sums_under_a_condition(hls::stream<short> &in, hls::stream<short> &out) {
    for (int j = 0; j < 64; ++j) {
        sums[j] += in.read();
        work: for (int i = ends[j]; i < ends[j + 1]; ++i) {
            short weight = in.read();
            if (weight & 1) sums[j] += sum_t(weight);
        }
        out.write(sums[j].to_int());
    }
}

// ZDAutomotive/DL-HLS-adapted: sixteen words of a port in each iteration, to an array of one block
#include <string.h>
void copies_of_words(const int *port, int out[256], unsigned count) {
#pragma HLS interface m_axi port=port
    int block[256];
    work: for (unsigned i = 0; i < count; i++) memcpy(&block[i * 16], port + i * 16, 16 * sizeof(int));
    for (int i = 0; i < 256; i++) out[i] = block[i];
}

// a structure is one word, however long
struct pixel_t { short channel[16]; };
void copies_of_structures(const pixel_t from[256], pixel_t to[256], unsigned count) {
#pragma HLS aggregate variable=from
#pragma HLS aggregate variable=to
    work: for (unsigned i = 0; i < count; i++) {
#pragma HLS pipeline II=1
        to[i] = from[i];
    }
}

// can.c of the same: four bytes at indices that C lets wrap
void indices_without_sign(const int from[24], unsigned char to[104], unsigned count, unsigned char out[104]) {
    unsigned char frame[104] = {0};
    unsigned at = 8;
    work: for (unsigned i = 0; i < count; i++) {
        const int word = from[i];
        frame[at + 16] = word >> 24;
        frame[at + 17] = word >> 16;
        frame[at + 18] = word >> 8;
        frame[at + 19] = word;
        at += 4;
    }
    for (int i = 0; i < 104; i++) out[i] = frame[i];
}

// rows of std::array are rows of words: what assigns one copies them one by one
#include <array>
void rows_assigned(hls::stream<int> &in, hls::stream<int> &out) {
    std::array<std::array<short, 10>, 96> rows, others;
    for (int i = 0; i < 96; ++i)
        for (int j = 0; j < 10; ++j) rows[i][j] = in.read();
    work: for (int i = 0; i < 96; ++i) others[i] = rows[i];
    for (int i = 0; i < 96; ++i) out.write(others[i][in.read() & 7]);
}

// sixteen words of one place of a port in each iteration: a copy stays where it stands
void copies_of_a_place(int *port, hls::stream<int> &out, unsigned count) {
#pragma HLS interface m_axi port=port
    int block[1024];
    work: for (unsigned i = 0; i < count; i++) memcpy(&block[i * 16], port + 1024, 16 * sizeof(int));
    for (int i = 0; i < 1024; i++) out.write(block[i]);
}

// nine rows that the stream chooses, at one column: a word of every row is read, and chosen among
void rows_chosen(hls::stream<int> &in, hls::stream<int> &out) {
    int rows[32][128];
#pragma HLS array_partition variable=rows complete dim=1
    for (int i = 0; i < 128; ++i)
        for (int j = 0; j < 32; ++j) rows[j][i] = in.read();
    int at[9];
#pragma HLS array_partition variable=at complete
    for (int k = 0; k < 9; ++k) at[k] = in.read() & 31;
    work: for (int i = 0; i < 128; ++i) {
#pragma HLS pipeline II=1
        int sum = 0;
        for (int k = 0; k < 9; ++k) sum += rows[at[k]][i];
        out.write(sum);
    }
}

// what two processes of a dataflow share is two halves that take turns, each with two ports
static void fill(hls::stream<int> &in, int half[2048]) {
    for (int i = 0; i < 2048; ++i) half[i] = in.read();
}
static void drain(const int half[2048], hls::stream<int> &out) {
    work: for (int i = 0; i < 512; ++i) {
#pragma HLS pipeline II=1
        out.write(half[i] + half[i * 3] + half[i + 7 * (i & 127)] + half[i ^ 1365]);
    }
}
static void turns(hls::stream<int> &in, hls::stream<int> &out, int count) {
    int half[2048];
    for (int row = 0; row < count; ++row) {
#pragma HLS dataflow
        fill(in, half);
        drain(half, out);
    }
}
void halves_in_turn(hls::stream<int> &in, hls::stream<int> &out, int count) {
    out.write(count);
    turns(in, out, count);
}

// seven reads of an array that a function of two loops fills, which the tool kept as a module in 2020.2
static void fill_either(hls::stream<float> &in, float words[4096], int from) {
    if (from == 0)
        for (int i = 0; i < 4096; ++i) words[i] = in.read();
    else
        for (int i = 0; i < 2048; ++i) words[i + from] = in.read() + 1;
}
static float seven_of(const float words[4096], int i) {
    return words[i] + words[i * 2] + words[i * 3] + words[i * 4] + words[i * 5] + words[i * 6] + words[i * 7];
}
void filled_by_a_module(hls::stream<float> &in, hls::stream<float> &out, int from) {
    float words[4096];
    fill_either(in, words, from);
    work: for (int i = 0; i < 512; ++i) out.write(seven_of(words, i));
}
// the same where the loops that fill it stand in the function that reads it
void filled_in_place(hls::stream<float> &in, hls::stream<float> &out, int from) {
    float words[4096];
    if (from == 0)
        for (int i = 0; i < 4096; ++i) words[i] = in.read();
    else
        for (int i = 0; i < 2048; ++i) words[i + from] = in.read() + 1;
    work: for (int i = 0; i < 512; ++i) out.write(seven_of(words, i));
}

// three rows of which each is one word, of which another loop writes one element at a time
void rows_written_in_part(hls::stream<int> &in, hls::stream<int> &out) {
    short rows[64][8];
#pragma HLS array_reshape variable=rows complete dim=2
    for (int i = 0; i < 64; ++i)
        for (int j = 0; j < 8; ++j) {
#pragma HLS pipeline II=4
            rows[i][j] = in.read();
        }
    work: for (int i = 0; i < 62; ++i) {
#pragma HLS pipeline II=1
        int sum = 0;
        for (int k = 0; k < 3; ++k)
            for (int j = 0; j < 8; ++j) sum += rows[i + k][j];
        out.write(sum);
    }
}

// iterations go from bank to bank: in each the address stays for sixteen of them
void sums_in_turn(hls::stream<int> &in, hls::stream<int> &out, int rows, int columns) {
    int sums[128];
#pragma HLS array_partition variable=sums cyclic factor=16
    for (int i = 0; i < columns; ++i) sums[i] = 0;
    for (int y = 0; y < rows; ++y)
        work: for (int i = 0; i < columns; ++i) {
#pragma HLS pipeline II=1
            sums[i] += in.read();
        }
    for (int i = 0; i < columns; ++i) out.write(sums[i]);
}

// a byte that goes through two tables, of which each is one word
void substituted_twice(hls::stream<unsigned char> &in, hls::stream<unsigned char> &out) {
    unsigned char first[256], second[256];
#pragma HLS array_reshape variable=first complete
#pragma HLS array_reshape variable=second complete
    for (int i = 0; i < 256; ++i) {
        first[i] = in.read();
        second[i] = first[i] * 7;
    }
    unsigned char state = in.read();
    work: for (int i = 0; i < 10; ++i) {
#pragma HLS pipeline
        state = second[first[state]] ^ in.read();
    }
    out.write(state);
}

// a window whose corner is one before the counters: both dimensions of the static are split
extern "C" void window_around(const signed char in[4 * 14 * 14], int out[14 * 14]) {
    static signed char image[4][14][14];
    for (int c = 0; c < 4; ++c)
        for (int r = 0; r < 14; ++r)
            for (int x = 0; x < 14; ++x) {
#pragma HLS pipeline II=1
                image[c][r][x] = in[(c * 14 + r) * 14 + x];
            }
    for (int r = 0; r < 14; ++r)
        for (int x = 0; x < 14; ++x) {
            int sum = 0;
        work:
            for (int c = 0; c < 4; ++c) {
#pragma HLS pipeline II=1
                for (int i = 0; i < 3; ++i)
                    for (int j = 0; j < 3; ++j) {
                        int row = r - 1 + i, column = x - 1 + j;
                        bool beside = row < 0 || row > 13 || column < 0 || column > 13;
                        sum += beside ? 0 : image[c][row][column];
                    }
            }
            out[r * 14 + x] = sum;
        }
}

// a row is written and three older ones are read, in banks of one port each, which two bits go round
void ring_of_rows(hls::stream<int> &in, hls::stream<int> &out) {
    static int rows[4][1024];
#pragma HLS array_partition variable=rows complete dim=1
#pragma HLS bind_storage variable=rows type=ram_1p impl=bram
    static ap_uint<2> newest = 0;
    work: for (int k = 0; k < 1024; ++k) {
#pragma HLS pipeline II=1
        int word = in.read();
        rows[newest][k] = word;
        int sum = word;
        for (int t = 1; t < 4; ++t) {
#pragma HLS unroll
            ap_uint<2> which = (newest - t) & 0x3;
            sum += rows[which][k] * t;
        }
        out.write(sum);
    }
    newest++;
}

// the same with another word of the row that is written: both are in one bank
void ring_of_rows_read_where_it_is_written(hls::stream<int> &in, hls::stream<int> &out) {
    static int rows[4][1024];
#pragma HLS array_partition variable=rows complete dim=1
#pragma HLS bind_storage variable=rows type=ram_1p impl=bram
    static int newest = 0;
    work: for (int k = 1; k < 1024; ++k) {
#pragma HLS pipeline II=1
        rows[newest & 3][k] = in.read();
        out.write(rows[(newest + 4) & 3][k - 1]);
    }
    newest++;
}

// four sums that take turns, in registers; and words of sixteen banks
void four_sums(const float in[128], float out[1]) {
    float sums[4] = {0};
#pragma HLS array_partition variable=sums complete
    work: for (int i = 0; i < 128; ++i) {
#pragma HLS pipeline II=1
        sums[i % 4] += in[i] * in[i];
    }
    out[0] = sums[0] + sums[1] + sums[2] + sums[3];
}
void two_sums(const float in[128], float out[1]) {
    float sums[2] = {0};
#pragma HLS array_partition variable=sums complete
    work: for (int i = 0; i < 128; ++i) {
#pragma HLS pipeline II=1
        sums[i % 2] += in[i] * in[i];
    }
    out[0] = sums[0] + sums[1];
}
void reduced_in_place(int words[64], const int by[64]) {
    int mine[64];
#pragma HLS array_partition variable=mine complete
    for (int i = 0; i < 64; ++i) mine[i] = words[i];
    work: for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        mine[i] = mine[i] * mine[i] * by[i];
    }
    for (int i = 0; i < 64; ++i) words[i] = mine[i];
}
void sums_in_counted_turn(const float in[8][128], float out[128]) {
    float sums[128];
#pragma HLS array_partition variable=sums cyclic factor=16
    for (int i = 0; i < 128; ++i) sums[i] = 0;
    for (int y = 0; y < 8; ++y)
        work: for (int i = 0; i < 128; ++i) {
#pragma HLS pipeline II=1
            sums[i] += in[y][i];
        }
    for (int i = 0; i < 128; ++i) out[i] = sums[i];
}

// the greatest of four words of a local array, of which two stand in each of two rows
extern "C" void pooled_rows(const short in[8][28][28], short out[8][14][14]) {
    static short rows[8][28][28];
    for (int c = 0; c < 8; ++c)
        for (int y = 0; y < 28; ++y)
            for (int x = 0; x < 28; ++x) {
#pragma HLS pipeline II=1
                rows[c][y][x] = in[c][y][x];
            }
    for (int c = 0; c < 8; ++c)
        for (int y = 0; y < 14; ++y)
        work:
            for (int x = 0; x < 14; ++x) {
#pragma HLS pipeline II=1
                short most = rows[c][2 * y][2 * x];
                short right = rows[c][2 * y][2 * x + 1];
                short below = rows[c][2 * y + 1][2 * x];
                short beside = rows[c][2 * y + 1][2 * x + 1];
                if (right > most) most = right;
                if (below > most) most = below;
                if (beside > most) most = beside;
                out[c][y][x] = most;
            }
}

// eight copies of a sum in a memory, of which a pragma asks, in a loop whose iterations nobody knows
extern "C" void copies_by_factor(const int weights[64], const int values[64][64], int heads, int out[64]) {
    static int sums[64], rows[64][64];
    for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        sums[i] = 0;
    }
    for (int t = 0; t < 64; ++t)
        for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
            rows[t][i] = values[t][i];
        }
    for (int t = 0; t < 64; ++t) {
        int weight = weights[t];
    work:
        for (int i = 0; i < heads; ++i) {
#pragma HLS pipeline II=1
#pragma HLS unroll factor=8
            sums[i] += weight * rows[t][i];
        }
    }
    for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        out[i] = sums[i];
    }
}

// 128 bits of a stream into two words of 64
extern "C" void two_words_of_one(hls::stream<ap_uint<128>> &in, unsigned n, ap_uint<64> last[2]) {
    ap_uint<64> words[4096];
#pragma HLS bind_storage variable=words type=ram_2p impl=uram latency=1
    unsigned at = 0;
work:
    do {
        ap_uint<128> value = in.read();
        memcpy(&words[2 * at], &value, 16);
        at++;
    } while (at != n);
    last[0] = words[2 * n - 1];
    last[1] = words[n];
}
