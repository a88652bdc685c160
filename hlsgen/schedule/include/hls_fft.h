// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// The vendor's FFT: what configures it, and calls of which nothing is known.
#ifndef HLSGEN_SCHEDULE_HLS_FFT_H
#define HLSGEN_SCHEDULE_HLS_FFT_H

#include <complex>

#include "ap_fixed.h"
#include "ap_int.h"
#include "hls_stream.h"
#include "hls_vector.h"
#include "hls_x_complex.h"

namespace hls {
namespace ip_fft {

enum arch { radix_4_burst_io = 1, radix_2_burst_io, pipelined_streaming_io, radix_2_lite_burst_io };
enum scaling { scaled = 0, unscaled, block_floating_point };
enum rounding { truncation = 0, convergent_rounding };
enum mem { block_ram = 0, distributed_ram };
enum opt { use_luts = 0, use_mults_resources, use_mults_performance, use_xtremedsp_slices };
enum ordering { bit_reversed_order = 0, natural_order };
enum ssr { ssr_1 = 1, ssr_2 = 2, ssr_4 = 4, ssr_8 = 8, ssr_16 = 16, ssr_32 = 32, ssr_64 = 64 };
enum type { fixed_point = 0, floating_point };

struct params_t {
    static const unsigned input_width = 16;
    static const unsigned output_width = 16;
    static const unsigned status_width = 8;
    static const unsigned config_width = 16;
    static const unsigned max_nfft = 10;
    static const bool has_nfft = false;
    static const unsigned channels = 1;
    static const unsigned arch_opt = pipelined_streaming_io;
    static const unsigned phase_factor_width = 16;
    static const unsigned ordering_opt = bit_reversed_order;
    static const bool ovflo = true;
    static const unsigned scaling_opt = scaled;
    static const unsigned rounding_opt = truncation;
    static const unsigned mem_data = block_ram;
    static const unsigned mem_phase_factors = block_ram;
    static const unsigned mem_reorder = block_ram;
    static const unsigned stages_block_ram = 1;
    static const bool mem_hybrid = false;
    static const unsigned complex_mult_type = use_mults_resources;
    static const unsigned butterfly_type = use_luts;
    static const bool xk_index = false;
    static const bool cyclic_prefix_insertion = false;
    static const unsigned super_sample_rate = ssr_1;
    static const bool use_native_float = false;
};
struct ssr_params_t : params_t {
    static const unsigned super_sample_rate = ssr_2;
    static const bool systolicfft_inv = false;
};

template <typename Config_> struct config_t {
    ap_uint<Config_::config_width> data;
    ap_uint<Config_::config_width> getData() { return data; }
    void setData(ap_uint<Config_::config_width> value) { data = value; }
    void setDir(bool forward, unsigned = 0) { data[0] = forward; }
    void setSch(ap_uint<Config_::config_width> scale, unsigned = 0) { data |= scale << 1; }
    void setNfft(ap_uint<8> size) { data |= size; }
    void setCpLen(ap_uint<16> length) { data |= length; }
};
template <typename Config_> struct status_t {
    ap_uint<Config_::status_width> data;
    ap_uint<Config_::status_width> getData() const { return data; }
    void setData(ap_uint<Config_::status_width> value) { data = value; }
    ap_uint<8> getBlkExp(unsigned = 0) const { return data; }
    bool getOvflo(unsigned = 0) const { return data[0]; }
};

} // namespace ip_fft

template <typename Config_, class In_, class Out_>
void fft(In_& in, Out_& out, ip_fft::status_t<Config_>* status, ip_fft::config_t<Config_>* config);
template <typename Config_, class In_, class Out_> void fft(In_& in, Out_& out);
template <typename Config_, class In_, class Out_> void fft(In_& in, Out_& out, bool forward, unsigned scale, bool* overflow);
template <typename Config_, class In_, class Out_> void fft(In_& in, Out_& out, bool forward, unsigned scale, unsigned cp, bool* overflow);
template <typename Config_, class In_, class Out_, class Status_, class Fft_>
void fft(In_& in, Out_& out, Status_& status, Fft_& config);

} // namespace hls

#endif
