// A network as StarPU tasks: a codelet and a performance model for each part, a data handle for each tensor of
// each request, every request submitted at once. The parts are computed by whoever starts the network: run.py,
// with ONNX Runtime's sessions and kernels of FPGAs.
//
// The last worker stands for the FPGA: it takes implementation kFpga of a part and nothing else, and its time
// is the modelled one of network.h. All others take implementation kCpu, whose time StarPU learns.
#include "network.h"

#include <starpu.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <vector>

static_assert(network::kMostTensors <= STARPU_NMAXBUFS, "a part has more tensors than a task of StarPU may have");

namespace {

using network::kInputs;
using network::kOutput;
using network::kOutputs;
using network::kPart;
using network::kParts;
using network::kTensor;
using network::kTensors;

enum Implementation : unsigned { kCpu = 0, kFpga = 1 };
constexpr int kNoFpga = -1;

/// Computes a part from the tensors that it reads into those that it gives, which follow; not 0: it failed.
using Compute = int (*)(int part, int on_fpga, int worker, float* const* tensors);

/// A task that ran, in microseconds since the run began.
struct Row {
    int32_t request, part, worker, on_fpga;
    double submitted, begun, ended;
};

/// Mean of the times measured so far; not a number as long as there are none.
struct MeanTime {
    std::mutex lock;
    double sum_us = 0;
    int count = 0;

    void add(double us) {
        const std::lock_guard<std::mutex> held(lock);
        sum_us += us;
        ++count;
    }

    double us() {
        const std::lock_guard<std::mutex> held(lock);
        return count == 0 ? std::nan("") : sum_us / count;
    }
};

/// What StarPU knows of a part. A part for CPUs alone has StarPU's own history, kept in STARPU_HOME. One that
/// has a kernel is estimated by `expected_us`: the modelled time there, and here the mean of `cpu_times`.
struct Kernel {
    starpu_codelet codelet;
    starpu_perfmodel model;
    MeanTime cpu_times;
};

Compute compute = nullptr;
std::atomic<bool> failed{false};
int fpga_worker = kNoFpga;
std::array<Kernel, kParts> kernels;

/// A part on a worker: the tensors' places in memory go to whoever computes it.
void run_part(void* buffers[], int part, Implementation how) {
    if (failed) {
        return;  // what follows an error is submitted already, and has nothing to compute
    }
    std::array<float*, network::kMostTensors> tensors{};
    const int count = kPart[part].reads + kPart[part].gives;
    for (int tensor = 0; tensor < count; ++tensor) {
        tensors[tensor] = reinterpret_cast<float*>(STARPU_VECTOR_GET_PTR(buffers[tensor]));
    }
    const int worker = starpu_worker_get_id();
    const double begun = starpu_timing_now();
    if (compute(part, how == kFpga, worker, tensors.data()) != 0) {
        failed = true;
        return;
    }
    if (how == kCpu) {
        kernels[part].cpu_times.add(starpu_timing_now() - begun);
    }
}

void on_cpu(void* buffers[], void* arguments) {
    int part = 0;
    starpu_codelet_unpack_args(arguments, &part);
    run_part(buffers, part, kCpu);
}

void on_fpga(void* buffers[], void* arguments) {
    int part = 0;
    starpu_codelet_unpack_args(arguments, &part);
    run_part(buffers, part, kFpga);
}

/// The number of the part that a task computes.
int part_of(const starpu_task* task) {
    for (int part = 0; part < kParts; ++part) {
        if (task->cl == &kernels[part].codelet) {
            return part;
        }
    }
    return 0;
}

int can_execute(unsigned worker, starpu_task* task, unsigned implementation) {
    const network::Part& part = kPart[part_of(task)];
    const bool is_fpga = static_cast<int>(worker) == fpga_worker;
    return implementation == kFpga ? is_fpga && part.on_fpga : !is_fpga && part.on_cpu;
}

/// Microseconds of a part that has a kernel: the model's on the FPGA, what was measured on CPUs.
double expected_us(starpu_task* task, starpu_perfmodel_arch*, unsigned implementation) {
    const int part = part_of(task);
    if (implementation == kFpga) {
        return kPart[part].fpga_us;
    }
    return kernels[part].cpu_times.us();
}

/// The codelet of a part and its performance model: one symbol for each part.
void describe(int number) {
    const network::Part& part = kPart[number];
    Kernel& kernel = kernels[number];
    starpu_codelet_init(&kernel.codelet);
    std::memset(&kernel.model, 0, sizeof kernel.model);
    kernel.model.type = part.on_fpga ? STARPU_PER_ARCH : STARPU_HISTORY_BASED;
    kernel.model.symbol = part.symbol;
    kernel.model.arch_cost_function = part.on_fpga ? expected_us : nullptr;
    kernel.codelet.name = part.name;
    kernel.codelet.model = &kernel.model;
    kernel.codelet.can_execute = can_execute;
    kernel.codelet.cpu_funcs[kCpu] = on_cpu;
    kernel.codelet.cpu_funcs[kFpga] = on_fpga;
    kernel.codelet.nbuffers = part.reads + part.gives;
    for (int tensor = 0; tensor < kernel.codelet.nbuffers; ++tensor) {
        kernel.codelet.modes[tensor] = tensor < part.reads ? STARPU_R : STARPU_W;
    }
}

/// The handles of one request: its frame and its results lie in pinned memory of the caller's, the tensors
/// between parts wherever StarPU puts them.
struct Request {
    std::array<starpu_data_handle_t, kTensors> handles{};

