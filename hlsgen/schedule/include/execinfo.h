// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// Of the GNU C library alone, which the vendor's compiler comes with: kernels include it to print their callers in
// C-simulation.
#ifndef HLSGEN_SCHEDULE_EXECINFO_H
#define HLSGEN_SCHEDULE_EXECINFO_H

#ifdef __cplusplus
extern "C" {
#endif
int backtrace(void** callers, int most);
char** backtrace_symbols(void* const* callers, int count);
void backtrace_symbols_fd(void* const* callers, int count, int file);
#ifdef __cplusplus
}
#endif

#endif
