// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// hls::stream_of_blocks: arrays that are handed from a process to the next. A lock is one array between two calls.
#ifndef HLSGEN_SCHEDULE_HLS_STREAMOFBLOCKS_H
#define HLSGEN_SCHEDULE_HLS_STREAMOFBLOCKS_H

#include "hls_stream.h"

extern "C" {
void* __hls_block_acquire(void* stream, bool writes) __attribute__((nothrow, malloc));
void __hls_block_release(void* stream, void* block) __attribute__((nothrow));
}

namespace hls {

template <typename T, int DEPTH = 2>
class stream_of_blocks {
public:
    typedef T block_type;
    stream_of_blocks() = default;
    explicit stream_of_blocks(const char*) {}
    bool empty() const { return __hls_stream_empty(const_cast<stream_of_blocks*>(this)); }
    bool full() const { return __hls_stream_full(const_cast<stream_of_blocks*>(this)); }

private:
    char identity_;
};

template <typename T, bool WRITES>
class block_lock {
public:
    template <int DEPTH>
    __attribute__((always_inline)) explicit block_lock(stream_of_blocks<T, DEPTH>& stream)
        : stream_(&stream), block_(static_cast<T*>(__hls_block_acquire(&stream, WRITES))) {}
    __attribute__((always_inline)) ~block_lock() { __hls_block_release(stream_, block_); }
    __attribute__((always_inline)) operator T&() { return *block_; }
    template <class I> __attribute__((always_inline)) auto& operator[](I i) { return (*block_)[i]; }
    __attribute__((always_inline)) T& operator=(const T& x) { return *block_ = x; }

private:
    void* stream_;
    T* block_;
};
template <typename T> struct read_lock : block_lock<T, false> {
    template <int DEPTH> __attribute__((always_inline)) explicit read_lock(stream_of_blocks<T, DEPTH>& s) : block_lock<T, false>(s) {}
};
template <typename T> struct write_lock : block_lock<T, true> {
    template <int DEPTH> __attribute__((always_inline)) explicit write_lock(stream_of_blocks<T, DEPTH>& s) : block_lock<T, true>(s) {}
};

}  // namespace hls

#endif
