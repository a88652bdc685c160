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
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "hlsgen/lanes.h"
#include "hlsgen/memory.h"
#include "hlsgen/stage.h"

namespace hls {

constexpr int EMPTY_STATUS = 70;
constexpr int WRONG_OPTION_STATUS = 2;

// What a stream carried: filled when it ends.
struct record {
    long long words = 0;
    std::uint64_t read_times = 0, write_times = 0;  // sum of iteration * (word + 1), modulo 2^64
    long long most = 0;                             // words held at once
    std::vector<std::uint64_t> codes;               // the elements' bits, if kept
};

constexpr int DECLARED = -1;

// What is asked of the streams of a name, and what the last of them carried. A list is shorter to compile than a map.
struct named_record {
    const std::string name;
    int depth = DECLARED;  // DECLARED, or what replaces it
    bool kept = false;     // with all codes
    bool ended = false;
    record carried;
    named_record *next = nullptr;

    explicit named_record(const std::string &name) : name(name) {}
};

class recorder {
public:
    static recorder &instance() {
        static recorder all;
        return all;
    }
    named_record *first = nullptr;  // in the order in which they were first asked for

    named_record &of(const std::string &name) {
        named_record **place = &first;
        for (; *place != nullptr; place = &(*place)->next)
            if ((*place)->name == name) return **place;
        return *(*place = new named_record(name));
    }
    // The testbench's options: --bounded (all stages run at once), --depth STREAM=WORDS.
    void obey(int argc, char **argv) {
        for (int a = 1; a < argc; ++a) {
            if (std::strcmp(argv[a], "--bounded") == 0) hlsgen::processes::instance().bounded = true;
            if (std::strcmp(argv[a], "--depth") != 0) continue;
            const char *const asked = a + 1 < argc ? argv[a + 1] : "";
            const char *const equal = std::strchr(asked, '=');
            char *end = nullptr;
            const long words = equal == nullptr ? 0 : std::strtol(equal + 1, &end, 10);
            if (equal == nullptr || end == equal + 1 || *end != '\0' || words < 0) {
                std::fprintf(stderr, "error: --depth takes STREAM=WORDS\n");
                std::exit(WRONG_OPTION_STATUS);
            }
            of(std::string(asked, std::size_t(equal - asked))).depth = int(words);
        }
    }
    // Writes the iterations of each stage and what each stream carried; false if it cannot.
    bool write(const std::string &path) const {
        std::FILE *const file = std::fopen(path.c_str(), "w");
        if (file == nullptr) return false;
        const std::vector<long long> &iterations = hlsgen::processes::instance().iterations;
        for (std::size_t s = 0; s < iterations.size(); ++s) std::fprintf(file, "stage %zu %lld\n", s, iterations[s]);
        for (const named_record *one = first; one != nullptr; one = one->next) {
            const record &r = one->carried;
            if (!one->ended) continue;
            std::fprintf(file, "stream %s %lld %llu %llu %lld\n", one->name.c_str(), r.words,
                         (unsigned long long)r.write_times, (unsigned long long)r.read_times, r.most);
        }
        return std::fclose(file) == 0;
    }
    // What follows is recorded as if nothing had been before.
    void begin_anew() {
        hlsgen::processes::instance().iterations.clear();
        for (named_record *one = first; one != nullptr; one = one->next) one->ended = false;
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
        const named_record &asked = recorder::instance().of(name_);
        if (asked.depth != DECLARED) depth_ = asked.depth;
        keeps_ = asked.kept;
    }
    ~stream_of_words() {
        named_record &left = recorder::instance().of(name_);
        record_.words = (long long)tail_;
        left.ended = true;
        std::swap(left.carried, record_);
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
