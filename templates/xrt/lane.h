// A lane is a compute unit of each kernel, in the order of the calls, all at one memory bank. Chunks of frames go through
// its buffers: while one is worked on, the next is filled and the one before is read back.
#ifndef HLSGEN_HOST_LANE_H
#define HLSGEN_HOST_LANE_H

#include <chrono>
#include <map>

#include "blocks.h"
#include "device.h"

namespace host {

typedef std::chrono::steady_clock::time_point moment;

// From `begin` to `end`.
struct span {
    moment begin, end;

    double seconds() const { return std::chrono::duration<double>(end - begin).count(); }
};

constexpr std::size_t BEAT_BYTES = 64;  // the widest port's word: no transfer ends inside one

inline std::size_t whole_beats(std::size_t bytes) { return (bytes + BEAT_BYTES - 1) / BEAT_BYTES * BEAT_BYTES; }

// A buffer on the card, and the host's view of it.
struct buffer {
    xrt::bo bo;
    char *bytes = nullptr;

    buffer() = default;
    buffer(const xrt::device &device, std::size_t size, int group) : bo(device, whole_beats(size), group), bytes(bo.map<char *>()) {
        std::memset(bytes, 0, whole_beats(size));
    }
    void send(std::size_t size, std::size_t first = 0) { sync(XCL_BO_SYNC_BO_TO_DEVICE, first, size); }
    void fetch(std::size_t size, std::size_t first = 0) { sync(XCL_BO_SYNC_BO_FROM_DEVICE, first, size); }

private:
    void sync(xclBOSyncDirection way, std::size_t first, std::size_t size) {
        const std::size_t begin = first / BEAT_BYTES * BEAT_BYTES;
        bo.sync(way, whole_beats(first + size) - begin, begin);
    }
};

inline std::string state_name(ert_cmd_state state) {
    switch (state) {
        case ERT_CMD_STATE_ERROR: return "ERROR";
        case ERT_CMD_STATE_ABORT: return "ABORT";
        case ERT_CMD_STATE_NORESPONSE: return "NORESPONSE";
        default: return "state " + std::to_string(int(state));
    }
}

// A started run, to its end.
inline void wait_for(xrt::run &run, const std::string &unit, long limit_s) {
    const ert_cmd_state state = run.wait(std::chrono::milliseconds(1000 * limit_s));
    if (state == ERT_CMD_STATE_COMPLETED) return;
    if (state == ERT_CMD_STATE_TIMEOUT) {
        throw trouble("compute unit " + unit + " has not finished a call within " + std::to_string(limit_s) +
                      " s; --timeout sets another limit, xbutil reset frees the card");
    }
    throw trouble("a call of compute unit " + unit + " ended with " + state_name(state));
}

// weights: by name the bytes that stay in the card's memory.
class lane {
public:
    typedef std::map<std::string, std::vector<char> > weights_t;

    lane(const card &c, const design &d, std::size_t number, const weights_t &weights) : design_(d), device_(c.device()), number_(number) {
        for (const step &s : d.steps) {
            kernels_.push_back(c.open(s, number));
            for (std::size_t a = 0; a < s.arguments.size(); ++a) {
                const argument &one = s.arguments[a];
                const bool feeds = one.from == source::memory && !s.runs_tasks();  // the memories of all lanes
                if (one.in_memory() && !feeds) set_group(one.name, kernels_.back().group_id(int(a)), unit(kernels_.size() - 1));
            }
        }
        for (const auto &one : weights) {
            buffer &b = weights_[one.first] = allocate(one.first, one.second.size());
            std::memcpy(b.bytes, one.second.data(), one.second.size());
            b.send(one.second.size());
        }
    }

    const host::design &design() const { return design_; }
    const std::string &unit(std::size_t step) const { return design_.steps[step].units[number_]; }
    buffer allocate(const std::string &name, std::size_t bytes) const {
        try {
            return buffer(device_, bytes, groups_.at(name));
        } catch (const std::exception &error) {
            throw trouble("no buffer of " + std::to_string(bytes) + " bytes for " + name + " at compute unit " + unit(0) + ": " + error.what() +
                          "; --chunk with fewer frames needs less");
        }
    }
    xrt::run run_of(std::size_t step) const { return xrt::run(kernels_[step]); }
    const buffer &weights(const std::string &name) const { return weights_.at(name); }

private:
    const host::design &design_;
    xrt::device device_;
    std::size_t number_;
    std::vector<xrt::kernel> kernels_;
    std::map<std::string, int> groups_;  // by tensor or weights: the memory that all who use them reach
    std::map<std::string, buffer> weights_;

