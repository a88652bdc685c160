// For tests: with -finstrument-functions, holds every call of the functions named in HLSGEN_TASKS (a word of their
// names) until two threads have been in one. Tasks that only one thread runs wait in vain (HLSGEN_WAIT seconds, or 20):
// then the program ends with status 3.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

#define PLAIN __attribute__((no_instrument_function))

extern "C" {
PLAIN void __cyg_profile_func_enter(void *function, void *caller);
PLAIN void __cyg_profile_func_exit(void *function, void *caller);
}

static std::mutex mutex;
static std::condition_variable change;
static std::set<std::thread::id> seen;

PLAIN static bool two_threads() { return seen.size() > 1; }

void __cyg_profile_func_enter(void *function, void *) {
    Dl_info info;
    const char *word = std::getenv("HLSGEN_TASKS");
    if (dladdr(function, &info) == 0 || info.dli_sname == nullptr || std::strstr(info.dli_sname, word) == nullptr) return;
    const char *wait = std::getenv("HLSGEN_WAIT");
    const std::chrono::seconds most(wait == nullptr ? 20 : std::atoi(wait));
    std::unique_lock<std::mutex> lock(mutex);
    seen.insert(std::this_thread::get_id());
    change.notify_all();
    if (change.wait_for(lock, most, two_threads)) return;
    std::fprintf(stderr, "only one thread runs tasks\n");
    std::_Exit(3);
}

void __cyg_profile_func_exit(void *, void *) {}
