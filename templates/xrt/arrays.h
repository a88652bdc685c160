// Frames and weights from .npy files, results into them, and results against golden.
#ifndef HLSGEN_HOST_ARRAYS_H
#define HLSGEN_HOST_ARRAYS_H

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "../tb/npy.h"
#include "pack.h"

namespace host {

constexpr std::size_t SHOWN_DIFFERENCES = 10;

// All elements of a file, as bytes; they must have the size of those of `type`.
inline std::vector<char> read_bytes(const std::string &path, const element_type &type) {
    tb::npy_input file(path);
    std::vector<char> bytes(file.elements(type.bytes()) * type.bytes());
    file.read(bytes.data());
    return bytes;
}

// Fails if an element lies outside the type's range. From a file with (or without) signs where the type has none
// (or some), elements of the other half would be read as other numbers.
inline void check_range(const std::string &path, const std::vector<char> &bytes, const tensor &t, bool file_signed) {
    const bool type_signed = t.type.is_signed();
    for (std::size_t i = 0; i * t.type.bytes() < bytes.size(); ++i) {
        const std::uint64_t code = std::uint64_t(code_of(t.type, &bytes[i * t.type.bytes()]));
        const bool other_half = file_signed != type_signed && code >> (8 * t.type.bytes() - 1) & 1;
        if (other_half || extended(code, t.bits, type_signed) != code) {
            tb::fail(path + ": element " + std::to_string(i) + " is no code of " + std::to_string(t.bits) + " bits" +
                     (type_signed ? "" : " without sign"));
        }
    }
}

// The frames [N, C, H, W] of a file, in codes (float32 and half: in values).
inline std::vector<char> read_frames(const std::string &path, const tensor &t) {
    const std::string type = tb::npy_input(path).type;
    const char kind = type[1];
    if ((kind == 'f') != t.type.is_float() || (kind != 'f' && kind != 'i' && kind != 'u')) {
        tb::fail(path + " has elements of type " + type + ", but " + t.name + " takes " + t.type.name);
    }
    std::vector<char> bytes = read_bytes(path, t.type);
    if (bytes.empty() || bytes.size() % t.in_ddr.array_bytes() != 0) {
        tb::fail(path + " holds no whole number of frames of " + std::to_string(t.in_ddr.channels) + " x " +
                 std::to_string(t.in_ddr.height) + " x " + std::to_string(t.in_ddr.width));
    }
    if (kind != 'f') check_range(path, bytes, t, kind == 'i');
    return bytes;
}

inline std::vector<char> read_constants(const std::string &folder, const constants &c) {
    const std::string path = folder + "/" + c.file;
    std::vector<char> bytes = read_bytes(path, c.type);
    if (bytes.size() != c.bytes) {
        tb::fail(path + " holds " + std::to_string(bytes.size()) + " bytes, but the kernel takes " + std::to_string(c.bytes));
    }
    return bytes;
}

inline bool weights_keep_apart(const packing &p, const std::vector<long long> &code) {
    long long sum = 0;
    for (std::size_t i = 0; i < code.size(); ++i) {
        if (i / p.channel_weights % p.pe % 2 != 0) continue;
        const bool begins = i % p.terms % p.chain == 0;
        sum = (begins ? 0 : sum) + std::llabs(code[i]);
        if (sum > p.limit) return false;
    }
    return true;
}

inline bool points_keep_apart(const packing &p, const std::vector<long long> &code) {
    for (std::size_t first = 0; first < code.size(); first += p.terms) {
        std::vector<long long> sum(p.point_limits.size());
        for (std::size_t t = 0; t < p.terms / 3; ++t) {
            const long long *row = &code[first + t / p.columns * 3 * p.columns + t % p.columns];
            const long long outer = row[0] + row[2 * p.columns], inner = row[p.columns];
            const long long point[] = {row[0], outer + inner, outer - inner, row[2 * p.columns]};
            for (std::size_t k = 0; k < sum.size(); ++k) {
                sum[k] = (t % p.chain == 0 ? 0 : sum[k]) + std::llabs(point[k]);
                if (sum[k] > p.point_limits[k]) return false;
            }
        }
    }
    return true;
}

// Fails if products of these weights that share a multiplier would run into each other.
inline void check_packing(const packing &p, const element_type &type, const std::vector<char> &bytes) {
    std::vector<long long> codes(bytes.size() / type.bytes());
    for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = code_of(type, &bytes[i * type.bytes()]);
    if (p.point_limits.empty() ? !weights_keep_apart(p, codes) : !points_keep_apart(p, codes)) {
        tb::fail("the weights are too large for this kernel's packing: build it for them");
    }
}

inline void write_frames(const std::string &path, const std::vector<char> &bytes, const tensor &t) {
    const layout &l = t.in_ddr;
    const std::vector<std::size_t> shape = {bytes.size() / l.array_bytes(), std::size_t(l.channels), std::size_t(l.height),
                                            std::size_t(l.width)};
    tb::write_npy(path, t.type.name, shape, bytes);
}

// A half, IEEE 754's binary16, from its bits.
inline float half_value(std::uint16_t bits) {
    const int exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
    const float size = exponent == 0x1f ? (fraction ? NAN : INFINITY)
                                        : std::ldexp(float(exponent ? fraction + 1024 : fraction), exponent ? exponent - 25 : -24);
    return bits >> 15 ? -size : size;
}

inline std::string shown(const tensor &t, const char *element) {
    if (t.type.is_float()) {
        float value;
        std::uint16_t bits;
        if (t.in_ddr.element_bytes == sizeof bits) {
            std::memcpy(&bits, element, sizeof bits);
            value = half_value(bits);
        } else {
            std::memcpy(&value, element, sizeof value);
        }
        char text[32];  // nine digits tell every float from its neighbours
        std::snprintf(text, sizeof text, "%.9g", value);
        return text;
    }
    const long long code = code_of(t.type, element);
    return t.type.is_signed() ? std::to_string(code) : std::to_string((unsigned long long)code);
}

// How many elements differ from golden, bit for bit; the first differences are printed.
inline std::size_t differences(const std::string &name, const tensor &t, const std::vector<char> &got, const std::vector<char> &want) {
    const layout &l = t.in_ddr;
    const std::size_t bytes = l.element_bytes, count = got.size() / bytes;
    std::size_t different = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (std::memcmp(&got[i * bytes], &want[i * bytes], bytes) == 0 || ++different > SHOWN_DIFFERENCES) continue;
        const std::size_t column = i % l.width, row = i / l.width % l.height, channel = i / l.width / l.height % l.channels;
        std::printf("%s: frame %zu, channel %zu, row %zu, column %zu: got %s, golden %s\n", name.c_str(), i / l.elements(), channel, row,
                    column, shown(t, &got[i * bytes]).c_str(), shown(t, &want[i * bytes]).c_str());
    }
    return different;
}

}  // namespace host

#endif
