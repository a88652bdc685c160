// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// For kernels with types of their own by names that math.h has: the vendor's headers do not bring it with others. Included behind it.
#ifndef HLSGEN_SCHEDULE_OWN_TYPES_H
#define HLSGEN_SCHEDULE_OWN_TYPES_H
#define float_t __hls_own_float_t
#define double_t __hls_own_double_t
#endif
