// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// hls::burst_maxi: a memory port that asks for bursts itself. Each action is one call.
#ifndef HLSGEN_SCHEDULE_HLS_BURST_MAXI_H
#define HLSGEN_SCHEDULE_HLS_BURST_MAXI_H

#include <stddef.h>

#include <type_traits>

#include "hlsgen_marks.h"

namespace hls {

template <typename T_>
class burst_maxi {
public:
    static constexpr long exact_bits = hls_marks::bits_of<T_>::value;

    __attribute__((always_inline)) burst_maxi(T_* memory) : memory_(memory) {}

    __attribute__((always_inline)) void read_request(size_t offset, size_t beats) {
        __hls_maxi_read_request(memory_, static_cast<long>(offset), static_cast<long>(beats));
    }
    __attribute__((always_inline)) T_ read() { return *static_cast<T_*>(__hls_maxi_read(memory_, exact_bits)); }
    // words of another type, at offsets in bytes
    template <class U_>
    __attribute__((always_inline)) void read_request_unaligned(size_t offset, size_t beats) { read_request(offset, beats); }
    template <class U_>
    __attribute__((always_inline)) U_ read() {
        return *static_cast<U_*>(__hls_maxi_read(memory_, hls_marks::bits_of<U_>::value));
    }
    template <class U_>
    __attribute__((always_inline)) void write_request_unaligned(size_t offset, size_t beats) { write_request(offset, beats); }
    __attribute__((always_inline)) void write_request(size_t offset, size_t beats) {
        __hls_maxi_write_request(memory_, static_cast<long>(offset), static_cast<long>(beats));
    }
    __attribute__((always_inline)) void write(const T_& item) {
        T_* slot = static_cast<T_*>(__hls_maxi_slot(memory_, exact_bits));
        *slot = item;
        __hls_maxi_write(memory_, slot);
    }
    template <class U_, typename std::enable_if<!std::is_same<U_, T_>::value && !std::is_convertible<U_, T_>::value, int>::type = 0>
    __attribute__((always_inline)) void write(const U_& item) {
        U_* slot = static_cast<U_*>(__hls_maxi_slot(memory_, hls_marks::bits_of<U_>::value));
        *slot = item;
        __hls_maxi_write(memory_, slot);
    }
    // with a mask of the bytes that are written
    template <class Mask_>
    __attribute__((always_inline)) void write(const T_& item, const Mask_&) { write(item); }
    __attribute__((always_inline)) void write_response() { __hls_maxi_write_response(memory_); }

private:
    T_* memory_;
};

}  // namespace hls

#endif
