// Loops over AXI ports, each with the figures of a public report or a rule of the vendor's documents.
extern "C" {

// the words of one iteration lie behind those of the one before: one burst, asked for before the loop
void in_order(const int* from, int to[512]) {
#pragma HLS interface ap_memory port=to
#pragma HLS interface m_axi port=from bundle=first
work:
    for (int i = 0; i < 512; ++i) {
#pragma HLS pipeline
        to[i] = from[i];
    }
}

// of a length that is known when the loop begins
void of_any_length(int* to, const int from[512], int words) {
#pragma HLS interface ap_memory port=from
#pragma HLS interface m_axi port=to bundle=first
work:
    for (int i = 0; i < words; ++i) {
#pragma HLS pipeline
        to[i] = from[i];
    }
}

// "Stride is incompatible": each word is asked for
void every_second(const int* from, int to[512]) {
#pragma HLS interface ap_memory port=to
#pragma HLS interface m_axi port=from bundle=first
work:
    for (int i = 0; i < 512; ++i) {
#pragma HLS pipeline
        to[i] = from[2 * i];
    }
}

// "is in the conditional branch"
void under_a_condition(int* to, const int from[512], const bool is[512]) {
#pragma HLS interface ap_memory port=from
#pragma HLS interface ap_memory port=is
#pragma HLS interface m_axi port=to bundle=first
work:
    for (int i = 0; i < 512; ++i) {
#pragma HLS pipeline
        if (is[i]) to[i] = from[i];
    }
}

// "is clobbered": the array is read and written
void read_and_written(int* words) {
#pragma HLS interface m_axi port=words bundle=first
work:
    for (int i = 0; i < 512; ++i) {
#pragma HLS pipeline
        words[i] = words[i] + 1;
    }
}

// "multiple potential reads to the same bundle in the same region"
void two_of_one_port(const int* one, const int* other, int to[512]) {
#pragma HLS interface ap_memory port=to
#pragma HLS interface m_axi port=one bundle=first
#pragma HLS interface m_axi port=other bundle=first
work:
    for (int i = 0; i < 512; ++i) {
#pragma HLS pipeline ii=2
        to[i] = one[i] ^ other[i];
    }
}

// rows of a larger picture: a burst for each, asked for within the loop that the nest became
void rows(const int* from, int to[8][64]) {
#pragma HLS interface ap_memory port=to
#pragma HLS interface m_axi port=from bundle=first
    for (int y = 0; y < 8; ++y) {
    work:
        for (int x = 0; x < 64; ++x) {
#pragma HLS pipeline
            to[y][x] = from[100 * y + x];
        }
    }
}

// sixteen words of 32 bits are one of 512, where the port may be widened
void sixteen_read(const int* from, int to[64]) {
#pragma HLS interface ap_memory port=to
#pragma HLS interface m_axi port=from bundle=first
work:
    for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline
        int sum = 0;
        for (int j = 0; j < 16; ++j) sum ^= from[16 * i + j];
        to[i] = sum;
    }
}

void sixteen_written(int* to, const int from[64]) {
#pragma HLS interface ap_memory port=from
#pragma HLS interface m_axi port=to bundle=first
work:
    for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline
        for (int j = 0; j < 16; ++j) to[16 * i + j] = from[i] ^ j;
    }
}

void rows_of_twenty(int* to, const int from[16][20]) {
#pragma HLS interface ap_memory port=from
#pragma HLS interface m_axi port=to bundle=first
    for (int y = 0; y < 16; ++y) {
    work:
        for (int x = 0; x < 20; ++x) {
#pragma HLS pipeline
            to[100 * y + x] = from[y][x];
        }
    }
}

// Marui-9/swiglu: latency=64 makes a request take 71 cycles, in the flow of IP too
void late(volatile int* from, int to[512]) {
#pragma HLS interface ap_memory port=to
#pragma HLS interface m_axi port=from bundle=first latency=64
work:
    for (int i = 0; i < 512; ++i) {
#pragma HLS pipeline
        to[i] = from[i];
    }
}

// words of no more than 128 bits
void sixteen_in_fours(const int* from, int to[64]) {
#pragma HLS interface ap_memory port=to
#pragma HLS interface m_axi port=from bundle=first max_widen_bitwidth=128
work:
    for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline
        int sum = 0;
        for (int j = 0; j < 16; ++j) sum ^= from[16 * i + j];
        to[i] = sum;
    }
}

// Risamp/ELEN90096-Group-2 (export_output_buffer_c1, RELU): the same word in all iterations is read before
void bias(const int* from, int to[512], int which) {
#pragma HLS interface ap_memory port=to
#pragma HLS interface m_axi port=from bundle=first
work:
    for (int i = 0; i < 512; ++i) {
#pragma HLS pipeline
        to[i] = from[which] + i;
    }
}

