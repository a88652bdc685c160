// Kernels whose II follows from ports, recurrences and public documentation: test_kernels.py says which and why.
#include <ap_fixed.h>
#include <ap_int.h>
#include <hls_stream.h>

typedef ap_uint<8> byte;
struct pair {
    int a, b;
};
struct token {
    int data;
    bool last;
};
struct six {
    byte lane[6];
    six() = default;
    six(const six &other) {
        for (int n = 0; n < 6; ++n) {
#pragma HLS unroll
            lane[n] = other.lane[n];
        }
    }
};
extern "C" int unknown(int x);

// recurrences through registers

extern "C" int sum_int(const int a[256]) {
    int sum = 0;
    for (int i = 0; i < 256; ++i) {
#pragma HLS pipeline II=1
        sum += a[i];
    }
    return sum;
}

extern "C" float sum_float(const float a[256]) {
    float sum = 0;
    for (int i = 0; i < 256; ++i) {
#pragma HLS pipeline II=1
        sum += a[i];
    }
    return sum;
}

extern "C" int static_state(int x) {
#pragma HLS pipeline II=1
    static int state = 0;
    state += x;
    return state;
}

extern "C" void shift_register(hls::stream<int> &in, hls::stream<int> &out) {
    static int taps[8];
#pragma HLS array_partition variable=taps complete
    for (int i = 0; i < 256; ++i) {
#pragma HLS pipeline II=1
        for (int k = 7; k > 0; --k)
            taps[k] = taps[k - 1];
        taps[0] = in.read();
        out.write(taps[7] + taps[3]);
    }
}

template <int N, typename T> T template_sum(const T (&a)[N]) {
    T sum = 0;
    for (int i = 0; i < N; ++i) {
#pragma HLS pipeline II=1
        sum += a[i];
    }
    return sum;
}

extern "C" ap_int<20> template_of_both(const ap_int<12> (&a)[64], const ap_int<20> (&b)[128]) {
    return template_sum<64, ap_int<12>>(a) + template_sum<128, ap_int<20>>(b);
}

extern "C" void automatic(const int a[64], int b[64]) {
    for (int i = 0; i < 64; ++i)
        b[i] = a[i] + 1;
}

extern "C" void not_pipelined(const int a[64], int b[64]) {
    for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline off
        b[i] = a[i] + 1;
    }
}

struct counted {
    int value, count;
    counted() : value(0), count(0) {}
    counted(int v);
};
counted::counted(int v) {
    value = v;
    count = 1;
}

extern "C" void constructed(const int a[64], int b[64]) {
    for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        counted one(a[i]);
        b[i] = one.value + one.count;
    }
}

// recurrences through memories

extern "C" void histogram(const byte in[1024], int counts[256]) {
#pragma HLS interface ap_memory port=counts
    for (int i = 0; i < 1024; ++i) {
#pragma HLS pipeline II=1
        counts[in[i]] += 1;
    }
}

extern "C" void histogram_promised(const byte in[1024], int counts[256]) {
#pragma HLS interface ap_memory port=counts
    for (int i = 0; i < 1024; ++i) {
#pragma HLS pipeline II=1
#pragma HLS dependence variable=counts inter false
        counts[in[i]] += 1;
    }
}

extern "C" void histogram_promised_war(const byte in[1024], int counts[256]) {
#pragma HLS interface ap_memory port=counts
    for (int i = 0; i < 1024; ++i) {
#pragma HLS pipeline II=1
#pragma HLS dependence variable=counts inter WAR false
        counts[in[i]] += 1;
    }
}

extern "C" void histogram_of_registers(const ap_uint<4> in[1024], int out[16]) {
    int counts[16];
#pragma HLS array_partition variable=counts complete
    for (int i = 0; i < 16; ++i)
#pragma HLS unroll
        counts[i] = 0;
work:
    for (int i = 0; i < 1024; ++i) {
#pragma HLS pipeline II=1
        counts[in[i]] += 1;
    }
    for (int i = 0; i < 16; ++i) {
#pragma HLS pipeline off
        out[i] = counts[i];
    }
}

