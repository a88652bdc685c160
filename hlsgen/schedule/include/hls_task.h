// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// hls::task and hls_thread_local: processes that run for ever. A task is a call of its function, once.
#ifndef HLSGEN_SCHEDULE_HLS_TASK_H
#define HLSGEN_SCHEDULE_HLS_TASK_H

#include "hls_stream.h"

#define hls_thread_local

namespace hls {
class task {
public:
    template <class F_, class... A_>
    __attribute__((always_inline)) task(F_ function, A_&&... arguments) { function(arguments...); }
    template <class F_, class... A_>
    __attribute__((always_inline)) void operator()(F_ function, A_&&... arguments) { function(arguments...); }
    task() {}
};
}  // namespace hls

#endif
