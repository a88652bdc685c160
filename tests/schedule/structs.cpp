// Arrays of structs: of each field the tool makes a memory of its own.
struct port_t {
    short lengths[16];
    short sum;
    port_t() : sum(0) {
#pragma HLS array_partition variable=lengths complete
        for (int i = 0; i < 16; ++i) lengths[i] = 0;
    }
};
struct switch_t {
    int version;
    port_t ports[16];
};

// four words of arrays in the structs, which their constructor splits
void lengths_of_ports(int which, short to[16]) {
    static switch_t all;
    work: for (int i = 0; i < 16; ++i) {
#pragma HLS unroll factor=4
        all.ports[which & 15].lengths[i] = which + i;
    }
    for (int i = 0; i < 16; ++i) to[i] = all.ports[i].lengths[which & 15];
}

// four words of what stands beside them: nothing splits it for copies that a pragma makes
void sums_of_ports(int which, short to[16]) {
    static switch_t all;
    work: for (int i = 0; i < 16; ++i) {
#pragma HLS unroll factor=4
        all.ports[i].sum = which * i;
    }
    for (int i = 0; i < 16; ++i) to[i] = all.ports[i].sum;
}

// a word of each of two fields: two memories
void both_fields(int which, short to[16]) {
    static switch_t all;
    work: for (int i = 0; i < 16; ++i) {
#pragma HLS pipeline II=1
        short length = all.ports[i].lengths[which & 15];
        all.ports[i].lengths[(which + i) & 15] = i;
        all.ports[i].sum += length;
    }
    for (int i = 0; i < 16; ++i) to[i] = all.ports[i].sum;
}

// a pragma about a pointer that is one of two
void about_either(const int from[64], int to[64], bool first) {
    int a[64], b[64];
    for (int i = 0; i < 64; ++i) {
        a[i] = from[i];
        b[i] = from[i] + 1;
    }
    int *either = first ? a : b;
#pragma HLS array_partition variable=either complete
    work: for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        to[i] = either[i];
    }
}

// elements that nothing takes apart are words
struct eight_t {
    int values[7], last;
};
void copied_whole(const eight_t from[512], eight_t to[512]) {
    eight_t held[512];
    work: for (int i = 0; i < 512; ++i) {
#pragma HLS pipeline II=1
        held[i] = from[i];
    }
    for (int i = 0; i < 512; ++i) to[i] = held[511 - i];
}

// a pragma in a function that is given an array by one call, and a choice of arrays by another
static int first_of(int words[16], int at) {
#pragma HLS array_partition variable=words complete
    return words[at & 15] + words[(at + 1) & 15];
}
void given_both(const int from[16], int to[64], bool which) {
    int a[16], b[16];
    for (int i = 0; i < 16; ++i) {
        a[i] = from[i];
        b[i] = from[i] + 1;
    }
    work: for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=1
        to[i] = first_of(a, i) + first_of(which ? a : b, i);
    }
}
