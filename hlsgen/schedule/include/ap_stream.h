// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// The old name of hls::stream.
#ifndef HLSGEN_SCHEDULE_AP_STREAM_H
#define HLSGEN_SCHEDULE_AP_STREAM_H

#include "hls_stream.h"

template <typename T_> using ap_stream = hls::stream<T_>;

#endif
