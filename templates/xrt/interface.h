// What the host program has to know of a design: its tensors in DDR, its kernels and what they are given.
#ifndef HLSGEN_HOST_INTERFACE_H
#define HLSGEN_HOST_INTERFACE_H

#include <cstddef>
#include <string>
#include <vector>

namespace host {

// A frame in DDR. Its elements, `element_bytes` each, lie in words: px neighbouring pixels x ch channels. Words come
// row by row, in a row pixels first to last and of each the channels; planar: channel by channel instead. A word takes
// `word_bytes`; what its elements leave of it means nothing.
struct layout {
    int channels, height, width;
    int px, ch;
    int element_bytes, word_bytes;
    bool planar;

    std::size_t elements() const { return std::size_t(channels) * height * width; }
    std::size_t array_bytes() const { return elements() * element_bytes; }
    std::size_t words() const { return std::size_t(height) * ((width + px - 1) / px) * (channels / ch); }
    std::size_t frame_bytes() const { return words() * word_bytes; }
};

// The type of an element in .npy files, "<i2" for instance: byte order, kind, bytes.
struct element_type {
    std::string name;

    element_type(const char *name) : name(name) {}
    bool is_float() const { return name[1] == 'f'; }
    bool is_signed() const { return name[1] == 'i'; }
    int bytes() const { return name[2] - '0'; }
};

// bits: of an element's code; its type may have more.
struct tensor {
    std::string name;
    layout in_ddr;
    element_type type;
    int bits;
};

// Data that stays: weights and biases, the bytes of a .npy file as they are.
struct constants {
    std::string name;
    std::string file;
    element_type type;
    std::size_t bytes;
};

// Two products share a multiplier, the lower ones those of every other output channel of `pe`. That is exact as long as
// `chain` neighbouring of their weights, of `terms` that are summed at a time, sum to no more than `limit`. By Winograd's
// algorithm it is the factors at each point that must not exceed a limit, of kernels of three rows of `columns`.
struct packing {
    std::string weights;
    std::size_t channel_weights, pe, terms, chain;
    long long limit;
    std::size_t columns;
    std::vector<long long> point_limits;
};

// A tensor in the memory of a shared processor: [group of `lanes` channels][block of `rows` rows][column][row of the
// block][lane]. channels, height, width: as it lies there. Channel c * columns + k at column x is the tensor's channel c
// at column x * stride + k * dilation - left; columns 1: every element at its own.
struct place {
    std::string tensor;
    std::size_t first_byte;
    int channels, height, width;
    int rows, lanes, element_bytes;
    int columns, dilation, stride, left;

    std::size_t frame_bytes() const {
        const std::size_t groups = (channels + lanes - 1) / lanes, blocks = (height + rows - 1) / rows;
        return groups * blocks * rows * width * lanes * element_bytes;
    }
};

// What a shared processor runs: `tasks` in each round of `together` frames, up to `rounds` in a call. Without places it
// is none, and every tensor has a buffer of its own.
struct task_list {
    std::size_t together = 1, rounds = 0, tasks = 0, memory_bytes = 0;
    std::vector<place> places = {};

    bool any() const { return !places.empty(); }
    bool holds(const std::string &name) const {
        for (const place &one : places) {
            if (one.tensor == name) return true;
        }
        return false;
    }
    std::size_t most_frames() const { return together * rounds; }
    std::size_t rounds_of(std::size_t frames) const { return (frames + together - 1) / together; }
};

enum class source { tensor, constants, reload, frames, memory, tasks, rounds };

// An argument of a kernel. name: of the tensor or the constants; else its own. memory: that of a shared processor.
struct argument {
    std::string port;
    source from;
    std::string name;

    bool in_memory() const { return from == source::tensor || from == source::constants || from == source::memory; }
};

// A call of a kernel. units: the kernel's compute units, of which lane i takes the i-th. kernels: of each unit the kernel
// that it is of, where that is not always `kernel`; all of them take the same arguments and give the same results.
struct step {
    std::string kernel;
    std::vector<std::string> units;
    std::vector<argument> arguments;
    std::vector<std::string> kernels = {};

    // Whether it runs the program, in the memory of its own unit; what feeds it reaches the memories of all.
    bool runs_tasks() const {
        for (const argument &one : arguments) {
            if (one.from == source::tasks) return true;
        }
        return false;
    }
    const std::string &kernel_of(std::size_t unit) const { return kernels.empty() ? kernel : kernels[unit]; }
};

// An input or output of the design: the tensor that holds it, its data and (of an output) what it should be.
struct port {
    std::string name;
    std::string tensor;
    std::string golden;
};

// chunk_frames: frames of a call that take some milliseconds. block_frames: weights are read once for so many frames.
struct design {
    std::string name;
    std::vector<tensor> tensors;
    std::vector<constants> weights;
    std::vector<packing> packed;
    std::vector<step> steps;
    std::vector<port> inputs, outputs;
    std::size_t chunk_frames, block_frames;
    task_list program = {};

    std::size_t lanes() const { return steps.front().units.size(); }
    const tensor &tensor_of(const std::string &tensor_name) const {
        std::size_t at = 0;
        while (tensors[at].name != tensor_name) ++at;
        return tensors[at];
    }
};

}  // namespace host

#endif