extern "C" void in_place(int a[256]) {
    for (int i = 0; i < 256; ++i) {
#pragma HLS pipeline II=1
        a[i] = a[i] * 3;
    }
}

extern "C" void in_place_marked(int a[256]) {
#pragma HLS interface ap_memory port=a
    for (int i = 0; i < 256; ++i) {
#pragma HLS pipeline II=1
        a[i] = a[i] * 3;
    }
}

extern "C" void unsigned_counter(int a[300]) {
#pragma HLS interface ap_memory port=a
    for (ap_uint<9> i = 0; i < 300; ++i) {
#pragma HLS pipeline II=1
        a[i] = a[i] * 3;
    }
}

extern "C" void unsigned_bound(int a[300], unsigned n) {
#pragma HLS interface ap_memory port=a
    for (unsigned i = 0; i < n; ++i) {
#pragma HLS pipeline II=1
        a[i] = a[i] * 3;
    }
}

extern "C" void neighbour(int a[257]) {
#pragma HLS interface ap_memory port=a
    for (int i = 0; i < 256; ++i) {
#pragma HLS pipeline II=1
        a[i + 1] += a[i];
    }
}

extern "C" int pointer_chase(const ap_uint<9> next[512], int n) {
#pragma HLS interface ap_memory port=next
    ap_uint<9> at = 0;
    for (int i = 0; i < n; ++i) {
#pragma HLS pipeline II=1
        at = next[at];
    }
    return at;
}

extern "C" void distance_true(float a[300]) {
#pragma HLS interface ap_memory port=a
    for (int i = 0; i < 256; ++i) {
#pragma HLS pipeline II=1
#pragma HLS dependence variable=a inter RAW distance=32 true
        a[i + 32] = a[i] + 1.5f;
    }
}

extern "C" void distance_short(float a[300]) {
#pragma HLS interface ap_memory port=a
    for (int i = 0; i < 256; ++i) {
#pragma HLS pipeline II=1
        a[i + 2] = a[i] + 1.5f;
    }
}

extern "C" void distance_false(float a[300]) {
#pragma HLS interface ap_memory port=a
    for (int i = 0; i < 256; ++i) {
#pragma HLS pipeline II=1
#pragma HLS dependence variable=a inter RAW distance=8 true
        a[i + 2] = a[i] + 1.5f;
    }
}

extern "C" void promise_false(int a[300]) {
#pragma HLS interface ap_memory port=a
    for (int i = 0; i < 256; ++i) {
#pragma HLS pipeline II=1
#pragma HLS dependence variable=a inter false
        a[i + 1] = a[i] + 1;
    }
}

// ports of memories

extern "C" void two_reads(const int a[256], int b[256]) {
    for (int i = 0; i < 253; ++i) {
#pragma HLS pipeline II=1
        b[i] = a[i] + a[i + 1];
    }
}

extern "C" void three_reads(const int a[256], int b[256]) {
    for (int i = 0; i < 253; ++i) {
#pragma HLS pipeline II=1
        b[i] = a[i] + a[i + 1] + a[i + 2];
    }
}

extern "C" void four_reads(const int a[256], int b[256]) {
    for (int i = 0; i < 253; ++i) {
#pragma HLS pipeline II=1
        b[i] = a[i] + a[i + 1] + a[i + 2] + a[i + 3];
    }
}

extern "C" void five_reads(const int a[256], int b[256]) {
    for (int i = 0; i < 252; ++i) {
#pragma HLS pipeline II=1
        b[i] = a[i] + a[i + 1] + a[i + 2] + a[i + 3] + a[i + 4];
    }
}

extern "C" void four_reads_asked_for_two(const int a[256], int b[256]) {
    for (int i = 0; i < 253; ++i) {
#pragma HLS pipeline II=2
        b[i] = a[i] + a[i + 1] + a[i + 2] + a[i + 3];
    }
}

