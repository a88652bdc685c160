// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// hls::stream for the C-simulation of streaming kernels; written from scratch.
//
// Subset: named construction, read, write, empty, full, size. Two ways to run, see hlsgen/stage.h: one stage after the
// other, when streams are unbounded and reading an empty one ends the program with status 70; or all stages at once,
// when a stream holds as many words as it is declared for. Streams may keep what was written to them, for the
// testbench to show, and sum up in which iterations they were read and written.
#ifndef HLSGEN_HLS_STREAM_H
#define HLSGEN_HLS_STREAM_H
#define HLSGEN_CSIM_RECORDS

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "hlsgen/lanes.h"
#include "hlsgen/memory.h"
#include "hlsgen/stage.h"

namespace hls {

constexpr int EMPTY_STATUS = 70;

// What a stream carried: filled when it ends.
struct record {
    long long words = 0;
    std::uint64_t read_times = 0, write_times = 0;  // sum of iteration * (word + 1), modulo 2^64
    long long most = 0;                             // words held at once
    std::vector<std::uint64_t> codes;               // the elements' bits, if kept
};

struct recorder {
    std::map<std::string, int> depths;  // that replace the declared ones
    std::map<std::string, record> streams;
    std::map<std::string, bool> kept;

    static recorder &instance() {
        static recorder all;
        return all;
    }
};

template <typename T, int N>
inline void append_codes(std::vector<std::uint64_t> &codes, const hlsgen::lanes<T, N> &word) {
    for (int l = 0; l < N; ++l) codes.push_back(hlsgen::bits_of<hlsgen::width_of<T>::BITS>(word.lane[l]).to_uint64());
}
template <typename T>
inline void append_codes(std::vector<std::uint64_t> &, const T &) {}

// What a stream does whatever its words are: compiled once, not for each of their types.
class stream_of_words {
public:
    stream_of_words(const stream_of_words &) = delete;
    stream_of_words &operator=(const stream_of_words &) = delete;

    bool empty() const { return head_ == tail_; }
    bool full() const { return false; }
    std::size_t size() const { return tail_ - head_; }

protected:
    std::size_t head_ = 0, tail_ = 0;  // words read and written
    std::size_t room_ = 0;             // words that the ring holds, a power of two
    bool keeps_ = false;
    record record_;

    stream_of_words(const char *name, int depth) : name_(name), depth_(depth) {
        const recorder &all = recorder::instance();
        const auto other = all.depths.find(name_);
        if (other != all.depths.end()) depth_ = other->second;
        keeps_ = all.kept.count(name_) != 0;
    }
    ~stream_of_words() {
        record_.words = (long long)tail_;
        std::swap(recorder::instance().streams[name_], record_);
    }
    void join() const {
        hlsgen::processes::instance().join();
        if (head_ != tail_) {
            std::fprintf(stderr, "hls::stream '%s': %zu words were never read\n", name_.c_str(), tail_ - head_);
            std::exit(EMPTY_STATUS);
        }
    }
    void wait_to_write() {
        hlsgen::processes &all = hlsgen::processes::instance();
        while (all.bounded && tail_ - head_ >= std::size_t(depth_)) all.wait(writer_, name_, true);
    }
    void wrote() {
        ++tail_;
        if ((long long)(tail_ - head_) > record_.most) record_.most = (long long)(tail_ - head_);
        record_.write_times += std::uint64_t(hlsgen::processes::instance().now()) * std::uint64_t(tail_);
        hlsgen::processes::wake(reader_);
    }
    // The place in the ring of the word that is read.
    std::size_t read_at() {
        hlsgen::processes &all = hlsgen::processes::instance();
        while (head_ == tail_) {
            if (!all.bounded) fail_empty();
            all.wait(reader_, name_, false);
        }
        const std::size_t at = head_++;
        record_.read_times += std::uint64_t(all.now()) * std::uint64_t(head_);
        hlsgen::processes::wake(writer_);
        return at & (room_ - 1);
    }

private:
    std::string name_;
    int depth_;
    hlsgen::process *reader_ = nullptr, *writer_ = nullptr;  // that wait

    [[noreturn]] void fail_empty() const {
        std::fprintf(stderr, "hls::stream '%s': read while empty; in hardware this process would wait for ever\n", name_.c_str());
        std::exit(EMPTY_STATUS);
    }
};

template <typename T, int DEPTH = 0>
class stream;

template <typename T>
class stream<T, 0> : public stream_of_words {
public:
    explicit stream(const char *name = "unnamed", int depth = 2) : stream_of_words(name, depth) {}
    ~stream() {
        join();
        delete[] items_;
    }

    void write(const T &item) {
        wait_to_write();
        if (tail_ - head_ == room_) grow();
        items_[tail_ & (room_ - 1)] = item;
        if (keeps_) append_codes(record_.codes, item);
        wrote();
    }
    T read() {
        const std::size_t at = read_at();  // while it waits the ring may grow
        return items_[at];
    }

private:
    T *items_ = nullptr;  // a ring

    void grow() {
        const std::size_t more = room_ == 0 ? 16 : 2 * room_;
        T *const items = new T[more]();
        for (std::size_t i = head_; i < tail_; ++i) items[i & (more - 1)] = items_[i & (room_ - 1)];
        delete[] items_;
        items_ = items;
        room_ = more;
    }
};

template <typename T, int DEPTH>
class stream : public stream<T, 0> {
public:
    explicit stream(const char *name) : stream<T, 0>(name, DEPTH) {}
};

}  // namespace hls

#endif
