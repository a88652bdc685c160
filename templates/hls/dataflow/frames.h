// The testbench's way between frames as .npy files hold them and the words of a streaming kernel in DDR.
#ifndef HLSGEN_TB_FRAMES_H
#define HLSGEN_TB_FRAMES_H

#include <ap_int.h>
#include <hls_stream.h>

#include "npy.h"

namespace tb {

// Of a port: the tensor, the words that the kernel's stream has, and how they lie in memory.
struct format {
    int channels, height, width;
    int px, ch;      // pixels and channels of a word
    int bits, slot;  // of an element, and the room it takes
    int beats;       // of a stream word: parts of up to 512 bits in memory, transfers in an AXI stream

    std::size_t frame_codes() const { return std::size_t(channels) * height * width; }
    std::size_t row_words() const { return std::size_t((width + px - 1) / px) * (channels / ch); }
    std::size_t frame_beats() const { return row_words() * height * beats; }
};

// Calls visit(index of the code in [C, H, W], beat, first bit) for every element of a frame.
template <int WIDTH, typename V>
void each_element(const format &f, const V &visit) {
    const int per_beat = WIDTH / f.slot;
    std::size_t beat = 0;
    for (int y = 0; y < f.height; ++y) {
        for (int x0 = 0; x0 < f.width; x0 += f.px) {
            for (int c0 = 0; c0 < f.channels; c0 += f.ch) {
                for (int l = 0; l < f.px * f.ch; ++l) {
                    const int x = x0 + l / f.ch, c = c0 + l % f.ch;
                    if (x < f.width) {
                        visit((std::size_t(c) * f.height + y) * f.width + x, beat + l / per_beat,
                              l % per_beat * f.slot);
                    }
                }
                beat += f.beats;
            }
        }
    }
}

template <int WIDTH>
std::vector<ap_uint<WIDTH> > to_beats(const std::vector<std::uint64_t> &codes, const format &f) {
    const std::size_t frames = codes.size() / f.frame_codes();
    std::vector<ap_uint<WIDTH> > beats(frames * f.frame_beats(), ap_uint<WIDTH>(0));
    for (std::size_t n = 0; n < frames; ++n) {
        each_element<WIDTH>(f, [&](std::size_t code, std::size_t beat, int low) {
            const ap_uint<64> bits = codes[n * f.frame_codes() + code];
            beats[n * f.frame_beats() + beat].range(low + f.bits - 1, low) = bits;
        });
    }
    return beats;
}

template <int WIDTH>
std::vector<std::uint64_t> from_beats(const std::vector<ap_uint<WIDTH> > &beats, const format &f) {
    const std::size_t frames = beats.size() / f.frame_beats();
    std::vector<std::uint64_t> codes(frames * f.frame_codes());
    for (std::size_t n = 0; n < frames; ++n) {
        each_element<WIDTH>(f, [&](std::size_t code, std::size_t beat, int low) {
            const ap_uint<64> bits = beats[n * f.frame_beats() + beat].range(low + f.bits - 1, low);
            codes[n * f.frame_codes() + code] = bits.to_uint64();
        });
    }
    return codes;
}

// Port words of PORT bits that hold `count` beats of WIDTH bits, all powers of two; the last may have room left.
template <int PORT, int WIDTH>
std::size_t port_words(std::size_t count) {
    return (count * WIDTH + PORT - 1) / PORT;
}

// The same bytes in words of PORT bits, the lowest bits first; what is left of the last one is zero.
template <int PORT, int WIDTH>
std::vector<ap_uint<PORT> > regrouped(const std::vector<ap_uint<WIDTH> > &beats) {
    constexpr int SMALLER = PORT < WIDTH ? PORT : WIDTH, STEP = SMALLER < 64 ? SMALLER : 64;
    std::vector<ap_uint<PORT> > words(port_words<PORT, WIDTH>(beats.size()), ap_uint<PORT>(0));
    for (std::size_t at = 0; at < beats.size() * WIDTH; at += STEP) {
        const int from = int(at % WIDTH), to = int(at % PORT);
        const ap_uint<STEP> part = beats[at / WIDTH].range(from + STEP - 1, from);
        words[at / PORT].range(to + STEP - 1, to) = part;
    }
    return words;
}

// Room for what a kernel writes, and behind it 64 bytes that it must leave alone. No bit is zero yet.
template <int PORT>
std::vector<ap_uint<PORT> > guarded(std::size_t words) {
    ap_uint<PORT> ones = 0;
    for (int low = 0; low < PORT; low += 64) ones.range(low + 63, low) = ~ap_uint<64>(0);
    return std::vector<ap_uint<PORT> >(words + 512 / PORT, ones);
}

// Takes away what `guarded` put behind a result.
template <int PORT>
void check_guard(const std::string &name, std::vector<ap_uint<PORT> > &words) {
    for (int n = 0; n < 512 / PORT; ++n) {
        if (!(words.back() == guarded<PORT>(0).back())) fail("the kernel wrote behind " + name);
        words.pop_back();
    }
}

// Beats as the transfers of an AXI stream; A is its ap_axiu.
template <int WIDTH, typename A>
void send(hls::stream<A> &to, const std::vector<ap_uint<WIDTH> > &beats, const format &f) {
    for (std::size_t n = 0; n < beats.size(); ++n) {
        A transfer;
        transfer.data = beats[n];
        transfer.keep = -1;
        transfer.strb = -1;
        transfer.last = (n + 1) % f.frame_beats() == 0;
        to.write(transfer);
    }
}

// The beats of some frames, whose transfers must be just these.
template <int WIDTH, typename A>
std::vector<ap_uint<WIDTH> > received(hls::stream<A> &from, const format &f, std::size_t frames) {
    const ap_uint<WIDTH / 8> all = -1;
    std::vector<ap_uint<WIDTH> > beats;
    for (std::size_t n = 0; n < frames * f.frame_beats(); ++n) {
        const A transfer = from.read();
        if ((transfer.last != 0) != ((n + 1) % f.frame_beats() == 0))
            fail("an output has TLAST where no frame ends, or lacks it");
        if (!(transfer.keep == all) || !(transfer.strb == all)) fail("an output leaves bytes out");
        beats.push_back(transfer.data);
    }
    return beats;
}

// The integers of a file, of any size, as 64 bits each.
inline std::vector<std::uint64_t> read_codes(const std::string &path) {
    npy_input file(path);
    const std::size_t bytes = file.element_bytes;
    const bool is_integer = bytes == 1 || bytes == 2 || bytes == 4;
    std::vector<std::uint64_t> codes(file.elements(is_integer ? bytes : sizeof(std::uint64_t)), 0);
    std::vector<char> read(codes.size() * bytes);
    file.read(read.data());
    for (std::size_t n = 0; n < codes.size(); ++n) std::memcpy(&codes[n], &read[n * bytes], bytes);
    return codes;
}

// How many of the codes differ in their low bits; the first differences are printed.
inline std::size_t compare(const std::string &name, const std::vector<std::uint64_t> &got,
                           const std::vector<std::uint64_t> &want, const format &f) {
    const std::uint64_t mask = f.bits == 64 ? ~std::uint64_t(0) : (std::uint64_t(1) << f.bits) - 1;
    std::size_t different = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
        if (((got[i] ^ want[i]) & mask) == 0) continue;
        if (++different > 10) continue;
        const std::size_t column = i % f.width, row = i / f.width % f.height;
        const std::size_t channel = i / f.width / f.height % f.channels;
        std::printf("%s: frame %zu, channel %zu, row %zu, column %zu: code %llu, golden %llu\n", name.c_str(),
                    i / f.frame_codes(), channel, row, column, (unsigned long long)(got[i] & mask),
                    (unsigned long long)(want[i] & mask));
    }
    std::printf("%s: %zu of %zu equal\n", name.c_str(), got.size() - different, got.size());
    return different;
}

}  // namespace tb

#endif