extern "C" void two_writes_and_a_read(const int in[64], int a[1024]) {
#pragma HLS interface ap_memory port=a
    for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        int old = a[i];
        a[i + 256] = in[i];
        a[i + 512] = old;
    }
}

extern "C" void one_port(int a[512]) {
#pragma HLS interface ap_memory port=a
#pragma HLS bind_storage variable=a type=ram_1p
    for (int i = 0; i < 256; ++i) {
#pragma HLS pipeline II=1
        a[i + 256] = a[i];
    }
}

extern "C" void one_port_by_interface(int a[512]) {
#pragma HLS interface mode=ap_memory port=a storage_type=ram_1p storage_impl=bram
    for (int i = 0; i < 256; ++i) {
#pragma HLS pipeline II=1
        a[i + 256] = a[i];
    }
}

extern "C" void diagonal(hls::stream<int> &out, const int factor[8][8]) {
#pragma HLS array_partition variable=factor complete dim=2
    for (int i = 0; i < 7; ++i) {
#pragma HLS pipeline II=1
        out.write(factor[i][i] + factor[7 - i][7 - i] + factor[i ^ 1][i]);
    }
}

extern "C" void a_port_for_each(int a[512]) {
#pragma HLS interface ap_memory port=a
#pragma HLS bind_storage variable=a type=ram_s2p impl=bram
    for (int i = 0; i < 256; ++i) {
#pragma HLS pipeline II=1
        a[i + 256] = a[i];
    }
}

extern "C" void exclusive(const int a[256], const byte which[256], int b[256]) {
    for (int i = 0; i < 256; ++i) {
#pragma HLS pipeline II=1
        byte one = which[i];
        int x;
        if (one == 0)
            x = a[i] + 1;
        else if (one == 1)
            x = a[255 - i] * 3;
        else
            x = a[one] ^ 5;
        b[i] = x;
    }
}

extern "C" void line_buffer(hls::stream<byte> &in, hls::stream<ap_uint<24>> &out) {
    byte lines[2][640];
#pragma HLS array_partition variable=lines complete dim=1
    for (int y = 0; y < 480; ++y)
        for (int x = 0; x < 640; ++x) {
#pragma HLS pipeline II=1
            byte newest = in.read();
            out.write((newest, lines[1][x], lines[0][x]));
            lines[0][x] = lines[1][x];
            lines[1][x] = newest;
        }
}

extern "C" void ping_pong(hls::stream<int> &in, hls::stream<int> &out) {
    int halves[2][512];
#pragma HLS array_partition variable=halves complete dim=1
    for (int n = 0; n < 100; ++n)
        for (int i = 0; i < 512; ++i) {
#pragma HLS pipeline II=1
            out.write(halves[n & 1][i]);
            halves[(n + 1) & 1][i] = in.read();
        }
}

// partitions

extern "C" void cyclic(const int a[256], int b[64]) {
#pragma HLS array_partition variable=a cyclic factor=4
    for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        b[i] = a[4 * i] + a[4 * i + 1] + a[4 * i + 2] + a[4 * i + 3];
    }
}

extern "C" void cyclic_of_two(const int a[256], int b[64]) {
#pragma HLS array_partition variable=a cyclic factor=2
    for (int i = 0; i < 63; ++i) {
#pragma HLS pipeline II=1
        b[i] = a[4 * i] + a[4 * i + 2] + a[4 * i + 4] + a[4 * i + 6];
    }
}

extern "C" void block(const int a[256], int b[64]) {
#pragma HLS interface ap_memory port=a
#pragma HLS array_partition variable=a block factor=4
    for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        b[i] = a[i] + a[i + 64] + a[i + 128] + a[i + 192];
    }
}

template <int COUNT> static int quarters(const int a[COUNT * 4], int at)
{
#pragma HLS array_partition variable=a block factor=4
    return a[at] + a[at + COUNT] + a[at + 2 * COUNT] + a[at + 3 * COUNT];
}

extern "C" void block_of_template(const int a[256], int b[64]) {
    for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        b[i] = quarters<64>(a, i);
    }
}

