// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// hls::stream: each read, write and test is one call, which the schedule knows as a FIFO's.
#ifndef HLSGEN_SCHEDULE_HLS_STREAM_H
#define HLSGEN_SCHEDULE_HLS_STREAM_H

#include <stddef.h>

#include "hlsgen_marks.h"

namespace hls {

template <typename T_, int Depth_ = 0> class stream;

template <typename T_>
class stream<T_, 0> {
public:
    typedef T_ value_type;
    static constexpr long exact_bits = hls_marks::bits_of<T_>::value;

    stream() = default;  // trivial: an array of streams is no loop
    __attribute__((always_inline)) explicit stream(const char*) {}
    stream(const stream&) = delete;
    stream& operator=(const stream&) = delete;

    __attribute__((always_inline)) T_ read() { return *static_cast<T_*>(__hls_stream_read(this, exact_bits)); }
    __attribute__((always_inline)) void read(T_& item) { item = *static_cast<T_*>(__hls_stream_read(this, exact_bits)); }
    __attribute__((always_inline)) void operator>>(T_& item) { read(item); }
    __attribute__((always_inline)) bool read_nb(T_& item) { return __hls_stream_read_nb(this, &item, exact_bits); }

    __attribute__((always_inline)) bool read_dep(T_& item, volatile bool after) { read(item); return after; }

    __attribute__((always_inline)) void write(const T_& item) {
        T_* slot = static_cast<T_*>(__hls_stream_slot(this, exact_bits));
        *slot = item;
        __hls_stream_write(this, slot);
    }
    __attribute__((always_inline)) void operator<<(const T_& item) { write(item); }
    __attribute__((always_inline)) bool write_nb(const T_& item) {
        T_* slot = static_cast<T_*>(__hls_stream_slot(this, exact_bits));
        *slot = item;
        return __hls_stream_write_nb(this, slot);
    }

    __attribute__((always_inline)) bool write_dep(const T_& item, volatile bool after) { write(item); return after; }

    __attribute__((always_inline)) bool empty() const { return __hls_stream_empty(const_cast<stream*>(this)); }
    __attribute__((always_inline)) bool full() const { return __hls_stream_full(const_cast<stream*>(this)); }
    __attribute__((always_inline)) size_t size() const { return static_cast<size_t>(__hls_stream_size(const_cast<stream*>(this))); }
    __attribute__((always_inline)) size_t capacity() const { return static_cast<size_t>(__hls_stream_size(const_cast<stream*>(this))); }
    void set_name(const char*) {}

private:
    char identity_;
};

template <typename T_, int Depth_>
class stream : public stream<T_, 0> {
public:
    stream() = default;
    __attribute__((always_inline)) explicit stream(const char*) {}
};

}  // namespace hls

#endif
