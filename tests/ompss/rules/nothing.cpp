/* Nothing to say of this file: host code, and every kind of clause as it should be.
#pragma oss task device(fpga) localmem([8]x) */
#include <vector>

#include "types.fpga.h"

namespace sizes {
constexpr int BLOCK = 8;
}

extern "C" {
int on_the_host(int value);
}

const char *text = "#pragma oss task device(fpga) localmem([8]x)";

#pragma oss task label("sum") device(fpga) num_instances(sizes::BLOCK / 4) affinity(instance) \
    inout(x[0]) in([n]y) \
    copy_inout([sizes::BLOCK]x) copy_in([sizes::BLOCK]y, [2][4]z)
void sum(int *x, const int y[sizes::BLOCK], const int (*z)[4], int n, int instance) {
#pragma HLS inline
    x[0] += y[0] + z[0][0];
}

#pragma oss task device(fpga) inout([n]x) in([n]y)
void root(int *x, const int *y, int n) {
    sum(x, y, nullptr, n, 0xFF);
#pragma oss taskwait
}

#pragma oss task in([n]x)
void on_the_cpu(const int *x, long n);

int main() {
    std::vector<int> x(8);
    const std::size_t size = x.size();
#pragma oss task inout(x)
    { x[0] = int(size); }
#pragma oss taskwait
}
