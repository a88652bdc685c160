#include "../stand_in_xrt.h"
