// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// Floating-point operators by name: those of hls_math.h.
#ifndef HLSGEN_SCHEDULE_HLS_FPO_H
#define HLSGEN_SCHEDULE_HLS_FPO_H

#include "hls_math.h"

#endif
