#define COLUMNS 40
namespace layer {
constexpr int ROWS = 8 * 4;
}
using namespace layer;

int f(int i) {
    static int band[ROWS][COLUMNS];
#pragma HLS array_partition variable=band complete dim=1
#pragma HLS array_partition variable=band complete dim=2
    return band[0][i];
}
