// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// The vendor's FIR compiler: what configures it (UG1399, "FIR Struct Parameters"), and calls of which nothing is known.
#ifndef HLSGEN_SCHEDULE_HLS_FIR_H
#define HLSGEN_SCHEDULE_HLS_FIR_H

#include "ap_fixed.h"
#include "ap_int.h"
#include "hls_stream.h"

namespace hls {
namespace ip_fir {

enum filter_type { single_rate = 0, interpolation, decimation, hilbert_filter, interpolated, hilbert = hilbert_filter };
enum rate_change { integer = 0, fixed_fractional };
enum chan_seq { basic = 0, advanced };
enum rate_specification { frequency = 0, period };
enum value_sign { value_signed = 0, value_unsigned };
enum quantization { integer_only = 0, quantize_only, maximize_dynamic_range, normalize_to_centre_coefficient };
enum coeff_structure { inferred = 0, non_symmetric, symmetric, negative_symmetric, half_band, hilbert_structure };
enum output_rounding_mode {
    full_precision = 0,
    truncate_lsbs,
    non_symmetric_rounding_down,
    non_symmetric_rounding_up,
    symmetric_rounding_to_zero,
    symmetric_rounding_to_infinity,
    convergent_rounding_to_even,
    convergent_rounding_to_odd
};
enum filter_arch { systolic_multiply_accumulate = 0, transpose_multiply_accumulate };
enum optimization_goal { area = 0, speed };
enum config_method { single = 0, by_channel };

struct params_t {
    static const unsigned input_width = 16;
    static const unsigned input_fractional_bits = 0;
    static const unsigned output_width = 24;
    static const unsigned output_fractional_bits = 0;
    static const unsigned coeff_width = 16;
    static const unsigned coeff_fractional_bits = 0;
    static const unsigned num_coeffs = 21;
    static const unsigned coeff_sets = 1;
    static const unsigned input_length = num_coeffs;
    static const unsigned output_length = num_coeffs;
    static const unsigned num_channels = 1;
    static const unsigned total_num_coeff = num_coeffs * coeff_sets;
    static const unsigned filter_type = single_rate;
    static const unsigned rate_change = integer;
    static const unsigned chan_seq = basic;
    static const unsigned interp_rate = 1;
    static const unsigned decim_rate = 1;
    static const unsigned zero_pack_factor = 1;
    static const unsigned rate_specification = period;
    static const unsigned hardware_oversampling_rate = 1;
    static constexpr double sample_period = 1;
    static constexpr double sample_frequency = 0.001;
    static const unsigned coeff_sign = value_signed;
    static const unsigned input_sign = value_signed;
    static const unsigned quantization = integer_only;
    static const bool best_precision = false;
    static const unsigned coeff_structure = non_symmetric;
    static const unsigned output_rounding_mode = full_precision;
    static const unsigned filter_arch = systolic_multiply_accumulate;
    static const unsigned optimization_goal = area;
    static const unsigned inter_column_pipe_length = 4;
    static const unsigned config_method = single;
    static const bool coeff_padding = false;
    static const bool reloadable = false;
    static const bool coeff_reload = false;
    static const unsigned column_config = 0;
};

} // namespace ip_fir

template <typename Config_>
class FIR {
public:
    template <class In_, class Out_> void run(In_& in, Out_& out);
    template <class In_, class Out_, class Fir_> void run(In_& in, Out_& out, Fir_& config);
    template <class In_, class Out_, class Fir_, class Reload_> void run(In_& in, Out_& out, Reload_& reload, Fir_& config);
};

} // namespace hls

#endif
