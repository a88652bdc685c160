// What moves between DDR and the array, each loop a process of its own: pixels, weights, the tensor that is added,
// results.
#ifndef HLSGEN_LOAD_H
#define HLSGEN_LOAD_H

#include <hls_stream.h>

#include "hlsgen/stage.h"
#include "processor.h"
#include "sized.h"

namespace processor {

enum process { LOAD, WEIGHTS, RESIDUAL, ARRAY, FINISH, STORE, POOL, FILL_TABLE };

// Of these, the ones that a descriptor goes to.
constexpr int PROCESSES = POOL_COLUMNS > 0 ? POOL + 1 : STORE + 1;

inline int least(int a, int b) { return a < b ? a : b; }
inline int most(int a, int b) { return a > b ? a : b; }

// The descriptor of a task from memory, word by word to each process. Were its fields arguments of the processes, each of
// them would be a FIFO to each process.
inline void fetch(const int *program, hls::stream<int> (&descriptors)[PROCESSES], int task) {
    words: for (int i = 0; i < DESCRIPTOR; ++i) {
#pragma HLS pipeline II=1 style=flp
        const int word = program[task * DESCRIPTOR + i];
        for (int p = 0; p < PROCESSES; ++p) {
#pragma HLS unroll
            descriptors[p].write(word);
        }
    }
}

// A task as a process is told it: of its words only those stay that the process uses.
inline void receive(hls::stream<int> &descriptor, task_t &task) {
#pragma HLS inline
    int word[DESCRIPTOR];
#pragma HLS array_partition variable=word complete
    words: for (int i = 0; i < DESCRIPTOR; ++i) {
#pragma HLS pipeline II=1 style=flp
        word[i] = descriptor.read();
    }
    decode(word, task);
}

// Blocks of ROWS input rows that lie in the image, of those of a band.
struct band_blocks {
    int first, count;
    int outside;  // blocks of the band above the image

    band_blocks(const task_t &task, int band) {
#pragma HLS inline
        const int from = task.band_first + band * task.band_step;
        first = most(from, 0);
        count = most(least(from + task.band_blocks, task.in_blocks) - first, 0);
        outside = first - from;
    }
};

// Blocks of ROWS output rows of a band: the last one may have fewer.
inline int output_blocks(const task_t &task, int band) {
#pragma HLS inline
    return least(task.band_out, task.out_blocks - band * task.band_out);
}

// The same of the tensor that is stored, which may be pooled.
inline int stored_blocks(const task_t &task, int band) {
#pragma HLS inline
    return least(task.stored_band, task.stored_blocks - band * task.stored_band);
}

// Rows of a source of which each counts several times: where the rows of a block lie in it.
struct repeated_rows {
    int repeat, line;  // words of a block of the source
    int again;         // how often the row has been taken
    int in_block, block;
    int place[ROWS];

    explicit repeated_rows(const task_t &task)
        : repeat(task.repeat_rows), line(task.repeat_line), again(0), in_block(0), block(0), place() {
#pragma HLS array_partition variable=place complete
    }

