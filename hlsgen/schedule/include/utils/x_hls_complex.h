// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// Complex numbers by the name that older code includes.
#ifndef HLSGEN_SCHEDULE_X_HLS_COMPLEX_H
#define HLSGEN_SCHEDULE_X_HLS_COMPLEX_H

#include "../hls_x_complex.h"

#endif
