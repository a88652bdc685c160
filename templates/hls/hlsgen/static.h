// What a kernel keeps from one call to the next, and memories of its own: every instance in hardware has them for
// itself. Where calls run in several threads (OpenMP), each thread stands for an instance.
#ifndef HLSGEN_STATIC_H
#define HLSGEN_STATIC_H

#ifdef _OPENMP
#define HLSGEN_STATIC static thread_local
#else
#define HLSGEN_STATIC static
#endif

#endif
