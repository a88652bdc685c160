// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// The memories of hlsgen/memory.h as C-simulation records them: an iteration that wants more than the one read and the
// one write port of a memory ends the simulation with exit status 65, as does an address outside.
//
// What includes this defines before it, in namespace hlsgen, `struct memory_clock` with these static functions:
//   now()                        a number that differs from iteration to iteration
//   iteration()                  the iteration that distances are counted in; -1 where they are not
//   call()                       the number of the kernel's call; what earlier calls wrote is of no account
//   read_after(depth, promised, iterations)  an element was read so many iterations after its write
//   print_place(file)            which loop and iteration runs, as text
#ifndef HLSGEN_RECORDED_MEMORY_H
#define HLSGEN_RECORDED_MEMORY_H

#include <cstdio>
#include <cstdlib>

namespace hlsgen {

constexpr int PORT_CONFLICT_STATUS = 65;

// The uses of one port: how many in the running iteration.
struct port {
    long long when;
    int uses;

    void use(const char *what, int depth, int address) {
        if (address < 0 || address >= depth) {
            std::fprintf(stderr, "port conflict: ");
            memory_clock::print_place(stderr);
            std::fprintf(stderr, ": %s of address %d in a memory of %d words\n", what, address, depth);
            std::exit(PORT_CONFLICT_STATUS);
        }
        uses = when == memory_clock::now() ? uses + 1 : 1;
        when = memory_clock::now();
        if (uses > 1) {
            std::fprintf(stderr, "port conflict: ");
            memory_clock::print_place(stderr);
            std::fprintf(stderr, ": %d %ss of one memory of %d words, which has one port for them; this one at address %d\n",
                         uses, what, depth, address);
            std::exit(PORT_CONFLICT_STATUS);
        }
    }
};

template <typename T, int DEPTH, int DISTANCE = 1>
class ram {
public:
    // An element that is about to be read or written.
    class element {
    public:
        element(ram &owner, int address) : owner_(owner), address_(address) {}
        operator T() const { return owner_.read(address_); }
        void operator=(const T &value) { owner_.write(address_, value); }

    private:
        ram &owner_;
        int address_;
    };

    ram() : data_(), written_(), call_(-1), read_(), write_() {}
    element operator[](int address) { return element(*this, address); }
    T operator[](int address) const { return read(address); }

private:
    void begin_call() const {
        if (call_ == memory_clock::call()) return;
        call_ = memory_clock::call();
        read_.when = -1;
        write_.when = -1;
        for (int address = 0; address < DEPTH; ++address) written_[address] = -1;
    }
    void write(int address, const T &value) {
        begin_call();
        write_.use("write", DEPTH, address);
        data_[address] = value;
        written_[address] = memory_clock::iteration();
    }
    T read(int address) const {
        begin_call();
        read_.use("read", DEPTH, address);
        const long long now = memory_clock::iteration();
        if (written_[address] >= 0 && now >= 0) memory_clock::read_after(DEPTH, DISTANCE, now - written_[address]);
        return data_[address];
    }

    T data_[DEPTH];
    mutable long long written_[DEPTH];
    mutable long long call_;
    mutable port read_;
    mutable port write_;
};

// Places as wide as int: one outside its memory is seen, and not cut to a narrow type's bits.
template <int BANKS, int DEPTH>
struct access {
    bool enable;
    int bank;
    int address;
};

template <int BANKS, int DEPTH>
struct run {
    int first;
    int count;
    int carry;
    int address;
};

// The same accesses as in hardware, but each is made as asked for: two in one bank are seen.
template <int N, int BANKS, int DEPTH, int DISTANCE, typename T>
inline void read_banks(const ram<T, DEPTH, DISTANCE> (&memory)[BANKS], const access<BANKS, DEPTH> (&wanted)[N],
                       T (&value)[N]) {
    for (int n = 0; n < N; ++n) {
        if (wanted[n].enable) value[n] = memory[wanted[n].bank][wanted[n].address];
    }
}

template <int N, int BANKS, int DEPTH, int DISTANCE, typename T>
inline void read_turned(const ram<T, DEPTH, DISTANCE> (&memory)[BANKS], int first, const int (&after)[N],
                        const access<BANKS, DEPTH> (&wanted)[N], T (&value)[N]) {
    for (int n = 0; n < N; ++n) {
        if (wanted[n].enable) value[n] = memory[(first + after[n]) % BANKS][wanted[n].address];
    }
}

template <int N, int BANKS, int DEPTH, typename T>
inline void turn(const run<BANKS, DEPTH> &place, const T (&value)[N], T (&of_bank)[BANKS]) {
    for (int n = 0; n < place.count; ++n) of_bank[(place.first + n) % BANKS] = value[n];
}

template <int BANKS, int DEPTH, int DISTANCE, typename T>
inline void write_run(bool takes, ram<T, DEPTH, DISTANCE> (&memory)[BANKS], const run<BANKS, DEPTH> &place,
                      const T (&of_bank)[BANKS]) {
    for (int n = 0; takes && n < place.count; ++n) {
        const int bank = (place.first + n) % BANKS;
        memory[bank][place.address + (n >= place.carry ? 1 : 0)] = of_bank[bank];
    }
}

}  // namespace hlsgen

#endif
