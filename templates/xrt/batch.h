// A batch goes over all compute units: each buffer set has a thread, which takes chunks until none is left.
#ifndef HLSGEN_HOST_BATCH_H
#define HLSGEN_HOST_BATCH_H

#include <atomic>
#include <memory>
#include <thread>

#include "statistics.h"

namespace host {

// By port the frames in codes, inputs to read and outputs to write.
typedef std::map<std::string, std::vector<char> > arrays_t;

// Ends the program without waiting for anything: a call may still be under way, and what owns it would wait.
[[noreturn]] inline void give_up(const std::string &message) {
    static std::atomic_flag said = ATOMIC_FLAG_INIT;
    while (said.test_and_set()) std::this_thread::sleep_for(std::chrono::seconds(1));
    std::fflush(stdout);
    std::fprintf(stderr, "error: %s\n", message.c_str());
    std::fflush(stderr);
    std::_Exit(DEVICE_TROUBLE);
}

// What a thread does; an exception of XRT or of ours ends the program.
template <typename W>
void guarded(const W &work) {
    try {
        work();
    } catch (const std::exception &error) {
        give_up(error.what());
    }
}

class batch {
public:
    batch(const design &d, const card &c, const lane::weights_t &weights, std::size_t chunk_frames, std::size_t buffers)
        : design_(d), card_(c), chunk_frames_(chunk_frames), buffers_(buffers) {
        for (std::size_t l = 0; l < d.lanes(); ++l) lanes_.push_back(std::make_unique<lane>(card_, d, l, weights));
    }

    void allocate(long limit_s) {
        for (std::size_t b = 0; b < buffers_; ++b) {
            for (const auto &l : lanes_) slots_.push_back(std::make_unique<slot>(*l, chunk_frames_, limit_s));
        }
        for (std::size_t l = 0; l < lanes_.size(); ++l) slots_[l]->load_weights();
    }

    // All frames, once: when it began and ended, and what each lane did.
    span run(const arrays_t &inputs, arrays_t &outputs, std::size_t frames, std::vector<record> &lanes) {
        std::vector<record> done(slots_.size());
        std::vector<std::thread> threads;
        std::atomic<std::size_t> next{0};
        const moment begin = now();
        for (std::size_t s = 0; s < slots_.size(); ++s) {
            threads.emplace_back([&, s] {
                guarded([&] {
                    for (std::size_t first; (first = next.fetch_add(chunk_frames_)) < frames;) {
                        chunk(*slots_[s], inputs, outputs, first, std::min(chunk_frames_, frames - first), done[s]);
                    }
                });
            });
        }
        for (std::thread &one : threads) one.join();
        const span whole = {begin, now()};
        lanes.assign(lanes_.size(), record());
        for (std::size_t s = 0; s < slots_.size(); ++s) append(done[s], lanes[s % lanes_.size()]);
        return whole;
    }

    // Frames one by one with nothing else under way: their seconds.
    std::vector<double> run_singly(const arrays_t &inputs, arrays_t &outputs, std::size_t frames, std::size_t count) {
        record done;
        for (std::size_t i = 0; i < count; ++i) chunk(*slots_.front(), inputs, outputs, i % frames, 1, done);
        std::vector<double> seconds;
        for (const span &one : done.chunks) seconds.push_back(one.seconds());
        return seconds;
    }

private:
    const design &design_;
    const card &card_;
    std::size_t chunk_frames_, buffers_;
    std::vector<std::unique_ptr<lane> > lanes_;
    std::vector<std::unique_ptr<slot> > slots_;  // the lanes in turn, so that a small batch reaches all of them

    static moment now() { return std::chrono::steady_clock::now(); }

    static void append(const record &from, record &to) {
        to.chunks.insert(to.chunks.end(), from.chunks.begin(), from.chunks.end());
        to.calls.insert(to.calls.end(), from.calls.begin(), from.calls.end());
        to.frames += from.frames;
    }

    void chunk(slot &s, const arrays_t &inputs, arrays_t &outputs, std::size_t first, std::size_t frames, record &done) const {
        const moment begin = now();
        for (const port &p : design_.inputs) {
            const tensor &t = design_.tensor_of(p.tensor);
            s.fill(p, inputs.at(p.name).data() + first * t.in_ddr.array_bytes(), frames);
        }
        s.send(frames);
        const moment called = now();
        s.compute(frames);
        done.calls.push_back({called, now()});
        s.fetch(frames);
        for (const port &p : design_.outputs) {
            const tensor &t = design_.tensor_of(p.tensor);
            s.read(p, outputs.at(p.name).data() + first * t.in_ddr.array_bytes(), frames);
        }
        done.chunks.push_back({begin, now()});
        done.frames += frames;
    }
};

}  // namespace host

#endif
