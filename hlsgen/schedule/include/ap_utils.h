// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// Waiting and protocols.
#ifndef HLSGEN_SCHEDULE_AP_UTILS_H
#define HLSGEN_SCHEDULE_AP_UTILS_H

#include "etc/autopilot_ssdm_op.h"

inline __attribute__((always_inline)) void wait(int cycles) { __hls_wait(cycles); }

#endif
