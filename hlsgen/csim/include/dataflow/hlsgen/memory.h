// C-simulation's checking form of hlsgen/memory.h: see hlsgen_recorded_memory.h. An element that is read sooner after its
// write than its memory promises ends the simulation with exit status 68.
#ifndef HLSGEN_MEMORY_H
#define HLSGEN_MEMORY_H

#include "stage.h"

namespace hlsgen {

constexpr int BROKEN_PROMISE_STATUS = 68;

struct memory_clock {
    static long long now() { return processes::instance().now(); }
    static long long iteration() { return now(); }
    static long long call() { return processes::instance().calls; }
    static void read_after(int depth, int promised, long long iterations) {
        if (iterations >= promised) return;
        std::fprintf(stderr, "dependence: ");
        print_place(stderr);
        std::fprintf(stderr, ": an element of a memory of %d words is read %lld iterations after its write, not %d\n", depth,
                     iterations, promised);
        std::exit(BROKEN_PROMISE_STATUS);
    }
    static void print_place(std::FILE *file) { std::fprintf(file, "iteration %lld of a stage", now()); }
};

}  // namespace hlsgen

#include "hlsgen_recorded_memory.h"

#endif
