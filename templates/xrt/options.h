// The command line.
#ifndef HLSGEN_HOST_OPTIONS_H
#define HLSGEN_HOST_OPTIONS_H

#include <cstdio>
#include <cstdlib>
#include <string>

namespace host {

constexpr int ALL_EQUAL = 0;
constexpr int DIFFERENT = 1;
constexpr int WRONG_USE = 2;  // as tb::WRONG_DATA_STATUS
constexpr int DEVICE_TROUBLE = 4;

constexpr long BUFFERS = 3;      // of a lane: one is filled, one is worked on, one is read back
constexpr long SINGLES = 100;    // frames sent one by one
constexpr long LIMIT_S = 60;     // for a run on a card
constexpr long EMULATED_S = 24 * 60 * 60;

struct options {
    std::string xclbin, data = "../tb", output, device = "0";
    long frames = 0;  // 0: all of the file
    long repeat = 1;
    long chunk = 0;  // 0: as the design and the batch suggest
    long buffers = BUFFERS;
    long singles = SINGLES;
    long timeout_s = LIMIT_S;
    bool emulation = std::getenv("XCL_EMULATION_MODE") != nullptr;
};

[[noreturn]] inline void usage(const std::string &program, const std::string &mistake) {
    std::fprintf(stderr,
                 "error: %s\n"
                 "usage: %s XCLBIN [DATA=../tb] [options]\n"
                 "  DATA          a folder with .npy files: inputs, weights, golden\n"
                 "  -o FOLDER     write the results there\n"
                 "  --device D    index of the card, or its PCIe address (0)\n"
                 "  --frames N    only the first N frames of the inputs\n"
                 "  --repeat R    the whole batch R times (1)\n"
                 "  --chunk C     frames of a call\n"
                 "  --buffers B   of each compute unit, so many chunks are under way (%ld)\n"
                 "  --singles S   frames that are sent one by one, for their latency (%ld; none in emulation)\n"
                 "  --timeout T   seconds after which a call counts as stuck (%ld; %ld in emulation)\n",
                 mistake.c_str(), program.c_str(), BUFFERS, SINGLES, LIMIT_S, EMULATED_S);
    std::exit(WRONG_USE);
}

// A whole number of at least `least`, and small enough to be a count of anything here.
inline long number(const std::string &program, const std::string &option, const std::string &text, long least) {
    constexpr long MOST = 1L << 30;
    char *end = nullptr;
    const long value = std::strtol(text.c_str(), &end, 10);
    if (text.empty() || *end != '\0' || value < least || value > MOST) {
        usage(program, option + " takes a whole number from " + std::to_string(least) + " to " + std::to_string(MOST) + ", not \"" + text + "\"");
    }
    return value;
}

inline options read_options(const std::string &program, int argc, char **argv) {
    options o;
    if (o.emulation) o.singles = 0, o.timeout_s = EMULATED_S;
    struct {
        const char *name;
        long least;
        long options::*value;
    } const numbers[] = {{"--frames", 1, &options::frames},   {"--repeat", 1, &options::repeat},   {"--chunk", 1, &options::chunk},
                         {"--buffers", 1, &options::buffers}, {"--singles", 0, &options::singles}, {"--timeout", 1, &options::timeout_s}};
    int plain = 0;
    for (int a = 1; a < argc; ++a) {
        const std::string word = argv[a];
        if (word.empty() || word[0] != '-') {
            if (plain == 2) usage(program, "\"" + word + "\" is one argument too many");
            (plain++ == 0 ? o.xclbin : o.data) = word;
            continue;
        }
        if (a + 1 == argc) usage(program, word + " is unknown, or its value is missing");
        const std::string value = argv[++a];
        bool known = word == "-o" || word == "--device";
        if (word == "-o") o.output = value;
        if (word == "--device") o.device = value;
        for (const auto &one : numbers) {
            if (word != one.name) continue;
            o.*one.value = number(program, word, value, one.least);
            known = true;
        }
        if (!known) usage(program, word + " is unknown");
    }
    if (o.xclbin.empty()) usage(program, "the .xclbin file is missing");
    return o;
}

}  // namespace host

#endif