extern "C" void rows_of_argument(const int a[3 * (2 + 2)][16], int b[64])
#pragma HLS interface ap_memory port=a
#pragma HLS array_partition variable=a complete dim=1
{
    for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        b[i] = a[0][i & 15] + a[11][i & 15];
    }
}

extern "C" void few_cores(const float a[64][8], float b[64][8]) {
#pragma HLS array_partition variable=a complete dim=2
#pragma HLS array_partition variable=b complete dim=2
#pragma HLS interface ap_memory port=a
#pragma HLS interface ap_memory port=b
    for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
#pragma HLS allocation operation instances=fmul limit=3
        for (int k = 0; k < 8; ++k)
            b[i][k] = a[i][k] * 3.0f;
    }
}

static unsigned short rounded(float x)
{
    const unsigned bits = __builtin_bit_cast(unsigned, x);
    return static_cast<unsigned short>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

extern "C" void few_instances(const float a[64][8], unsigned short b[64][8]) {
#pragma HLS array_partition variable=a complete dim=2
#pragma HLS array_partition variable=b complete dim=2
#pragma HLS interface ap_memory port=a
#pragma HLS interface ap_memory port=b
    for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
#pragma HLS allocation function instances=rounded limit=3
        for (int k = 0; k < 8; ++k)
            b[i][k] = rounded(a[i][k]);
    }
}

extern "C" void two_scattered(const int at[64], const int other[64], int c[64]) {
#pragma HLS interface ap_memory port=at
#pragma HLS interface ap_memory port=other
#pragma HLS interface ap_memory port=c
    for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        c[at[i]] = i;
        c[other[i]] = -i;
    }
}

extern "C" void first_write(const int x[64][64], int c[64]) {
#pragma HLS interface ap_memory port=c
#pragma HLS interface ap_memory port=x
    for (int k = 0; k < 64; ++k)
        for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
            if (k == 0)
                c[i] = 0;
            c[i] += x[k][i];
        }
}

extern "C" void written_in_one_branch(const int x[64], int c[64], int d[64]) {
#pragma HLS interface ap_memory port=c
#pragma HLS interface ap_memory port=x
#pragma HLS interface ap_memory port=d
    for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        c[i] = 0;
        d[i] = c[x[i] & 63];
        if (x[i] > 3)
            c[i] = x[i];
    }
}

extern "C" void greatest_float(const float a[64], float *b) {
    float most = 0;
    for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        most = fmaxf(most, a[i]);
    }
    *b = most;
}

extern "C" void complete(const int a[32][8], int b[32]) {
#pragma HLS array_partition variable=a complete dim=2
    for (int i = 0; i < 32; ++i) {
#pragma HLS pipeline II=1
        int sum = 0;
        for (int k = 0; k < 8; ++k)
            sum += a[i][k];
        b[i] = sum;
    }
}

extern "C" void reshaped(const int a[256], int b[64]) {
#pragma HLS array_reshape variable=a cyclic factor=4
    for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        b[i] = a[4 * i] + a[4 * i + 1] + a[4 * i + 2] + a[4 * i + 3];
    }
}

extern "C" void runtime_banks(const ap_uint<2> where[64][4], const int in[64][4], int out[64][4]) {
#pragma HLS array_partition variable=where complete dim=2
#pragma HLS array_partition variable=in complete dim=2
#pragma HLS array_partition variable=out complete dim=2
    for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        for (int k = 0; k < 4; ++k)
            out[i][where[i][k]] = in[i][k];
    }
}

extern "C" void unrolled_by_factor(hls::stream<int> &out) {
    int a[4096];
    for (int i = 0; i < 4096; ++i) {
#pragma HLS pipeline off
        a[i] = i * i;
    }
work:
    for (int i = 0; i < 4096; ++i) {
#pragma HLS pipeline II=1
#pragma HLS unroll factor=4
        if (a[i] == 77)
            a[i] = 5;
    }
    for (int i = 0; i < 4096; ++i) {
#pragma HLS pipeline off
        out.write(a[i]);
    }
}

