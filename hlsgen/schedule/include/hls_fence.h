// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// hls::fence: an order of accesses that the tool must keep.
#ifndef HLSGEN_SCHEDULE_HLS_FENCE_H
#define HLSGEN_SCHEDULE_HLS_FENCE_H

namespace hls {
template <class... T_> inline void fence(const T_&...) {}
}  // namespace hls

#endif