// tiagolascasas/heterogeneous-vitis-apps (convolve2d_smoothing, 2024.1): words of a loop that is unrolled stay in it
void taps(const unsigned char* image, const unsigned char* filter, unsigned char to[510]) {
#pragma HLS interface ap_memory port=to
#pragma HLS interface m_axi port=image bundle=first
#pragma HLS interface m_axi port=filter bundle=first
work:
    for (int i = 0; i < 510; ++i) {
#pragma HLS pipeline
        int sum = 0;
        for (int j = 0; j < 3; ++j) sum += image[i + j] * filter[j];
        to[i] = sum >> 4;
    }
}

// "volatile": each word is asked for (UG1399, Preconditions and Limitations of Burst Transfer)
void one_by_one(volatile int* from, int to[512]) {
#pragma HLS interface ap_memory port=to
#pragma HLS interface m_axi port=from bundle=first
work:
    for (int i = 0; i < 512; ++i) {
#pragma HLS pipeline
        to[i] = from[i];
    }
}

// two neighbours of volatile words, whose word a pragma widens
void neighbours(volatile unsigned short* from, unsigned to[512]) {
#pragma HLS interface ap_memory port=to
#pragma HLS interface m_axi port=from bundle=first max_widen_bitwidth=32
work:
    for (int i = 0; i < 512; ++i) {
#pragma HLS pipeline
        to[i] = from[2 * i] | unsigned(from[2 * i + 1]) << 8;
    }
}

// the whole picture: one burst
void all_rows(const int* from, int to[8][64]) {
#pragma HLS interface ap_memory port=to
#pragma HLS interface m_axi port=from bundle=first
    for (int y = 0; y < 8; ++y) {
    work:
        for (int x = 0; x < 64; ++x) {
#pragma HLS pipeline
            to[y][x] = from[64 * y + x];
        }
    }
}

// neighbouring words of one iteration follow one another in one burst
void fours(const int* from, int to[128]) {
#pragma HLS interface ap_memory port=to
#pragma HLS interface m_axi port=from bundle=first
work:
    for (int i = 0; i < 128; ++i) {
#pragma HLS pipeline ii=4
        to[i] = from[4 * i] ^ from[4 * i + 1] ^ from[4 * i + 2] ^ from[4 * i + 3];
    }
}

// four words from a multiple of 128 on, and from anywhere
void a_song(const unsigned* from, unsigned to[128], unsigned where) {
#pragma HLS interface ap_memory port=to
#pragma HLS interface m_axi port=from bundle=first
    unsigned first = where / 128 * 128;
work:
    for (int i = 0; i < 128; ++i) {
#pragma HLS unroll factor=4
#pragma HLS pipeline
#pragma HLS array_partition variable=to cyclic factor=4
        to[i] = from[first + i];
    }
}

void from_anywhere(const unsigned* from, unsigned to[128], int where) {
#pragma HLS interface ap_memory port=to
#pragma HLS interface m_axi port=from bundle=first
work:
    for (int i = 0; i < 128; ++i) {
#pragma HLS unroll factor=4
#pragma HLS pipeline
#pragma HLS array_partition variable=to cyclic factor=4
        to[i] = from[where + i];
    }
}
}

// xz-bruh-bwe/EE_278 (conv2d of lenet_support_1.cpp, 2023.1): the nest is one loop, which moves the bias too
extern "C" void windows(const float *image, const float *bias, float *out) {
#pragma HLS interface m_axi port = image bundle = gmem
#pragma HLS interface m_axi port = bias bundle = gmem
#pragma HLS interface m_axi port = out bundle = gout
    for (int f = 0; f < 6; ++f)
        work: for (int i = 0; i < 280; ++i) {
            float sum = bias[f];
            for (int k = 0; k < 5; ++k) sum += image[i + k * 32];
            out[f * 280 + i] = sum;
        }
}

// five words side by side, an odd number
extern "C" void five_from_anywhere(const int* from, int to[512], const int begins[512]) {
#pragma HLS interface ap_memory port=to
#pragma HLS interface ap_memory port=begins
#pragma HLS interface m_axi port=from bundle=first
work:
    for (int i = 0; i < 512; ++i) {
#pragma HLS pipeline
        int sum = 0;
        for (int k = 0; k < 5; ++k) sum ^= from[begins[i] + k];
        to[i] = sum;
    }
}

// two words each of two rows: no burst
extern "C" void windows_of_four(const int* image, int to[512]) {
#pragma HLS interface ap_memory port=to
#pragma HLS interface m_axi port=image bundle=first
work:
    for (int i = 0; i < 512; ++i) {
#pragma HLS pipeline
        to[i] = image[2 * i] ^ image[2 * i + 1] ^ image[2 * i + 1024] ^ image[2 * i + 1025];
    }
}

// two arrays by one port
extern "C" void sum_of_one_port(const int* one, const int* other, int* to, int words) {
#pragma HLS interface m_axi port=one bundle=first
#pragma HLS interface m_axi port=other bundle=first
#pragma HLS interface m_axi port=to bundle=first
work:
    for (int i = 0; i < words; ++i) {
#pragma HLS pipeline
        to[i] = one[i] + other[i];
    }
}