extern "C" void unrolled_and_cyclic(hls::stream<int> &in, hls::stream<int> &out) {
    int a[1024], b[1024];
#pragma HLS array_partition variable=a cyclic factor=4
#pragma HLS array_partition variable=b cyclic factor=4
    for (int i = 0; i < 1024; ++i) {
#pragma HLS pipeline off
        a[i] = in.read();
    }
work:
    for (int i = 0; i < 1024; ++i) {
#pragma HLS pipeline II=1
#pragma HLS unroll factor=4
        b[i] = a[i] * 3;
    }
    for (int i = 0; i < 1024; ++i) {
#pragma HLS pipeline off
        out.write(b[i]);
    }
}

extern "C" void block_of_local(hls::stream<int> &in, hls::stream<int> &out) {
    int a[256];
#pragma HLS array_partition variable=a block factor=4
    for (int i = 0; i < 256; ++i) {
#pragma HLS pipeline off
        a[i] = in.read();
    }
work:
    for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        out.write(a[i] + a[i + 64] + a[i + 128] + a[i + 192]);
    }
}

extern "C" void outer_pipelined(hls::stream<int> &in, hls::stream<int> &out) {
    int a[64][8];
    for (int i = 0; i < 512; ++i) {
#pragma HLS pipeline off
        a[i / 8][i % 8] = in.read();
    }
work:
    for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        int sum = 0;
        for (int k = 0; k < 8; ++k)
            sum += a[i][k];
        out.write(sum);
    }
}

// structs

extern "C" void disaggregated(hls::stream<int> &in, hls::stream<int> &out) {
    pair a[256];
    for (int i = 0; i < 256; ++i) {
#pragma HLS pipeline off
        a[i].a = in.read();
        a[i].b = in.read();
    }
work:
    for (int i = 0; i < 254; ++i) {
#pragma HLS pipeline II=1
        out.write(a[i].a + a[i + 1].a + a[i].b + a[i + 2].b);
    }
}

template <int N> struct bank {
    int words[N];
};

template <int N> void add_to(bank<N> (&banks)[4], ap_uint<4> at, int x) {
#pragma HLS dependence variable=banks inter false
    for (int k = 0; k < 4; ++k)
        banks[k].words[at] += x;
}

extern "C" void members(hls::stream<int> &in) {
    static bank<16> banks[4];
    static bank<1> single[4];
#pragma HLS array_partition variable=banks complete
#pragma HLS array_partition variable=single complete
    for (int i = 0; i < 256; ++i) {
#pragma HLS pipeline II=1
        int x = in.read();
        add_to(banks, ap_uint<4>(x), x);
        add_to(single, ap_uint<4>(x >> 8), x);
    }
}

extern "C" void aggregated(hls::stream<int> &in, hls::stream<int> &out) {
    pair a[256];
#pragma HLS aggregate variable=a
    for (int i = 0; i < 256; ++i) {
#pragma HLS pipeline off
        a[i].a = in.read();
        a[i].b = in.read();
    }
work:
    for (int i = 0; i < 254; ++i) {
#pragma HLS pipeline II=1
        out.write(a[i].a + a[i + 1].a + a[i].b + a[i + 2].b);
    }
}

// streams and ports

extern "C" void stream_read_twice(hls::stream<int> &in, hls::stream<int> &out) {
    for (int i = 0; i < 256; ++i) {
#pragma HLS pipeline II=1
        int first = in.read();
        out.write(first - in.read());
    }
}

extern "C" void stream_read_in_either(hls::stream<int> &in, hls::stream<int> &out, hls::stream<bool> &flags) {
    for (int i = 0; i < 256; ++i) {
#pragma HLS pipeline II=1
        if (flags.read())
            out.write(in.read() + 1);
        else
            out.write(in.read() - 1);
    }
}

extern "C" void either_stream(hls::stream<six> &in, hls::stream<six> &other, hls::stream<six> &out) {
    for (int i = 0; i < 256; ++i) {
#pragma HLS pipeline II=1
        out.write(i & 1 ? in.read() : other.read());
    }
}

