// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// What the vendor's C++ library brings with others of its headers: included first when a file does not compile without.
#ifndef HLSGEN_SCHEDULE_MORE_HEADERS_H
#define HLSGEN_SCHEDULE_MORE_HEADERS_H

#include <assert.h>
#include <float.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>

#ifdef __cplusplus
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <fstream>
#include <functional>
#include <iomanip>
#include <iostream>
#include <limits>
#include <numeric>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ap_fixed.h"
#include "ap_int.h"
#include "etc/autopilot_ssdm_op.h"
#include "hls_math.h"
#include "hls_stream.h"

// an integer zero as well as a pointer, as it is in the vendor's library
#undef NULL
#define NULL __null
#endif

#endif
