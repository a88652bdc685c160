// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// The vendor's DDS compiler: what configures it (UG1399, "DDS Struct Parameter Values"), and calls of which nothing is known.
#ifndef HLSGEN_SCHEDULE_HLS_DDS_H
#define HLSGEN_SCHEDULE_HLS_DDS_H

#include "ap_int.h"
#include "hls_stream.h"

namespace hls {
namespace ip_dds {

enum mode { XIP_DDS_MOO_CONVENTIONAL = 1, XIP_DDS_MOO_RASTERIZED };
enum noise { XIP_DDS_NS_NONE = 1, XIP_DDS_NS_DITHER, XIP_DDS_NS_TAYLOR, XIP_DDS_NS_AUTO };
enum increment {
    XIP_DDS_PINCPOFF_NONE = 1,
    XIP_DDS_PINCPOFF_FIXED,
    XIP_DDS_PINCPOFF_PROG,
    XIP_DDS_PINCPOFF_STREAM
};
enum selection { XIP_DDS_OUT_SIN_ONLY = 1, XIP_DDS_OUT_COS_ONLY, XIP_DDS_OUT_SIN_AND_COS };
enum memory { XIP_DDS_MEM_AUTO = 1, XIP_DDS_MEM_DIST, XIP_DDS_MEM_BLOCK };
enum goal { XIP_DDS_OPTGOAL_AUTO = 1, XIP_DDS_OPTGOAL_AREA, XIP_DDS_OPTGOAL_SPEED };
enum resolution { XIP_DDS_RESOLUTION_FULL_RANGE = 1, XIP_DDS_RESOLUTION_UNIT_CIRCLE };
const int XIP_DDS_CHANNELS_MAX = 16;

struct params_t {
    static constexpr double DDS_Clock_Rate = 20.0;
    static const unsigned Channels = 1;
    static const unsigned Mode_of_Operation = XIP_DDS_MOO_CONVENTIONAL;
    static const unsigned Modulus = 200;
    static constexpr double Spurious_Free_Dynamic_Range = 20.0;
    static constexpr double Frequency_Resolution = 10.0;
    static const unsigned Noise_Shaping = XIP_DDS_NS_NONE;
    static const unsigned Phase_Width = 16;
    static const unsigned Output_Width = 16;
    static const unsigned Phase_Increment = XIP_DDS_PINCPOFF_FIXED;
    static const unsigned Phase_Offset = XIP_DDS_PINCPOFF_NONE;
    static const unsigned Output_Selection = XIP_DDS_OUT_SIN_AND_COS;
    static const unsigned Negative_Sine = 0;
    static const unsigned Negative_Cosine = 0;
    static const unsigned Amplitude_Mode = XIP_DDS_RESOLUTION_FULL_RANGE;
    static const unsigned Memory_Type = XIP_DDS_MEM_AUTO;
    static const unsigned Optimization_Goal = XIP_DDS_OPTGOAL_AUTO;
    static const unsigned DSP48_Use = 1;
    static const unsigned Latency_Configuration = 1;
    static const unsigned Latency = 5;
    static constexpr double PINC[XIP_DDS_CHANNELS_MAX] = {};
    static constexpr double POFF[XIP_DDS_CHANNELS_MAX] = {};
};

} // namespace ip_dds

template <typename Config_>
class DDS {
public:
    template <class Data_, class Phase_> void run(Data_& data, Phase_& phase);
    template <class Data_> void run(Data_& data);
};

} // namespace hls

#endif
