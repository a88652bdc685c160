// C-simulation's form of hlsgen/stage.h: counts the iterations of every stage, and can run all stages at once, each
// as a coroutine that waits where a stream is empty or, at its declared depth, full. Which of the two, the testbench
// says before it calls the kernel.
#ifndef HLSGEN_STAGE_H
#define HLSGEN_STAGE_H

#include <ucontext.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#define HLSGEN_STAGE(run, ...) ::hlsgen::processes::instance().start(#run, [&] { run(__VA_ARGS__); })

namespace hlsgen {

constexpr int DEADLOCK_STATUS = 66;

struct process {
    std::string name;
    std::function<void()> body;
    ucontext_t context;
    std::vector<char> stack;
    std::string waits;  // for what, if it does
    bool done = false;
    long long iterations = 0;
};

class processes {
public:
    bool bounded = false;
    long long progress = 0;  // stream operations so far
    std::vector<long long> iterations;  // by stage

    static processes &instance() {
        static processes all;
        return all;
    }
    void start(const char *name, const std::function<void()> &body) {
        now_ = -1;
        if (!bounded) {
            body();
            return;
        }
        std::unique_ptr<process> one(new process);
        one->name = name;
        one->body = body;
        one->stack.resize(STACK_BYTES);
        getcontext(&one->context);
        one->context.uc_stack.ss_sp = one->stack.data();
        one->context.uc_stack.ss_size = one->stack.size();
        one->context.uc_link = &scheduler_;
        makecontext(&one->context, &processes::enter, 0);
        all_.push_back(std::move(one));
    }
    // Runs every process to its end. Called where the region's streams end.
    void join() {
        if (all_.empty()) return;
        for (bool running = true; running;) {
            running = false;
            const long long before = progress;
            for (std::unique_ptr<process> &one : all_) {
                if (one->done) continue;
                running_ = one.get();
                now_ = one->iterations - 1;
                swapcontext(&scheduler_, &one->context);
                one->iterations = now_ + 1;
                running = running || !one->done;
            }
            if (running && progress == before) deadlock();
        }
        all_.clear();
        running_ = nullptr;
    }
    // The running process waits; only with bounded streams.
    void wait(const std::string &what) {
        process *const self = running_;
        self->waits = what;
        swapcontext(&self->context, &scheduler_);
    }
    void count(int stage) {
        if (iterations.size() <= std::size_t(stage)) iterations.resize(stage + 1);
        ++iterations[stage];
        ++now_;
    }
    long long now() const { return now_; }

private:
    static constexpr std::size_t STACK_BYTES = 1 << 18;
    std::vector<std::unique_ptr<process>> all_;
    process *running_ = nullptr;
    ucontext_t scheduler_;
    long long now_ = -1;  // number of the running iteration of the running stage

    static void enter() {
        process *const self = instance().running_;
        self->body();
        self->done = true;
    }
    [[noreturn]] void deadlock() const {
        std::fprintf(stderr, "deadlock: every process waits\n");
        for (const std::unique_ptr<process> &one : all_) {
            if (!one->done) std::fprintf(stderr, "  %s waits: %s\n", one->name.c_str(), one->waits.c_str());
        }
        std::exit(DEADLOCK_STATUS);
    }
};

inline void iteration_of(int stage) { processes::instance().count(stage); }

}  // namespace hlsgen

#endif
