// C-simulation's form of hlsgen/stage.h: counts the iterations of every stage, and can run all stages at once, each
// as a coroutine that waits where a stream is empty or, at its declared depth, full. Which of the two, the testbench
// says before it calls the kernel.
#ifndef HLSGEN_STAGE_H
#define HLSGEN_STAGE_H

#include <sys/mman.h>
#include <ucontext.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#define HLSGEN_STAGE(run, ...) ::hlsgen::processes::instance().start(#run, [&] { run(__VA_ARGS__); })

namespace hlsgen {

constexpr int DEADLOCK_STATUS = 66;

struct process {
    const char *name;
    void (*run)(void *);  // the stage, of what it is given
    void *given;
    process *next = nullptr;
    ucontext_t context;
    void *stack = nullptr;
    const std::string *waits_for = nullptr;  // the stream that it waits for, if it does
    bool to_write = false;                   // for room in it, not for a word
    bool ready = true;
    bool done = false;
    long long iterations = 0;

    // As much as a thread has, taken from memory only as far as it is used; below it a page that ends the program.
    static constexpr std::size_t STACK_BYTES = 8 << 20;
    static constexpr std::size_t GUARD_BYTES = 1 << 16;

    process(const char *name, void (*run)(void *), void *given) : name(name), run(run), given(given) {
        stack = mmap(nullptr, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (stack == MAP_FAILED || mprotect(stack, GUARD_BYTES, PROT_NONE) != 0) {
            std::fprintf(stderr, "error: no memory for another stage\n");
            std::exit(1);
        }
    }
    ~process() { munmap(stack, STACK_BYTES); }
    process(const process &) = delete;
    process &operator=(const process &) = delete;
};

class processes {
public:
    bool bounded = false;
    std::vector<long long> iterations;  // by stage
    long long calls = 0;                // of stages: differs from call to call of the kernel

    static processes &instance() {
        static processes all;
        return all;
    }
    template <typename F>
    void start(const char *name, const F &stage) {
        now_ = -1;
        ++calls;
        if (bounded) add(new process(name, &processes::run_and_delete<F>, new F(stage)));
        else stage();
    }
    // Runs every process to its end. Called where the region's streams end.
    void join() {
        while (first_ != nullptr) {
            bool moved = false, left = false;
            for (process *one = first_; one != nullptr; one = one->next) {
                left = left || !one->done;
                if (!one->ready) continue;
                moved = true;
                one->ready = false;
                running_ = one;
                now_ = one->iterations - 1;
                swapcontext(&scheduler_, &one->context);
                one->iterations = now_ + 1;
            }
            if (!left) break;
            if (!moved) deadlock();
        }
        while (first_ != nullptr) {
            process *const one = first_;
            first_ = one->next;
            delete one;
        }
        end_ = &first_;
        running_ = nullptr;
    }
    // The running process waits until somebody calls `wake` with what is left in `waiting`.
    void wait(process *&waiting, const std::string &stream, bool to_write) {
        process *const self = running_;
        self->waits_for = &stream;
        self->to_write = to_write;
        waiting = self;
        swapcontext(&self->context, &scheduler_);
    }
    static void wake(process *&waiting) {
        if (waiting == nullptr) return;
        waiting->ready = true;
        waiting = nullptr;
    }
    void count(int stage) {
        if (iterations.size() <= std::size_t(stage)) iterations.resize(stage + 1);
        ++iterations[stage];
        ++now_;
    }
    long long now() const { return now_; }

private:
    process *first_ = nullptr, **end_ = &first_;  // in the order in which they were started
    process *running_ = nullptr;
    ucontext_t scheduler_;
    long long now_ = -1;  // number of the running iteration of the running stage

    template <typename F>
    static void run_and_delete(void *given) {
        F *const stage = static_cast<F *>(given);
        (*stage)();
        delete stage;
    }
    void add(process *one) {
        getcontext(&one->context);
        one->context.uc_stack.ss_sp = one->stack;
        one->context.uc_stack.ss_size = process::STACK_BYTES;
        one->context.uc_link = &scheduler_;
        makecontext(&one->context, &processes::enter, 0);
        *end_ = one;
        end_ = &one->next;
    }
    static void enter() {
        process *const self = instance().running_;
        self->run(self->given);
        self->done = true;
    }
    [[noreturn]] void deadlock() const {
        std::fprintf(stderr, "deadlock: every process waits\n");
        for (const process *one = first_; one != nullptr; one = one->next) {
            if (one->done) continue;
            const char *const what = one->to_write ? "to write %s, which is full" : "to read %s, which is empty";
            std::fprintf(stderr, "  %s waits ", one->name);
            std::fprintf(stderr, what, one->waits_for->c_str());
            std::fprintf(stderr, "\n");
        }
        std::exit(DEADLOCK_STATUS);
    }
};

inline void iteration_of(int stage) { processes::instance().count(stage); }

}  // namespace hlsgen

#endif
