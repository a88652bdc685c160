// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// hls::ap_hs and its like: scalar ports with a handshake.
#ifndef HLSGEN_SCHEDULE_HLS_DIRECTIO_H
#define HLSGEN_SCHEDULE_HLS_DIRECTIO_H

#include "hls_stream.h"

namespace hls {
#define HLS_DIRECTIO(name)                                                                                     \
    template <typename T_> class name : public stream<T_> {                                                      \
    public:                                                                                                    \
        bool valid() const { return !this->empty(); }                                                          \
    };
HLS_DIRECTIO(ap_hs)
HLS_DIRECTIO(ap_vld)
HLS_DIRECTIO(ap_ack)
HLS_DIRECTIO(ap_none)
#undef HLS_DIRECTIO
}  // namespace hls

#endif
