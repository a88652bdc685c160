// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// hls::stream for C-simulation: an unbounded queue, written from scratch. C++11; knows nothing of ap_ types.
//
// Subset: named or unnamed construction, read, read_nb, write, write_nb, <<, >>, empty, full, size.
// stream<T, DEPTH> passes as stream<T>& and does not limit the queue. Reading an empty stream ends the
// program with status 70: where C-simulation finds nothing to read, hardware would wait for ever.

#ifndef HLSGEN_HLS_STREAM_H
#define HLSGEN_HLS_STREAM_H

#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace hls {

template <typename T, int DEPTH = 0>
class stream;

template <typename T>
class stream<T, 0> {
public:
    /// `name` must live as long as the stream; it is for messages.
    explicit stream(const char* name = "unnamed") : name_(name), items_(nullptr), mask_(0), head_(0), size_(0) {}
    ~stream() { delete[] items_; }
    stream(const stream&) = delete;
    stream& operator=(const stream&) = delete;

    void write(const T& item) {
        if (items_ == nullptr || size_ > mask_) grow();
        items_[(head_ + size_) & mask_] = item;
        ++size_;
    }
    T read() {
        if (size_ == 0) fail_empty();
        const std::size_t at = head_;
        head_ = (head_ + 1) & mask_;
        --size_;
        return items_[at];
    }
    void read(T& item) { item = read(); }
    bool read_nb(T& item) {
        if (size_ == 0) return false;
        item = read();
        return true;
    }
    bool write_nb(const T& item) {
        write(item);
        return true;
    }
    void operator<<(const T& item) { write(item); }
    void operator>>(T& item) { item = read(); }

    bool empty() const { return size_ == 0; }
    bool full() const { return false; }
    std::size_t size() const { return size_; }

private:
    const char* name_;
    T* items_;          // a ring of mask_ + 1 items, a power of two; null before the first write
    std::size_t mask_;
    std::size_t head_;  // the oldest item
    std::size_t size_;

    void grow() {
        const std::size_t capacity = items_ == nullptr ? 16 : 2 * (mask_ + 1);
        T* items = new T[capacity];
        for (std::size_t i = 0; i < size_; ++i) items[i] = items_[(head_ + i) & mask_];
        delete[] items_;
        items_ = items;
        mask_ = capacity - 1;
        head_ = 0;
    }
    void fail_empty() const {
        std::fprintf(stderr, "hls::stream '%s': read while empty; in hardware this process would wait for ever\n", name_);
        std::exit(70);
    }
};

template <typename T, int DEPTH>
class stream : public stream<T, 0> {
public:
    explicit stream(const char* name = "unnamed") : stream<T, 0>(name) {}
};

}  // namespace hls

#endif
