// Convolutions and dense layers as calls of the DASH API. Those of integers are exact: weights and inputs are split in
// parts, as their numbers below say, so that sums stay within 16 bits in a convolution and within 24 in a float.
#ifndef HLSGEN_CEDR_LAYERS_H
#define HLSGEN_CEDR_LAYERS_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "../tb/npy.h"
#include "dash.h"

namespace cedr {

typedef std::vector<std::int64_t> codes_t;  // a tensor [channels, rows, columns]; of float32 the bits of its numbers

inline float number_of(std::int64_t code) {
    const std::uint32_t bits = std::uint32_t(code);
    float number;
    std::memcpy(&number, &bits, sizeof number);
    return number;
}

inline std::int64_t code_of(float number) {
    std::uint32_t bits;
    std::memcpy(&bits, &number, sizeof bits);
    return bits;
}

inline float largest(const std::vector<codes_t> &frames) {
    float most = 0;
    for (const codes_t &frame : frames) {
        for (std::int64_t code : frame) most = std::max(most, std::fabs(number_of(code)));
    }
    return most;
}

inline bool near(std::int64_t code, std::int64_t golden, float most) {
    return code == golden || std::fabs(number_of(code) - number_of(golden)) <= most;
}

enum class rounding { TRN, TRN_ZERO, RND, RND_ZERO, RND_INF, RND_MIN_INF, RND_CONV };
enum class overflow { WRAP, SAT };

// How a sum becomes a result: limited, rounded by `drop` bits (fewer than none: shifted left), and held in `bits`.
struct result_t {
    std::int64_t low, high;
    int drop;
    rounding round;
    overflow over;
    int bits;
    std::int64_t least, most;
};

inline std::int64_t rounded(std::int64_t sum, int drop, rounding how) {
    if (drop <= 0) return sum * (std::int64_t(1) << -drop);
    const std::int64_t down = sum >> drop, rest = sum - (down << drop), half = std::int64_t(1) << (drop - 1);
    switch (how) {
        case rounding::TRN: return down;
        case rounding::TRN_ZERO: return down + (sum < 0 && rest != 0);
        case rounding::RND: return down + (rest >= half);
        case rounding::RND_MIN_INF: return down + (rest > half);
        case rounding::RND_ZERO: return down + (rest > half || (rest == half && sum < 0));
        case rounding::RND_INF: return down + (rest > half || (rest == half && sum >= 0));
        case rounding::RND_CONV: return down + (rest > half || (rest == half && (down & 1) != 0));
    }
    return down;
}

inline std::int64_t result_of(std::int64_t sum, const result_t &r) {
    if (sum < r.low) sum = r.low;
    if (sum > r.high) sum = r.high;
    std::int64_t code = rounded(sum, r.drop, r.round);
    if (r.over == overflow::SAT) return code < r.least ? r.least : code > r.most ? r.most : code;
    code &= (std::int64_t(1) << r.bits) - 1;
    return code > r.most ? code - (std::int64_t(1) << r.bits) : code;
}

// Part `part` of a code: unsigned, but the last has the sign.
inline std::int64_t part_of(std::int64_t code, int part, int parts, int bits) {
    const std::int64_t left = code >> (part * bits);
    return part + 1 == parts ? left : left & ((std::int64_t(1) << bits) - 1);
}

// Counts the calls that are done.
class barrier {
public:
    barrier() : calls{&cond, &mutex, &done} {}
    barrier(const barrier &) = delete;
    barrier &operator=(const barrier &) = delete;

    cedr_barrier_t *get() { return &calls; }

    void wait(std::uint32_t count) {
        pthread_mutex_lock(&mutex);
        while (done != count) pthread_cond_wait(&cond, &mutex);
        pthread_mutex_unlock(&mutex);
    }

private:
    pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    std::uint32_t done = 0;
    cedr_barrier_t calls;
};

struct conv_t {
    int channels, height, width;
    int filters, groups;
    int rows, columns;
    int top, left, padded_height, padded_width;
    int stride_h, stride_w;
    int side;  // of a mask
    int weight_parts, weight_bits, input_parts, input_bits;
    bool zip;   // sums of channels fit a float, so that DASH_ZIP_flt adds them
    int finer;  // bits that a bias is finer than the products
    result_t result;
    std::vector<float> masks;         // [weight_parts, filters, channels of a group, side, side]
    std::vector<std::int64_t> biases;  // [filters]

