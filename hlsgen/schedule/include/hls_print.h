// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// hls::print: nothing in hardware that a schedule knows of.
#ifndef HLSGEN_SCHEDULE_HLS_PRINT_H
#define HLSGEN_SCHEDULE_HLS_PRINT_H

namespace hls {
inline void print(const char*) {}
template <class T_> inline __attribute__((always_inline)) void print(const char*, T_) {}
}  // namespace hls

#endif
