// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// ap_axiu<D, U, I, T> for C-simulation: a transfer of an AXI4 stream with D bits of unsigned data, written from scratch.
// C++11; needs ap_int.h.
//
// Subset: the members data, keep, strb, last, user, id and dest, with any number of side bits. Of U, I or T being 0 there is
// one bit that nothing looks at.

#ifndef HLSGEN_AP_AXI_SDATA_H
#define HLSGEN_AP_AXI_SDATA_H

#include <ap_int.h>

template <int D, int U, int I, int T>
struct ap_axiu {
    static_assert(D > 0 && D % 8 == 0, "ap_axiu: the data are whole bytes");
    ap_uint<D> data;
    ap_uint<D / 8> keep;
    ap_uint<D / 8> strb;
    ap_uint<U == 0 ? 1 : U> user;
    ap_uint<1> last;
    ap_uint<I == 0 ? 1 : I> id;
    ap_uint<T == 0 ? 1 : T> dest;

    ap_axiu() : data(0), keep(0), strb(0), user(0), last(0), id(0), dest(0) {}
};

#endif