    std::size_t pixels() const { return std::size_t(padded_height) * padded_width; }
    int group_channels() const { return channels / groups; }
};

// The padded image of every part and channel: [input_parts, channels, padded_height, padded_width].
inline std::vector<short> padded_parts(const codes_t &in, const conv_t &l) {
    std::vector<short> image(std::size_t(l.input_parts) * l.channels * l.pixels(), 0);
    for (int part = 0; part < l.input_parts; ++part) {
        for (int c = 0; c < l.channels; ++c) {
            short *const plane = &image[(std::size_t(part) * l.channels + c) * l.pixels()];
            for (int y = 0; y < l.height; ++y) {
                for (int x = 0; x < l.width; ++x) {
                    const std::int64_t code = in[(std::size_t(c) * l.height + y) * l.width + x];
                    plane[std::size_t(y + l.top) * l.padded_width + x + l.left] =
                        short(part_of(code, part, l.input_parts, l.input_bits));
                }
            }
        }
    }
    return image;
}

// total += found: by DASH_ZIP_flt, two real numbers as a complex one; the vectors have an even length.
inline void add(std::vector<float> &total, std::vector<float> &found) {
    dash_cmplx_flt_type *const sum = reinterpret_cast<dash_cmplx_flt_type *>(total.data());
    DASH_ZIP_flt(sum, reinterpret_cast<dash_cmplx_flt_type *>(found.data()), sum, total.size() / 2, ZIP_ADD);
}

// The sums of filter m, [padded_height, padded_width], without its bias: a call for each channel and each two parts.
inline std::vector<std::int64_t> sums_of(int m, std::vector<short> &image, conv_t &l) {
    const int group = m / (l.filters / l.groups), terms = l.group_channels();
    const int calls = l.weight_parts * l.input_parts * terms;
    const std::size_t pixels = l.pixels(), taps = std::size_t(l.side) * l.side;
    std::vector<short> results(calls * pixels);
    std::vector<short *> inputs(calls), outputs(calls);
    std::vector<float *> masks(calls);
    barrier all;
    int call = 0;
    for (int p = 0; p < l.weight_parts; ++p) {
        for (int q = 0; q < l.input_parts; ++q) {
            for (int c = 0; c < terms; ++c, ++call) {
                inputs[call] = &image[(std::size_t(q) * l.channels + group * terms + c) * pixels];
                masks[call] = &l.masks[((std::size_t(p) * l.filters + m) * terms + c) * taps];
                outputs[call] = &results[call * pixels];
                DASH_CONV_2D_int_nb(&inputs[call], &l.padded_height, &l.padded_width, &masks[call], &l.side,
                                    &outputs[call], all.get());
            }
        }
    }
    all.wait(calls);
    std::vector<std::int64_t> sums(pixels, 0);
    for (int parts = 0; parts < l.weight_parts * l.input_parts; ++parts) {
        const int shift = parts / l.input_parts * l.weight_bits + parts % l.input_parts * l.input_bits + l.finer;
        const std::int64_t scale = std::int64_t(1) << shift;
        std::vector<float> total(pixels + pixels % 2, 0), found(total.size(), 0);
        for (int c = 0; c < terms; ++c) {
            const short *const result = outputs[parts * terms + c];
            if (l.zip) {
                for (std::size_t n = 0; n < pixels; ++n) found[n] = result[n];
                add(total, found);
            } else {
                for (std::size_t n = 0; n < pixels; ++n) sums[n] += result[n] * scale;
            }
        }
        for (std::size_t n = 0; n < pixels; ++n) sums[n] += std::int64_t(total[n]) * scale;
    }
    return sums;
}

// DASH_CONV_2D_int gives a result for every pixel of the padded image, of the window around it; the layer has those whose
// windows begin at a multiple of its stride.
inline codes_t convolution(const codes_t &in, conv_t &l) {
    std::vector<short> image = padded_parts(in, l);
    codes_t out(std::size_t(l.filters) * l.rows * l.columns);
    for (int m = 0; m < l.filters; ++m) {
        const std::vector<std::int64_t> sums = sums_of(m, image, l);
        for (int y = 0; y < l.rows; ++y) {
            for (int x = 0; x < l.columns; ++x) {
                const std::size_t middle = std::size_t(y * l.stride_h + l.side / 2) * l.padded_width +
                                           x * l.stride_w + l.side / 2;
                out[(std::size_t(m) * l.rows + y) * l.columns + x] = result_of(sums[middle] + l.biases[m], l.result);
            }
        }
    }
    return out;
}

struct dense_t {
    int channels, height, width;
    int filters;
    int weight_parts, weight_bits, input_parts, input_bits;
    int finer;
    result_t result;
    std::vector<float> matrix;  // [channels * height * width, columns] of complex numbers: parts and filters, two in one
    std::vector<std::int64_t> biases;
};

// A row of A for each part of the input, a column of B for each two filters: their weights are its real and its
// imaginary part.
inline codes_t dense(const codes_t &in, dense_t &l) {
    const std::size_t terms = in.size(), columns = l.matrix.size() / terms / 2;
    std::vector<dash_cmplx_flt_type> a(terms * l.input_parts), c(columns * l.input_parts);
    for (int part = 0; part < l.input_parts; ++part) {
        std::size_t term = 0;
        for (int y = 0; y < l.height; ++y) {
            for (int x = 0; x < l.width; ++x) {
                for (int channel = 0; channel < l.channels; ++channel, ++term) {
                    const std::int64_t code = in[(std::size_t(channel) * l.height + y) * l.width + x];
                    a[part * terms + term] = {float(part_of(code, part, l.input_parts, l.input_bits)), 0.0f};
                }
            }
        }
    }
    DASH_GEMM_flt(a.data(), reinterpret_cast<dash_cmplx_flt_type *>(l.matrix.data()), c.data(), l.input_parts, terms,
                  columns);
    codes_t out(l.filters);
    for (int m = 0; m < l.filters; ++m) {
        std::int64_t sum = l.biases[m];
        for (int p = 0; p < l.weight_parts; ++p) {
            for (int q = 0; q < l.input_parts; ++q) {
                const std::size_t column = std::size_t(p) * l.filters + m;
                const dash_cmplx_flt_type &both = c[q * columns + column / 2];
                const float part = column % 2 == 0 ? both.re : both.im;
                sum += std::int64_t(part) * (std::int64_t(1) << (p * l.weight_bits + q * l.input_bits + l.finer));
            }
        }
        out[m] = result_of(sum, l.result);
    }
    return out;
}

// A convolution in float32, or a dense layer, whose kernel is as large as its image.
struct float_conv_t {
    int channels, height, width;
    int filters, groups;
    int rows, columns;
    int top, left;
    int kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w;
    float low, high;            // of results
    std::vector<float> matrix;  // [groups, terms, columns] of complex numbers: the filters of a group, two in one
    std::vector<float> biases;  // [filters]