    void next_block() {
        rows: for (int r = 0; r < ROWS; ++r) {
#pragma HLS pipeline II=1 style=flp
            place[r] = block + in_block;
            const bool row_ends = again == repeat - 1;
            const bool block_ends = row_ends && in_block == ROWS - 1;
            again = row_ends ? 0 : again + 1;
            if (row_ends) in_block = block_ends ? 0 : in_block + 1;
            if (block_ends) block += line;
        }
    }
};

// A channel group of a band whose rows and columns count several times (nearest upsampling), word by word.
inline void load_repeated(const word_t *plane, hls::stream<word_t> &pixels, const task_t &task,
                          const band_blocks &blocks) {
    repeated_rows rows(task);
    skipped: for (int block = 0; block < blocks.first; ++block) rows.next_block();
    blocks: for (int block = 0; block < blocks.count; ++block) {
#pragma HLS loop_tripcount min=1 max=MOST_STEPS
        rows.next_block();
        hlsgen::counter<ROWS> row;
        int column = 0, again = 0;
        const int words = task.in_columns * ROWS;
        words: for (int i = 0; i < words; ++i) {
#pragma HLS pipeline II=1 style=flp
#pragma HLS loop_tripcount min=1 max=MOST_ITERATIONS
            hlsgen::iteration_of(LOAD);
            pixels.write(plane[column + rows.place[row.value]]);
            if (row.advance()) {
                const bool column_ends = again == task.repeat_columns - 1;
                again = column_ends ? 0 : again + 1;
                if (column_ends) column += ROWS;
            }
        }
    }
}

// The pixels of each band: for each of its frames and channel groups some whole blocks, column by column the rows.
inline void load(hls::stream<int> &descriptor, const word_t *memory, hls::stream<word_t> &pixels, int round) {
    task_t task;
    receive(descriptor, task);
    const bool repeats = task.repeat_rows > 1 || task.repeat_columns > 1;
    for (int sequel = 0; sequel < task.frame_bands; ++sequel) {
#pragma HLS loop_tripcount min=1 max=MOST_STEPS
        for (int band = 0; band < task.bands; ++band) {
#pragma HLS loop_tripcount min=1 max=MOST_STEPS
            const band_blocks blocks(task, band);
            const int words = blocks.count * task.in_columns * ROWS;
            for (int frame = 0; frame < task.frames; ++frame) {
#pragma HLS loop_tripcount min=1 max=MOST_STEPS
                for (int group = 0; group < task.in_groups; ++group) {
#pragma HLS loop_tripcount min=1 max=MOST_STEPS
                    const int plane = task.in_base + round * task.in_round +
                                      (sequel * task.frames + frame) * task.in_frame + group * task.in_plane;
                    if (repeats) {
                        load_repeated(memory + plane, pixels, task, blocks);
                        continue;
                    }
                    const int from = plane + blocks.first * task.in_columns * ROWS;
                    words: for (int i = 0; i < words; ++i) {
#pragma HLS pipeline II=1 style=flp
#pragma HLS loop_tripcount min=1 max=MOST_ITERATIONS
                        hlsgen::iteration_of(LOAD);
                        pixels.write(memory[from + i]);
                    }
                }
            }
        }
    }
}

// A table, if the task has one; then for each step its biases and its weights; every band needs those of all output
// groups.
inline void load_weights(hls::stream<int> &descriptor, const beat_t *memory, hls::stream<beat_t> &biases,
                         hls::stream<beat_t> &weights) {
    task_t task;
    receive(descriptor, task);
    const int bands = task.frame_bands * task.bands;
    const int table = task.table ? TABLE_BEATS : 0;
    table: for (int i = 0; i < table; ++i) {
#pragma HLS pipeline II=1 style=flp
#pragma HLS loop_tripcount min=0 max=TABLE_BEATS
        hlsgen::iteration_of(WEIGHTS);
        biases.write(memory[task.weight_base + i]);
    }
    for (int band = 0; band < bands; ++band) {
#pragma HLS loop_tripcount min=1 max=MOST_STEPS
        int from = task.weight_base + table;
        for (int group = 0; group < task.out_groups; ++group) {
#pragma HLS loop_tripcount min=1 max=MOST_STEPS
            for (int chunk = 0; chunk < task.chunks; ++chunk) {
#pragma HLS loop_tripcount min=1 max=MOST_STEPS
                const int words = chunk == task.chunks - 1 ? task.last_words : task.chunk_words;
                const int before = chunk == 0 ? BIAS_BEATS : 0;
                const int beats = before + words * FILTER_BEATS;
                beats: for (int i = 0; i < beats; ++i) {
#pragma HLS pipeline II=1 style=flp
#pragma HLS loop_tripcount min=1 max=MOST_ITERATIONS
                    hlsgen::iteration_of(WEIGHTS);
                    const beat_t beat = memory[from + i];
                    if (i < before) biases.write(beat);
                    else weights.write(beat);
                }
                from += beats;
            }
        }
    }
}

// A pixel that joins all results of a channel group.
inline void repeat_word(const word_t &word, int words, hls::stream<word_t> &added) {
    repeat: for (int i = 0; i < words; ++i) {
#pragma HLS pipeline II=1 style=flp
#pragma HLS loop_tripcount min=1 max=MOST_ITERATIONS
        added.write(word);
    }
}

// The tensor that is added to the results, in their order.
inline void load_residual(hls::stream<int> &descriptor, const word_t *memory, hls::stream<word_t> &added, int round) {
    task_t task;
    receive(descriptor, task);
    if (task.residual) {
        for (int sequel = 0; sequel < task.frame_bands; ++sequel) {
#pragma HLS loop_tripcount min=1 max=MOST_STEPS
            for (int band = 0; band < task.bands; ++band) {
#pragma HLS loop_tripcount min=1 max=MOST_STEPS
                const int words = output_blocks(task, band) * task.out_columns * ROWS;
                for (int group = 0; group < task.out_groups; ++group) {
#pragma HLS loop_tripcount min=1 max=MOST_STEPS
                    for (int frame = 0; frame < task.frames; ++frame) {
#pragma HLS loop_tripcount min=1 max=MOST_STEPS
                        const int from = task.residual_base + round * task.residual_round +
                                         (sequel * task.frames + frame) * task.residual_frame +
                                         group * task.residual_plane +
                                         (task.residual_single ? 0 : band * task.band_out * task.out_columns * ROWS);
                        if (SCALES && task.residual_single) {
                            hlsgen::iteration_of(RESIDUAL);
                            const word_t word = memory[from];
                            repeat_word(word, words, added);
                            continue;
                        }
                        words: for (int i = 0; i < words; ++i) {
#pragma HLS pipeline II=1 style=flp
#pragma HLS loop_tripcount min=1 max=MOST_ITERATIONS
                            hlsgen::iteration_of(RESIDUAL);
                            added.write(memory[from + i]);
                        }
                    }
                }
            }
        }
    }
}

// The results to their place, in the order in which they are finished.
inline void store(hls::stream<int> &descriptor, hls::stream<word_t> &results, word_t *memory, int round) {
    task_t task;
    receive(descriptor, task);
    for (int sequel = 0; sequel < task.frame_bands; ++sequel) {
#pragma HLS loop_tripcount min=1 max=MOST_STEPS
        for (int band = 0; band < task.bands; ++band) {
#pragma HLS loop_tripcount min=1 max=MOST_STEPS
            const int words = stored_blocks(task, band) * task.stored_columns * ROWS;
            for (int group = 0; group < task.out_groups; ++group) {
#pragma HLS loop_tripcount min=1 max=MOST_STEPS
                for (int frame = 0; frame < task.frames; ++frame) {
#pragma HLS loop_tripcount min=1 max=MOST_STEPS
                    const int to = task.out_base + round * task.out_round +
                                   (sequel * task.frames + frame) * task.out_frame + group * task.out_plane +
                                   band * task.stored_band * task.stored_columns * ROWS;
                    words: for (int i = 0; i < words; ++i) {
#pragma HLS pipeline II=1 style=flp
#pragma HLS loop_tripcount min=1 max=MOST_ITERATIONS
                        hlsgen::iteration_of(STORE);
                        memory[to + i] = results.read();
                    }
                }
            }
        }
    }
}

}  // namespace processor

#endif
