// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// hls::split and hls::merge: channels with one end and several. Their own scheduling is the vendor's; what reads and
// writes them sees streams.
#ifndef HLSGEN_SCHEDULE_HLS_NP_CHANNEL_H
#define HLSGEN_SCHEDULE_HLS_NP_CHANNEL_H

#include "hls_stream.h"

namespace hls {

namespace np_channels {
template <typename T_, int Ends_> struct split {
    stream<T_> in;
    stream<T_> out[Ends_];
    split() = default;
    explicit split(const char*) {}
};
template <typename T_, int Ends_> struct merge {
    stream<T_> in[Ends_];
    stream<T_> out;
    merge() = default;
    explicit merge(const char*) {}
};
}  // namespace np_channels

namespace split {
template <typename T_, int Ends_, int Depth_ = 2, int Depth_of_end_ = 2> using round_robin = np_channels::split<T_, Ends_>;
template <typename T_, int Ends_, int Depth_ = 2, int Depth_of_end_ = 2> using load_balance = np_channels::split<T_, Ends_>;
}  // namespace split
namespace merge {
template <typename T_, int Ends_, int Depth_ = 2, int Depth_of_end_ = 2> using round_robin = np_channels::merge<T_, Ends_>;
template <typename T_, int Ends_, int Depth_ = 2, int Depth_of_end_ = 2> using load_balance = np_channels::merge<T_, Ends_>;
}  // namespace merge

}  // namespace hls

#endif