    int group_channels() const { return channels / groups; }
    int terms() const { return group_channels() * kernel_h * kernel_w; }
};

// What the filters of a group see of the image: a row of terms for each pixel of the result, zeros around the image.
inline std::vector<dash_cmplx_flt_type> patches(const codes_t &in, int group, const float_conv_t &l) {
    std::vector<dash_cmplx_flt_type> found;
    found.reserve(std::size_t(l.rows) * l.columns * l.terms());
    for (int pixel = 0; pixel < l.rows * l.columns; ++pixel) {
        for (int term = 0; term < l.terms(); ++term) {
            const int c = group * l.group_channels() + term / (l.kernel_h * l.kernel_w);
            const int y = pixel / l.columns * l.stride_h + term / l.kernel_w % l.kernel_h * l.dilation_h - l.top;
            const int x = pixel % l.columns * l.stride_w + term % l.kernel_w * l.dilation_w - l.left;
            const bool inside = y >= 0 && y < l.height && x >= 0 && x < l.width;
            found.push_back({inside ? number_of(in[(std::size_t(c) * l.height + y) * l.width + x]) : 0.0f, 0.0f});
        }
    }
    return found;
}

// A product of matrices for each group: patches by filters.
inline codes_t float_convolution(const codes_t &in, float_conv_t &l) {
    const int pixels = l.rows * l.columns, filters = l.filters / l.groups, pairs = (filters + 1) / 2;
    dash_cmplx_flt_type *const weights = reinterpret_cast<dash_cmplx_flt_type *>(l.matrix.data());
    std::vector<dash_cmplx_flt_type> sums(std::size_t(pixels) * pairs);
    codes_t out(std::size_t(l.filters) * pixels);
    for (int group = 0; group < l.groups; ++group) {
        std::vector<dash_cmplx_flt_type> seen = patches(in, group, l);
        DASH_GEMM_flt(seen.data(), weights + std::size_t(group) * l.terms() * pairs, sums.data(), pixels, l.terms(), pairs);
        for (int m = 0; m < filters; ++m) {
            const int filter = group * filters + m;
            for (int pixel = 0; pixel < pixels; ++pixel) {
                const dash_cmplx_flt_type &both = sums[std::size_t(pixel) * pairs + m / 2];
                const float sum = (m % 2 == 0 ? both.re : both.im) + l.biases[filter];
                out[std::size_t(filter) * pixels + pixel] = code_of(std::min(std::max(sum, l.low), l.high));
            }
        }
    }
    return out;
}

// Codes as a file has them, with their sign.
inline codes_t with_sign(const std::vector<std::uint64_t> &raw, int bits, bool is_signed) {
    codes_t codes(raw.size());
    for (std::size_t n = 0; n < raw.size(); ++n) {
        const std::uint64_t low = bits == 64 ? raw[n] : raw[n] & ((std::uint64_t(1) << bits) - 1);
        const bool negative = is_signed && (low >> (bits - 1)) != 0;
        codes[n] = std::int64_t(negative && bits < 64 ? low | ~std::uint64_t(0) << bits : low);
    }
    return codes;
}

}  // namespace cedr

#endif
