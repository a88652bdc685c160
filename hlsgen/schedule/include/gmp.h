// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// The vendor's tool brings the library of large numbers for its simulation; kernels include it, and synthesise nothing of it.
#ifndef HLSGEN_SCHEDULE_GMP_H
#define HLSGEN_SCHEDULE_GMP_H
#endif
