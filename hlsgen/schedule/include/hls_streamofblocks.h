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

template <typename T_, int Depth_ = 2>
class stream_of_blocks {
public:
    typedef T_ block_type;
    stream_of_blocks() = default;
    explicit stream_of_blocks(const char*) {}
    bool empty() const { return __hls_stream_empty(const_cast<stream_of_blocks*>(this)); }
    bool full() const { return __hls_stream_full(const_cast<stream_of_blocks*>(this)); }

private:
    char identity_;
};

template <typename T_, bool Writes_>
class block_lock {
public:
    template <int Depth_>
    __attribute__((always_inline)) explicit block_lock(stream_of_blocks<T_, Depth_>& stream)
        : stream_(&stream), block_(static_cast<T_*>(__hls_block_acquire(&stream, Writes_))) {}
    __attribute__((always_inline)) ~block_lock() { __hls_block_release(stream_, block_); }
    __attribute__((always_inline)) operator T_&() { return *block_; }
    template <class I_> __attribute__((always_inline)) auto& operator[](I_ i) { return (*block_)[i]; }
    __attribute__((always_inline)) T_& operator=(const T_& x) { return *block_ = x; }

private:
    void* stream_;
    T_* block_;
};
template <typename T_> struct read_lock : block_lock<T_, false> {
    template <int Depth_> __attribute__((always_inline)) explicit read_lock(stream_of_blocks<T_, Depth_>& s) : block_lock<T_, false>(s) {}
};
template <typename T_> struct write_lock : block_lock<T_, true> {
    template <int Depth_> __attribute__((always_inline)) explicit write_lock(stream_of_blocks<T_, Depth_>& s) : block_lock<T_, true>(s) {}
};

}  // namespace hls

#endif
