// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// By the longer path.
#include "../ap_utils.h"
