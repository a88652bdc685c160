// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// Names of widths that older code uses.
#ifndef HLSGEN_SCHEDULE_X_HLS_DEFINES_H
#define HLSGEN_SCHEDULE_X_HLS_DEFINES_H

#include "../ap_int.h"

#endif
