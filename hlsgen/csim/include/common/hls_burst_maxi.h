// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// hls::burst_maxi for C-simulation: manual bursts on plain memory, written from scratch. C++11; knows
// nothing of ap_ types.
//
// Subset: construction from a pointer, read_request, read, write_request, write, write_response.
// The order that the hardware needs is checked: data only for requested beats, in the order of the requests;
// one response per write request, after its last beat; nothing left open when the port goes out of scope.
// A violation ends the program with status 70.
//
// Ports are passed by value. A copy takes over what is outstanding, so requests may be made before the call.

#ifndef HLSGEN_HLS_BURST_MAXI_H
#define HLSGEN_HLS_BURST_MAXI_H

#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace hls {

/// Requests whose beats are not all transferred, oldest first.
class burst_queue {
public:
    burst_queue() : head_(0), count_(0) {}
    burst_queue(burst_queue& other) : head_(0), count_(0) {
        for (; !other.empty(); other.drop()) push(other.front().offset, other.front().beats);
    }
    bool empty() const { return count_ == 0; }
    bool full() const { return count_ == capacity; }
    void push(std::size_t offset, std::size_t beats) {
        request& last = requests_[(head_ + count_++) % capacity];
        last.offset = offset;
        last.beats = beats;
    }
    /// The offset of the next beat, which is then done. `finished` tells whether its request is, too.
    std::size_t next(bool& finished) {
        request& first = requests_[head_];
        const std::size_t offset = first.offset++;
        finished = --first.beats == 0;
        if (finished) drop();
        return offset;
    }

    static const unsigned capacity = 256;

private:
    struct request {
        std::size_t offset, beats;
    };
    request requests_[capacity];
    unsigned head_, count_;

    const request& front() const { return requests_[head_]; }
    void drop() {
        head_ = (head_ + 1) % capacity;
        --count_;
    }
};

template <typename T>
class burst_maxi {
public:
    burst_maxi(T* memory) : memory_(memory), unanswered_(0) {}
    burst_maxi(const burst_maxi& other)
        : memory_(other.memory_), reads_(other.reads_), writes_(other.writes_), unanswered_(other.unanswered_) {
        other.unanswered_ = 0;
    }
    burst_maxi& operator=(const burst_maxi&) = delete;
    ~burst_maxi() {
        if (!reads_.empty()) fail_at_end("requested data was never read");
        if (!writes_.empty()) fail_at_end("requested data was never written");
        if (unanswered_ != 0) fail_at_end("write_response is missing");
    }

    /// `offset` and `beats` in elements of T.
    void read_request(std::size_t offset, std::size_t beats) { request(reads_, "read_request", offset, beats); }
    T read() {
        if (reads_.empty()) fail("read", "no beat of a read_request is left");
        bool finished;
        return memory_[reads_.next(finished)];
    }
    void write_request(std::size_t offset, std::size_t beats) { request(writes_, "write_request", offset, beats); }
    void write(const T& value) {
        if (writes_.empty()) fail("write", "no beat of a write_request is left");
        bool finished;
        memory_[writes_.next(finished)] = value;
        unanswered_ += finished;
    }
    void write_response() {
        if (unanswered_ == 0) fail("write_response", "no write_request has all its beats written");
        --unanswered_;
    }

private:
    T* memory_;
    mutable burst_queue reads_, writes_;
    mutable std::size_t unanswered_;  // finished writes without their response

    static void request(burst_queue& queue, const char* what, std::size_t offset, std::size_t beats) {
        if (beats == 0) fail(what, "the length is 0");
        if (queue.full()) fail(what, "256 requests are outstanding; no port accepts more");
        queue.push(offset, beats);
    }
    static void fail(const char* what, const char* why) {
        std::fprintf(stderr, "hls::burst_maxi: %s: %s\n", what, why);
        std::exit(70);
    }
    // The port may be a static object, whose destructor must not call exit again.
    static void fail_at_end(const char* why) {
        std::fprintf(stderr, "hls::burst_maxi: end of the port's scope: %s\n", why);
        std::fflush(nullptr);
        std::_Exit(70);
    }
};

}  // namespace hls

#endif
