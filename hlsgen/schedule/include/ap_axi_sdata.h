// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// Words of AXI4-Stream ports: hls::axis, ap_axis, ap_axiu, qdma_axis. Signals of 0 bits take no storage.
#ifndef HLSGEN_SCHEDULE_AP_AXI_SDATA_H
#define HLSGEN_SCHEDULE_AP_AXI_SDATA_H

#include "ap_int.h"
#include "hls_stream.h"

#define AXIS_ENABLE_DATA 0x001
#define AXIS_ENABLE_DEST 0x002
#define AXIS_ENABLE_ID 0x004
#define AXIS_ENABLE_KEEP 0x008
#define AXIS_ENABLE_LAST 0x010
#define AXIS_ENABLE_STRB 0x020
#define AXIS_ENABLE_USER 0x040
#define AXIS_ENABLE_ALL 0x07f
#define AXIS_DISABLE_ALL 0x000
#define AXIS_DISABLE_DATA (AXIS_ENABLE_ALL ^ AXIS_ENABLE_DATA)
#define AXIS_DISABLE_DEST (AXIS_ENABLE_ALL ^ AXIS_ENABLE_DEST)
#define AXIS_DISABLE_ID (AXIS_ENABLE_ALL ^ AXIS_ENABLE_ID)
#define AXIS_DISABLE_KEEP (AXIS_ENABLE_ALL ^ AXIS_ENABLE_KEEP)
#define AXIS_DISABLE_LAST (AXIS_ENABLE_ALL ^ AXIS_ENABLE_LAST)
#define AXIS_DISABLE_STRB (AXIS_ENABLE_ALL ^ AXIS_ENABLE_STRB)
#define AXIS_DISABLE_USER (AXIS_ENABLE_ALL ^ AXIS_ENABLE_USER)

namespace hls {

namespace axis_words {
// A signal of W bits, and one of 0 bits, which takes what is written and reads as 0.
struct nothing {
    static constexpr long exact_bits = 0;
    AP_INLINE nothing() {}
    template <class T_> AP_INLINE nothing(const T_&) {}
    template <class T_> AP_INLINE nothing& operator=(const T_&) { return *this; }
    AP_INLINE operator int() const { return 0; }
};
template <int W_> struct signal { typedef ap_uint<W_> type; };
template <> struct signal<0> { typedef nothing type; };
template <class T_> struct bytes { static constexpr int value = (hls_marks::bits_of<T_>::value + 7) / 8; };
template <> struct bytes<void> { static constexpr int value = 0; };
}  // namespace axis_words

template <typename T_, size_t WUser_ = 0, size_t WId_ = 0, size_t WDest_ = 0, unsigned char Enable_ = AXIS_ENABLE_ALL, bool Strict_ = false>
struct axis {
    typedef T_ value_type;
    static constexpr int byte_count = axis_words::bytes<T_>::value;
    static constexpr int keep_bits = (Enable_ & AXIS_ENABLE_KEEP) ? byte_count : 0;
    static constexpr int strb_bits = (Enable_ & AXIS_ENABLE_STRB) ? byte_count : 0;
    static constexpr int last_bits = (Enable_ & AXIS_ENABLE_LAST) ? 1 : 0;
    static constexpr long exact_bits = hls_marks::bits_of<T_>::value + keep_bits + strb_bits + last_bits + WUser_ + WId_ + WDest_;
    T_ data;
    typename axis_words::signal<keep_bits>::type keep;
    typename axis_words::signal<strb_bits>::type strb;
    typename axis_words::signal<static_cast<int>(WUser_)>::type user;
    typename axis_words::signal<last_bits>::type last;
    typename axis_words::signal<static_cast<int>(WId_)>::type id;
    typename axis_words::signal<static_cast<int>(WDest_)>::type dest;

    AP_INLINE T_ get_data() const { return data; }
    AP_INLINE void set_data(const T_& x) { data = x; }
    AP_INLINE bool get_last() const { return last != 0; }
    AP_INLINE void set_last(bool x) { last = x; }
    AP_INLINE auto get_keep() const { return keep; }
    template <class U_> AP_INLINE void set_keep(const U_& x) { keep = x; }
    AP_INLINE void keep_all() { keep = -1; }
    AP_INLINE auto get_strb() const { return strb; }
    template <class U_> AP_INLINE void set_strb(const U_& x) { strb = x; }
    AP_INLINE auto get_user() const { return user; }
    template <class U_> AP_INLINE void set_user(const U_& x) { user = x; }
    AP_INLINE auto get_id() const { return id; }
    template <class U_> AP_INLINE void set_id(const U_& x) { id = x; }
    AP_INLINE auto get_dest() const { return dest; }
    template <class U_> AP_INLINE void set_dest(const U_& x) { dest = x; }
};

template <typename T_, unsigned char Enable_ = AXIS_ENABLE_KEEP | AXIS_ENABLE_LAST>
using axis_data = axis<T_, 0, 0, 0, Enable_>;
// A word of side channels only.
template <size_t WUser_, unsigned char Enable_ = AXIS_ENABLE_USER>
using axis_user = axis<axis_words::nothing, WUser_, 0, 0, static_cast<unsigned char>(Enable_ & ~(AXIS_ENABLE_KEEP | AXIS_ENABLE_STRB))>;
template <size_t W_, size_t WUser_ = 0, size_t WId_ = 0, size_t WDest_ = 0>
using axis_int = axis<ap_int<W_>, WUser_, WId_, WDest_>;

}  // namespace hls

template <size_t W_, size_t WUser_ = 0, size_t WId_ = 0, size_t WDest_ = 0, unsigned char Enable_ = AXIS_ENABLE_ALL, bool Strict_ = false>
using ap_axis = hls::axis<ap_int<W_>, WUser_, WId_, WDest_, Enable_, Strict_>;
template <size_t W_, size_t WUser_ = 0, size_t WId_ = 0, size_t WDest_ = 0, unsigned char Enable_ = AXIS_ENABLE_ALL, bool Strict_ = false>
using ap_axiu = hls::axis<ap_uint<W_>, WUser_, WId_, WDest_, Enable_, Strict_>;

template <size_t W_, size_t WUser_, size_t WId_, size_t WDest_>
struct qdma_axis : hls::axis<ap_uint<W_>, WUser_, WId_, WDest_> {};

#endif