    Request(float* const* inputs, float* const* outputs) {
        std::array<float*, kTensors> places{};
        std::copy(inputs, inputs + kInputs, places.begin());
        for (int output = 0; output < kOutputs; ++output) {
            places[kOutput[output]] = outputs[output];
        }
        for (int tensor = 0; tensor < kTensors; ++tensor) {
            const int node = places[tensor] == nullptr ? -1 : STARPU_MAIN_RAM;
            starpu_vector_data_register(&handles[tensor], node, reinterpret_cast<uintptr_t>(places[tensor]),
                                        kTensor[tensor].floats, sizeof(float));
        }
    }

    /// Submits every part; what is between them goes back to StarPU's cache as soon as nobody reads it.
    bool submit(int number, std::vector<starpu_task*>& tasks) {
        for (int part = 0; part < kParts; ++part) {
            tasks.push_back(task(part, number));
            if (starpu_task_submit(tasks.back()) != 0) {
                std::fprintf(stderr, "no worker may compute part %s\n", kPart[part].name);
                starpu_task_destroy(tasks.back());
                tasks.pop_back();
                failed = true;
                break;
            }
        }
        for (starpu_data_handle_t handle : handles) {
            starpu_data_unregister_submit(handle);
        }
        return !failed;
    }

    starpu_task* task(int part, int number) const {
        starpu_task* made = starpu_task_create();
        made->cl = &kernels[part].codelet;
        made->destroy = 0;          // its times are read when all is done
        made->priority = -number;   // earlier requests first, for policies that heed it
        for (int tensor = 0; tensor < made->cl->nbuffers; ++tensor) {
            made->handles[tensor] = handles[kPart[part].tensors[tensor]];
        }
        starpu_codelet_pack_args(&made->cl_arg, &made->cl_arg_size, STARPU_VALUE, &part, sizeof part, 0);
        made->cl_arg_free = 1;
        return made;
    }
};

/// When a task was submitted, began and ended.
Row row_of(const starpu_task* task, int number, double begin_us) {
    const starpu_profiling_task_info* times = task->profiling_info;
    const auto since_begin = [begin_us](timespec at) { return starpu_timing_timespec_to_us(&at) - begin_us; };
    const int worker = times->workerid;
    return {number / kParts,
            number % kParts,
            worker,
            worker == fpga_worker,
            since_begin(times->submit_time),
            since_begin(times->start_time),
            since_begin(times->end_time)};
}

}  // namespace

extern "C" {

/// Starts StarPU with so many CPU workers, and one for the FPGA; a policy's name, or null for STARPU_SCHED's.
/// Returns 0, or what is wrong as a negative errno.
int network_start(const char* policy, int cpus, int fpga, Compute computing) {
    starpu_conf conf;
    starpu_conf_init(&conf);
    conf.sched_policy_name = policy;
    conf.ncpus = cpus + (fpga ? 1 : 0);
    conf.ncuda = conf.nopencl = 0;
    const int error = starpu_init(&conf);
    if (error != 0) {
        return error;
    }
    if (static_cast<int>(starpu_cpu_worker_get_count()) != conf.ncpus) {
        starpu_shutdown();
        return -EAGAIN;
    }
    failed = false;
    compute = computing;
    fpga_worker = fpga ? conf.ncpus - 1 : kNoFpga;
    for (int part = 0; part < kParts; ++part) {
        describe(part);
    }
    starpu_profiling_status_set(STARPU_PROFILING_ENABLE);
    return 0;
}

/// Memory that devices may copy from and to at any time; null: there is none.
float* network_pinned(size_t bytes) {
    void* found = nullptr;
    return starpu_malloc(&found, bytes) == 0 ? static_cast<float*>(found) : nullptr;
}

void network_release(float* place, size_t bytes) { starpu_free_flags(place, bytes, STARPU_MALLOC_PINNED); }

/// Submits all requests, waits for the last, and says when each of the requests x kParts tasks ran.
/// inputs, outputs: kInputs and kOutputs places for each request. Returns microseconds; below 0: it failed.
double network_run(int requests, float* const* inputs, float* const* outputs, Row* rows) {
    std::vector<starpu_task*> tasks;
    tasks.reserve(static_cast<size_t>(requests) * kParts);
    const double begin = starpu_timing_now();
    for (int number = 0; number < requests; ++number) {
        Request request(inputs + number * kInputs, outputs + number * kOutputs);
        if (!request.submit(number, tasks)) {
            break;
        }
    }
    starpu_task_wait_for_all();
    const double took = starpu_timing_now() - begin;
    for (size_t number = 0; number < tasks.size(); ++number) {
        rows[number] = row_of(tasks[number], static_cast<int>(number), begin);
        starpu_task_destroy(tasks[number]);
    }
    return failed ? -1.0 : took;
}

/// Ends StarPU, which writes what it learned to STARPU_HOME.
void network_stop() { starpu_shutdown(); }

}  // extern "C"
