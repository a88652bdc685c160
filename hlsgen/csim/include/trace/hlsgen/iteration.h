// C-simulation's counting form of hlsgen/iteration.h: counts the iterations of each pipelined loop and prints them at
// the end as "iterations LOOP COUNT" on the standard error; and, for the dependence pragmas, how soon a memory's
// element is read after it is written, as "distance DEPTH ITERATIONS".
#ifndef HLSGEN_ITERATION_H
#define HLSGEN_ITERATION_H

#include <cstdio>
#include <map>

namespace hlsgen {

enum loop { LOOP_WEIGHTS, LOOP_FILL, LOOP_COMPUTE, LOOP_DRAIN, LOOP_LOAD, LOOP_STORE, LOOPS };

inline const char *name_of(loop which) {
    static const char *const names[LOOPS] = {"weights", "fill", "compute", "drain", "load", "store"};
    return names[which];
}

struct iteration_counter {
    long long count[LOOPS];
    long long now;  // number of the running iteration, over all loops
    loop running;
    std::map<int, long long> distance;  // by a memory's depth: the fewest iterations of compute from a write to its read

    iteration_counter() : count(), now(0), running(LOOP_WEIGHTS) {}
    ~iteration_counter() {
        for (int l = 0; l < LOOPS; ++l) std::fprintf(stderr, "iterations %s %lld\n", name_of(loop(l)), count[l]);
        for (const auto &found : distance) std::fprintf(stderr, "distance %d %lld\n", found.first, found.second);
    }
    void note_distance(int depth, long long iterations) {
        const auto known = distance.find(depth);
        if (known == distance.end() || iterations < known->second) distance[depth] = iterations;
    }
    static iteration_counter &instance() {
        static iteration_counter counter;
        return counter;
    }
};

inline void iteration(loop which) {
    iteration_counter &counter = iteration_counter::instance();
    ++counter.count[which];
    ++counter.now;
    counter.running = which;
}

}  // namespace hlsgen

#endif
