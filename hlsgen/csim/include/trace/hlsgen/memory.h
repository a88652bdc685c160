// C-simulation's checking form of hlsgen/memory.h: every memory records its accesses, and an iteration that wants more
// than the one read and the one write port ends the simulation with exit status 65, as does an address outside.
#ifndef HLSGEN_MEMORY_H
#define HLSGEN_MEMORY_H

#include <cstdio>
#include <cstdlib>

#include "iteration.h"

namespace hlsgen {

constexpr int PORT_CONFLICT_STATUS = 65;

// The uses of one port: how many in the running iteration.
struct port {
    long long when;
    int uses;

    void use(const char *what, int depth, int address) {
        const iteration_counter &counter = iteration_counter::instance();
        if (address < 0 || address >= depth) {
            std::fprintf(stderr, "port conflict: loop %s, iteration %lld: %s of address %d in a memory of %d words\n",
                         name_of(counter.running), counter.count[counter.running], what, address, depth);
            std::exit(PORT_CONFLICT_STATUS);
        }
        uses = when == counter.now ? uses + 1 : 1;
        when = counter.now;
        if (uses > 1) {
            std::fprintf(stderr,
                         "port conflict: loop %s, iteration %lld: %d %ss of one memory of %d words, which has one port for them; "
                         "this one at address %d\n",
                         name_of(counter.running), counter.count[counter.running], uses, what, depth, address);
            std::exit(PORT_CONFLICT_STATUS);
        }
    }
};

template <typename T, int DEPTH>
class ram {
public:
    // An element that is about to be read or written.
    class element {
    public:
        element(ram &owner, int address) : owner_(owner), address_(address) {}
        operator T() const { return owner_.read(address_); }
        void operator=(const T &value) {
            owner_.write_.use("write", DEPTH, address_);
            owner_.data_[address_] = value;
            owner_.written_[address_] = owner_.compute_iteration();
        }

    private:
        ram &owner_;
        int address_;
    };

    ram() : data_(), written_(), read_(), write_() {
        read_.when = -1;
        write_.when = -1;
        for (int address = 0; address < DEPTH; ++address) written_[address] = -1;
    }
    element operator[](int address) { return element(*this, address); }
    T operator[](int address) const { return read(address); }

private:
    // Which iteration of the compute loop runs; -1 in any other loop.
    static long long compute_iteration() {
        const iteration_counter &counter = iteration_counter::instance();
        return counter.running == LOOP_COMPUTE ? counter.count[LOOP_COMPUTE] : -1;
    }
    T read(int address) const {
        read_.use("read", DEPTH, address);
        if (written_[address] >= 0 && compute_iteration() >= 0) {
            iteration_counter::instance().note_distance(DEPTH, compute_iteration() - written_[address]);
        }
        return data_[address];
    }

    T data_[DEPTH];
    long long written_[DEPTH];
    mutable port read_;
    mutable port write_;
};

struct access {
    bool enable;
    int bank;
    int address;
};

template <int LIMIT>
inline int wrap(int value) {
    return value >= LIMIT ? value - LIMIT : value;
}

// The same accesses as in hardware, but each is made as asked for: two in one bank are seen.
template <int N, int BANKS, int DEPTH, typename T>
inline void read_banks(const ram<T, DEPTH> (&memory)[BANKS], const access (&wanted)[N], T (&value)[N]) {
    for (int n = 0; n < N; ++n) {
        if (wanted[n].enable) value[n] = memory[wanted[n].bank][wanted[n].address];
    }
}

template <int N, int BANKS, int DEPTH, typename T>
inline void write_banks(ram<T, DEPTH> (&memory)[BANKS], const access (&wanted)[N], const T (&value)[N]) {
    for (int n = 0; n < N; ++n) {
        if (wanted[n].enable) memory[wanted[n].bank][wanted[n].address] = value[n];
    }
}

}  // namespace hlsgen

#endif
