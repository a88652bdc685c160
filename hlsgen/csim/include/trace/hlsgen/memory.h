// C-simulation's checking form of hlsgen/memory.h: see hlsgen_recorded_memory.h. Distances are those between iterations
// of the compute loop, and printed at the end (see iteration.h).
#ifndef HLSGEN_MEMORY_H
#define HLSGEN_MEMORY_H

#include "iteration.h"

namespace hlsgen {

struct memory_clock {
    static const iteration_counter &counter() { return iteration_counter::instance(); }
    static long long now() { return counter().now; }
    static long long iteration() { return counter().running == LOOP_COMPUTE ? counter().count[LOOP_COMPUTE] : -1; }
    static long long call() { return 0; }
    static void read_after(int depth, int, long long iterations) {
        iteration_counter::instance().note_distance(depth, iterations);
    }
    static void print_place(std::FILE *file) {
        std::fprintf(file, "loop %s, iteration %lld", name_of(counter().running), counter().count[counter().running]);
    }
};

}  // namespace hlsgen

#include "hlsgen_recorded_memory.h"

#endif
