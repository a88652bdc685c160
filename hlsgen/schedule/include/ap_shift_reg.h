// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// ap_shift_reg: N registers in a row; each shift moves all of them, and reads one.
#ifndef HLSGEN_SCHEDULE_AP_SHIFT_REG_H
#define HLSGEN_SCHEDULE_AP_SHIFT_REG_H

#include "hlsgen_marks.h"

extern "C" {
void* __hls_shift_slot(void* registers, long bits) __attribute__((nothrow, malloc));
void* __hls_shift(void* registers, void* slot, long address, bool enable) __attribute__((nothrow));
void* __hls_shift_read(const void* registers, long address, long bits) __attribute__((nothrow));
}

template <typename T_, unsigned int Depth_ = 32>
class ap_shift_reg {
public:
    ap_shift_reg() = default;
    explicit ap_shift_reg(const char*) {}
    __attribute__((always_inline)) T_ shift(const T_& in, unsigned address = Depth_ - 1, bool enable = true) {
        T_* slot = static_cast<T_*>(__hls_shift_slot(this, hls_marks::bits_of<T_>::value));
        *slot = in;
        return *static_cast<T_*>(__hls_shift(this, slot, address, enable));
    }
    __attribute__((always_inline)) T_ read(unsigned address = Depth_ - 1) const {
        return *static_cast<T_*>(__hls_shift_read(this, address, hls_marks::bits_of<T_>::value));
    }

private:
    char identity_;
};

#endif
