// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// hls::gather and hls::scatter: elements that the caller promises to be in different banks.
#ifndef HLSGEN_SCHEDULE_HLS_ARRAY_PARTITION_H
#define HLSGEN_SCHEDULE_HLS_ARRAY_PARTITION_H

#include "hls_vector.h"

namespace hls {

template <typename T_, size_t K_, class A_>
inline __attribute__((always_inline)) vector<T_, K_> gather(const A_& memory, const vector<size_t, K_>& index) {
    vector<T_, K_> out;
    _Pragma("clang loop unroll(full)") for (size_t k = 0; k < K_; ++k) out[k] = memory[index[k]];
    return out;
}
template <typename T_, size_t K_, class A_>
inline __attribute__((always_inline)) void scatter(A_& memory, const vector<size_t, K_>& index, const vector<T_, K_>& values) {
    _Pragma("clang loop unroll(full)") for (size_t k = 0; k < K_; ++k) memory[index[k]] = values[k];
}

}  // namespace hls

#endif
