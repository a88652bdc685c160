#include "no_such_header.h"

void f() {
#pragma HLS array_partition variable=TABLE complete
}
