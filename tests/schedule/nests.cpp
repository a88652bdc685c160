// Nests of which the inner bound is a variable: one loop of the tool where the loop around leaves it alone.
#include "ap_int.h"
#include "hls_stream.h"

typedef hls::stream<ap_uint<8>> Bytes;

void bytes_again(const ap_uint<8> *memory, Bytes &out, int times, int side) {
#pragma HLS interface m_axi port=memory bundle=words offset=slave
    for (int time = 0; time < times; ++time) {
    bytes_again:
        for (int at = 0; at < side * side; ++at) {
#pragma HLS pipeline
            out.write(memory[at]);
        }
    }
}

void counted_alone(Bytes &in, Bytes &out, int times, int words) {
    for (int time = 0; time < times; ++time) {
    counted_alone:
        for (int at = 0; at < words; ++at) {
#pragma HLS pipeline
            out.write(in.read() + 1);
        }
    }
}

void rows_of_blocks(int image[4096], int top, int left) {
    for (int row = top; row < top + 15 && row < 64; ++row) {
    rows_of_blocks:
        for (int column = left; column < left + 15 && column < 64; ++column) {
#pragma HLS pipeline
            image[row * 64 + column] = row + column;
        }
    }
}

void triangle(int out[4096], int size) {
    for (int row = 0; row < size; ++row) {
    triangle:
        for (int column = 0; column < row; ++column) {
#pragma HLS pipeline
            out[row * 64 + column] = column;
        }
    }
}

void under_a_condition(int out[4096], int first, int rows, int columns) {
    for (int row = 0; row < rows; ++row) {
        if (row >= first) {
        under_a_condition:
            for (int column = 0; column < columns; ++column) {
#pragma HLS pipeline
                out[row * 64 + column] = column;
            }
        }
    }
}

void bound_in_a_memory(const int ends[64], int out[4096], int rows) {
    for (int row = 0; row < rows; ++row) {
    bound_in_a_memory:
        for (int column = 0; column < ends[row]; ++column) {
#pragma HLS pipeline
            out[row * 64 + column] = column;
        }
    }
}

void kept_apart(int out[4096]) {
    for (int row = 0; row < 64; ++row) {
#pragma HLS loop_flatten off
    kept_apart:
        for (int column = 0; column < 64; ++column) {
#pragma HLS pipeline
            out[row * 64 + column] = column;
        }
    }
}

void kept_apart_within(int out[4096]) {
    for (int row = 0; row < 64; ++row) {
    kept_apart_within:
        for (int column = 0; column < 64; ++column) {
#pragma HLS pipeline
#pragma HLS loop_flatten off
            out[row * 64 + column] = column;
        }
    }
}

void one_loop(int out[4096]) {
    for (int row = 0; row < 64; ++row) {
    one_loop:
        for (int column = 0; column < 64; ++column) {
#pragma HLS pipeline
            out[row * 64 + column] = column;
        }
    }
}

void with_a_return(const int in[4096], int &found) {
    for (int row = 0; row < 64; ++row) {
    with_a_return:
        for (int column = 0; column < 64; ++column) {
#pragma HLS pipeline
            if (in[row * 64 + column] > 9) {
                found = row;
                return;
            }
        }
    }
}
