// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// For kernels that give names of math.h to types, variables and functions of their own: the vendor's headers do not
// bring it with others. Included behind it.
#ifndef HLSGEN_SCHEDULE_OWN_NAMES_H
#define HLSGEN_SCHEDULE_OWN_NAMES_H
#define float_t __hls_own_float_t
#define double_t __hls_own_double_t
// Bessel functions and the like, of POSIX
#define j0 __hls_own_j0
#define j1 __hls_own_j1
#define jn __hls_own_jn
#define y0 __hls_own_y0
#define y1 __hls_own_y1
#define yn __hls_own_yn
#define gamma __hls_own_gamma
#endif
