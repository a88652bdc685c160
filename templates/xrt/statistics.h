// What was measured on the host's clock, and how it is printed.
#ifndef HLSGEN_HOST_STATISTICS_H
#define HLSGEN_HOST_STATISTICS_H

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "lane.h"

namespace host {

// The value that `percent` of all do not exceed (nearest rank); `sorted` holds at least one.
inline double percentile(const std::vector<double> &sorted, double percent) {
    const double rank = std::ceil(percent / 100 * double(sorted.size()));
    return sorted[std::size_t(std::max(rank, 1.0)) - 1];
}

// Seconds in which at least one of the spans was under way.
inline double covered(std::vector<span> spans) {
    std::sort(spans.begin(), spans.end(), [](const span &a, const span &b) { return a.begin < b.begin; });
    double seconds = 0;
    moment end = moment::min();
    for (const span &one : spans) {
        if (one.end <= end) continue;
        seconds += span{std::max(one.begin, end), one.end}.seconds();
        end = one.end;
    }
    return seconds;
}

// Of a lane in one pass of the batch. chunks: from the first packed byte to the last unpacked one.
struct record {
    std::vector<span> chunks, calls;
    std::size_t frames = 0;
};

inline void print_latency(const char *what, std::vector<double> seconds) {
    if (seconds.empty()) return;
    std::sort(seconds.begin(), seconds.end());
    std::printf("%s: p50 %.3f ms, p90 %.3f ms, p99 %.3f ms, max %.3f ms (%zu)\n", what, 1e3 * percentile(seconds, 50),
                1e3 * percentile(seconds, 90), 1e3 * percentile(seconds, 99), 1e3 * seconds.back(), seconds.size());
}

// Of all passes of the batch together.
class figures {
public:
    void add(const span &pass, const std::vector<record> &lanes) {
        passes_ += pass.seconds();
        if (busy_.empty()) busy_.resize(lanes.size()), done_.resize(lanes.size());
        for (std::size_t l = 0; l < lanes.size(); ++l) {
            busy_[l] += covered(lanes[l].calls);
            done_[l] += double(lanes[l].frames);
            for (const span &one : lanes[l].chunks) chunks_.push_back(one.seconds());
        }
    }

    void print(std::size_t chunk_frames) const {
        double frames = 0, rate = 0;
        for (std::size_t l = 0; l < busy_.size(); ++l) {
            frames += done_[l];
            if (busy_[l] > 0) rate += done_[l] / busy_[l];
        }
        std::printf("throughput, end to end: %.1f frames/s (%.0f frames in %.6f s, from .npy codes to .npy codes in memory)\n",
                    frames / passes_, frames, passes_);
        std::printf("throughput, kernels only: %.1f frames/s (while a compute unit has a call)\n", rate);
        const std::string what = "latency, chunk of " + std::to_string(chunk_frames) + " with all compute units at work";
        print_latency(what.c_str(), chunks_);
    }

private:
    double passes_ = 0;
    std::vector<double> busy_, done_, chunks_;
};

}  // namespace host

#endif
