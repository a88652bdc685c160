// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// C's header, or the kernel's own of that name. Of C's the vendor's compiler has C++'s complex numbers without std::
// as well.
#include_next <complex.h>

#if defined(__cplusplus) && defined(_LIBCPP_COMPLEX)
using std::complex;
#endif
