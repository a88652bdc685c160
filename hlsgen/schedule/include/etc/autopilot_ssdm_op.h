// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// The vendor's own operations, which code reaches by ap_utils.h and other headers: time that a kernel spends on purpose.
#ifndef HLSGEN_SCHEDULE_AUTOPILOT_SSDM_OP_H
#define HLSGEN_SCHEDULE_AUTOPILOT_SSDM_OP_H

extern "C" void __hls_wait(int cycles) __attribute__((nothrow));

inline __attribute__((always_inline)) void ap_wait() { __hls_wait(1); }
inline __attribute__((always_inline)) void ap_wait_n(int cycles) { __hls_wait(cycles); }
inline __attribute__((always_inline)) void ap_wait_until(bool) { __hls_wait(1); }

#endif
