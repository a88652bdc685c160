// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// hls::x_traits: types that hold results.
#ifndef HLSGEN_SCHEDULE_X_HLS_TRAITS_H
#define HLSGEN_SCHEDULE_X_HLS_TRAITS_H

#include "../ap_fixed.h"
#include "../hls_math.h"

namespace hls {

template <class A_, class B_> struct x_traits {
    typedef decltype(A_() * B_()) MULT_T;
    typedef decltype(A_() + B_()) ADD_T;
    typedef decltype(A_() - B_()) SUB_T;
    typedef decltype(A_() / B_()) DIV_T;
};
template <bool Which_, class A_, class B_> struct x_conditional { typedef A_ type; };
template <class A_, class B_> struct x_conditional<false, A_, B_> { typedef B_ type; };
template <class A_, class B_> struct is_same { static constexpr bool value = std::is_same<A_, B_>::value; };

}  // namespace hls

#endif