extern "C" void until_last(hls::stream<token> &in, hls::stream<int> &out) {
    token one;
    do {
#pragma HLS pipeline II=1
        one = in.read();
        out.write(one.data);
    } while (!one.last);
}

extern "C" void axi_one_bundle(const int *a, const int *b, hls::stream<int> &out) {
#pragma HLS interface m_axi port=a bundle=gmem0
#pragma HLS interface m_axi port=b bundle=gmem0
    for (int i = 0; i < 256; ++i) {
#pragma HLS pipeline II=1
        out.write(a[i] + b[i]);
    }
}

extern "C" void axi_two_bundles(const int *a, const int *b, hls::stream<int> &out) {
#pragma HLS interface m_axi port=a bundle=gmem0
#pragma HLS interface m_axi port=b bundle=gmem1
    for (int i = 0; i < 256; ++i) {
#pragma HLS pipeline II=1
        out.write(a[i] + b[i]);
    }
}

extern "C" void axi_read_and_write(const int *a, int *b) {
#pragma HLS interface m_axi port=a bundle=gmem0
#pragma HLS interface m_axi port=b bundle=gmem0
    for (int i = 0; i < 256; ++i) {
#pragma HLS pipeline II=1
        b[i] = a[i] + 1;
    }
}

// whole functions

extern "C" int whole_function(const int a[4]) {
#pragma HLS interface ap_memory port=a
#pragma HLS bind_storage variable=a type=rom_2p impl=bram
#pragma HLS pipeline II=1
    int sum = 0;
    for (int k = 0; k < 4; ++k)
        sum += a[k];
    return sum;
}

extern "C" void even_places_of_words(const int a[1024], const ap_uint<8> starts[64], int b[64]) {
#pragma HLS array_partition variable=a cyclic factor=8
    for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        const int start = 2 * starts[i].to_int();
        const int word = start / 8 * 8;
        b[i] = a[word] + a[word + 2] + a[word + 4] + a[start | 6];
    }
}

struct padded {
    ap_fixed<11, 6> value;
    ap_uint<3> index;
};

static padded larger(const ap_fixed<11, 6> (&word)[2], int first) {
#pragma HLS inline
    padded of[2];
#pragma HLS array_partition variable=of complete
    for (int s = 0; s < 2; ++s) {
#pragma HLS unroll
        of[s].value = word[s];
        of[s].index = first + s;
    }
    if (of[1].value > of[0].value) of[0] = of[1];
    return of[0];
}

extern "C" void bits_between_members(const ap_fixed<11, 6> a[64][2], ap_uint<3> b[64]) {
#pragma HLS array_partition variable=a complete dim=2
    for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        const ap_fixed<11, 6> word[2] = {a[i][0], a[i][1]};
        b[i] = larger(word, i).index;
    }
}

// what cannot be decided

extern "C" void rolled_inside(const int a[64][64], const int lengths[64], int b[64]) {
    for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        int sum = 0;
        for (int k = 0; k < lengths[i]; ++k)
            sum += a[i][k];
        b[i] = sum;
    }
}

extern "C" void calls_unknown(const int a[64], int b[64]) {
    for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        b[i] = unknown(a[i]);
    }
}

// widths

extern "C" void products(const ap_fixed<7, 3> a[64], const ap_fixed<9, 4> b[64], ap_fixed<16, 7> out[64]) {
    for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        out[i] = a[i] * b[i];
    }
}

extern "C" void unsigned_products(const ap_uint<5> a[64], const ap_uint<11> b[64], ap_uint<16> out[64]) {
    for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        out[i] = a[i] * b[i];
    }
}

static int squared(int x) {
#pragma HLS pipeline
    return x * x;
}

// what the function says of itself is nothing that it says of the loop
extern "C" void four_for_one_that_calls(const int a[64], int b[64]) {
    for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=4
        b[i] = squared(a[i]) + 1;
    }
}

extern "C" void none_for_one_that_calls(const int a[64], int b[64]) {
    for (int i = 0; i < 64; ++i)
        b[i] = squared(a[i]) + 1;
}