    void set_group(const std::string &name, int group, const std::string &unit) {
        const auto found = groups_.emplace(name, group).first;
        if (found->second == group) return;
        throw trouble(unit + " reaches " + name + " in memory group " + std::to_string(group) + ", but the unit before it in group " +
                      std::to_string(found->second) + ": sp= in vitis/link.cfg must give both the same bank");
    }
};

// Buffers for one chunk, and the calls that work on it. Each stage of a chunk's way is one function.
class slot {
public:
    slot(const lane &l, std::size_t most_frames, long limit_s) : lane_(l), limit_s_(limit_s) {
        allocate(most_frames);
        for (std::size_t s = 0; s < l.design().steps.size(); ++s) {
            runs_.push_back(l.run_of(s));
            const std::vector<argument> &arguments = l.design().steps[s].arguments;
            for (std::size_t a = 0; a < arguments.size(); ++a) {
                const argument &one = arguments[a];
                if (one.from == source::tensor || one.from == source::memory) runs_.back().set_arg(int(a), buffers_.at(one.name).bo);
                if (one.from == source::constants) runs_.back().set_arg(int(a), l.weights(one.name).bo);
            }
            set(s, source::reload, 0);
            set(s, source::tasks, int(l.design().program.tasks));
        }
    }

    // Frames [N, C, H, W] of an input into the host's view of what the kernels read.
    void fill(const port &p, const char *array, std::size_t frames) {
        const tensor &t = lane_.design().tensor_of(p.tensor);
        if (!program().holds(p.tensor)) return pack(t, array, buffers_.at(p.tensor).bytes, frames);
        each_place(p, [&](const place &one) { pack_blocks(one, t, array, memory().bytes + one.first_byte, frames); });
    }

    // Frames [N, C, H, W] of an output from the host's view of what the kernels wrote.
    void read(const port &p, char *array, std::size_t frames) {
        const tensor &t = lane_.design().tensor_of(p.tensor);
        if (!program().holds(p.tensor)) return unpack(t, buffers_.at(p.tensor).bytes, array, frames);
        each_place(p, [&](const place &one) { unpack_blocks(one, t, memory().bytes + one.first_byte, array, frames); });
    }

    void send(std::size_t frames) { for (const port &p : lane_.design().inputs) sync(p, &buffer::send, frames); }
    void fetch(std::size_t frames) { for (const port &p : lane_.design().outputs) sync(p, &buffer::fetch, frames); }

    // Every kernel in turn.
    void compute(std::size_t frames) {
        for (std::size_t s = 0; s < runs_.size(); ++s) {
            set(s, source::frames, int(frames));
            set(s, source::rounds, int(program().rounds_of(frames)));
            runs_[s].start();
            wait_for(runs_[s], lane_.unit(s), limit_s_);
        }
    }

    // Has the kernels take those weights that they keep from then on. The one frame's results mean nothing.
    void load_weights() {
        for (std::size_t s = 0; s < runs_.size(); ++s) {
            if (!set(s, source::reload, 1)) continue;
            set(s, source::frames, 1);
            runs_[s].start();
            wait_for(runs_[s], lane_.unit(s), limit_s_);
            set(s, source::reload, 0);
        }
    }

private:
    const lane &lane_;
    long limit_s_;
    std::map<std::string, buffer> buffers_;
    std::vector<xrt::run> runs_;

    const task_list &program() const { return lane_.design().program; }
    buffer &memory() { return buffers_.at("memory"); }

    // The memory of a shared processor, all zero there too, and a buffer for each tensor that it does not hold.
    void allocate(std::size_t most_frames) {
        const host::design &d = lane_.design();
        if (program().any()) {
            buffers_["memory"] = lane_.allocate("memory", program().memory_bytes);
            memory().send(program().memory_bytes);
        }
        for (const tensor &t : d.tensors) {
            if (program().holds(t.name)) continue;
            buffers_[t.name] = lane_.allocate(t.name, most_frames * t.in_ddr.frame_bytes());
        }
    }

    template <typename W>
    void each_place(const port &p, const W &work) {
        for (const place &one : program().places) {
            if (one.tensor == p.tensor) work(one);
        }
    }

    // Whether the kernel has such an argument.
    bool set(std::size_t step, source which, int value) {
        const std::vector<argument> &arguments = lane_.design().steps[step].arguments;
        for (std::size_t a = 0; a < arguments.size(); ++a) {
            if (arguments[a].from != which) continue;
            runs_[step].set_arg(int(a), value);
            return true;
        }
        return false;
    }

    void sync(const port &p, void (buffer::*way)(std::size_t, std::size_t), std::size_t frames) {
        if (!program().holds(p.tensor)) return (buffers_.at(p.tensor).*way)(frames * lane_.design().tensor_of(p.tensor).in_ddr.frame_bytes(), 0);
        each_place(p, [&](const place &one) { (memory().*way)(frames * one.frame_bytes(), one.first_byte); });
    }
};

}  // namespace host

#endif
