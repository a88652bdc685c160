// A stand-in for XRT, for tests: the part of its native C++ interface that the host program uses. Kernels are the
// C-simulation sources in a shared library, of which each compute unit has a copy of its own, so that it keeps its own
// state. Compute units work at once, each on one call at a time. Host and card have separate copies of a buffer.
//
// Its .xclbin files are text: "library PATH", then for each kernel "kernel NAME ARGUMENT..." (a pointer's name ends in
// *) and "unit KERNEL NAME BANK". Environment: STAND_IN_STUCK names a compute unit that never finishes,
// STAND_IN_CALL_MS is what a call takes at least, STAND_IN_LOG a file that gets a line for each call and each transfer.
#ifndef STAND_IN_XRT_H
#define STAND_IN_XRT_H

#include <dlfcn.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

enum ert_cmd_state { ERT_CMD_STATE_NEW = 1, ERT_CMD_STATE_COMPLETED = 4, ERT_CMD_STATE_ERROR = 5, ERT_CMD_STATE_ABORT = 6,
                     ERT_CMD_STATE_TIMEOUT = 8, ERT_CMD_STATE_NORESPONSE = 9 };
enum xclBOSyncDirection { XCL_BO_SYNC_BO_TO_DEVICE, XCL_BO_SYNC_BO_FROM_DEVICE };

struct stand_in_argument {
    char *bytes;
    std::size_t size;
    int scalar;
};

namespace stand_in {

inline void log(const std::string &line) {
    static std::mutex one_at_a_time;
    const char *path = std::getenv("STAND_IN_LOG");
    if (path == nullptr) return;
    std::lock_guard<std::mutex> lock(one_at_a_time);
    std::ofstream(path, std::ios::app) << line << '\n';
}

struct argument {
    std::string name;
    bool pointer;
    bool anywhere;  // it reaches every bank: two asterisks
};

struct kernel {
    std::string name;
    std::vector<argument> arguments;
    std::vector<std::pair<std::string, std::vector<int> > > units;  // names and banks
};

struct container {
    std::string library;
    std::vector<kernel> kernels;

    explicit container(const std::string &path) {
        std::ifstream file(path);
        for (std::string line; std::getline(file, line);) {
            std::istringstream words(line);
            std::string what, name;
            words >> what >> name;
            if (what == "library") library = name;
            else if (what == "kernel") add_kernel(name, words);
            else if (what == "unit") add_unit(name, words);
            else throw std::runtime_error("bad section");
        }
        if (library.empty()) throw std::runtime_error("no section");
    }
    kernel &find(const std::string &name) {
        for (kernel &one : kernels) if (one.name == name) return one;
        throw std::runtime_error("No kernel " + name);
    }

private:
    void add_kernel(const std::string &name, std::istringstream &words) {
        kernel found{name, {}, {}};
        for (std::string word; words >> word;) {
            const bool pointer = word.back() == '*';
            if (pointer) word.pop_back();
            const bool anywhere = word.back() == '*';
            if (anywhere) word.pop_back();
            found.arguments.push_back({word, pointer, anywhere});
        }
        kernels.push_back(found);
    }
    void add_unit(const std::string &name, std::istringstream &words) {
        std::pair<std::string, std::vector<int>> unit;
        words >> unit.first;
        for (int bank; words >> bank;) unit.second.push_back(bank);
        find(name).units.push_back(unit);
    }
};

// A thread that takes calls in their order. It ends with the program, and what it works on is never deleted.
class unit {
public:
    unit(const std::string &kernel, const std::string &name, const std::string &library) : kernel_(kernel), name_(name) {
        const std::string copy = library + "." + name + "." + std::to_string(::getpid());
        std::ofstream(copy, std::ios::binary) << std::ifstream(library, std::ios::binary).rdbuf();
        void *handle = ::dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL);
        ::unlink(copy.c_str());
        if (handle == nullptr) throw std::runtime_error(::dlerror());
        call_ = reinterpret_cast<call_t>(::dlsym(handle, "stand_in_call"));
        std::thread([this] { work(); }).detach();
    }

    void enqueue(std::vector<stand_in_argument> arguments, std::function<void(ert_cmd_state)> done) {
        std::lock_guard<std::mutex> lock(mutex_);
        queue_.push_back({std::move(arguments), std::move(done)});
        ready_.notify_one();
    }

    const std::string &name() const { return name_; }

private:
    typedef bool (*call_t)(const char *, int, const stand_in_argument *);
    struct job {
        std::vector<stand_in_argument> arguments;
        std::function<void(ert_cmd_state)> done;
    };

    std::string kernel_, name_;
    call_t call_;
    std::mutex mutex_;
    std::condition_variable ready_;
    std::deque<job> queue_;

    job next() {
        std::unique_lock<std::mutex> lock(mutex_);
        ready_.wait(lock, [this] { return !queue_.empty(); });
        job found = std::move(queue_.front());
        queue_.pop_front();
        return found;
    }

    [[noreturn]] void work() {
        const char *stuck = std::getenv("STAND_IN_STUCK"), *least = std::getenv("STAND_IN_CALL_MS");
        for (;;) {
            job one = next();
            if (stuck != nullptr && name_ == stuck) continue;
            const int frames = one.arguments.back().scalar;
            log("begin " + name_ + " " + std::to_string(frames));
            const bool called = call_(kernel_.c_str(), int(one.arguments.size()), one.arguments.data());
            if (least != nullptr) std::this_thread::sleep_for(std::chrono::milliseconds(std::atoi(least)));
            log("end " + name_ + " " + std::to_string(frames));
            one.done(called ? ERT_CMD_STATE_COMPLETED : ERT_CMD_STATE_ERROR);
        }
    }
};

}  // namespace stand_in

namespace xrt {

typedef int uuid;
typedef int memory_group;

class xclbin {
public:
    struct arg {
        std::string name;
        std::string get_name() const { return name; }
    };
    struct ip {
        std::string name;
        std::string get_name() const { return name; }
    };
    struct kernel {
        stand_in::kernel found;
        std::string get_name() const { return found.name; }
        std::vector<arg> get_args() const {
            std::vector<arg> all;
            for (const auto &one : found.arguments) all.push_back({one.name});
            return all;
        }
        std::vector<ip> get_cus() const {
            std::vector<ip> all;
            for (const auto &one : found.units) all.push_back({found.name + ":" + one.first});
            return all;
        }
    };

    explicit xclbin(const std::string &path) : content(std::make_shared<stand_in::container>(path)) {}
    std::vector<kernel> get_kernels() const {
        std::vector<kernel> all;
        for (const auto &one : content->kernels) all.push_back({one});
        return all;
    }

    std::shared_ptr<stand_in::container> content;
};

class device {
public:
    device() = default;
    explicit device(unsigned int index) {
        if (index != 0) throw std::runtime_error("Could not open device with index '" + std::to_string(index) + "'");
    }
    explicit device(const std::string &bdf) { throw std::runtime_error("No such device '" + bdf + "'"); }
    uuid load_xclbin(const xclbin &x) {
        content = x.content;
        for (const auto &kernel : content->kernels) {
            for (const auto &one : kernel.units) (*units)[one.first] = new stand_in::unit(kernel.name, one.first, content->library);
        }
        return 1;
    }

    std::shared_ptr<stand_in::container> content;
    std::shared_ptr<std::map<std::string, stand_in::unit *> > units = std::make_shared<std::map<std::string, stand_in::unit *> >();
};

class bo {
public:
    bo() = default;
    bo(const device &, std::size_t size, memory_group group) : data_(std::make_shared<both>()) {
        data_->host.resize(size, char(0x55)), data_->card.resize(size, char(0x55)), data_->group = group;
    }
    template <typename P>
    P map() { return reinterpret_cast<P>(data_->host.data()); }
    void sync(xclBOSyncDirection way, std::size_t size, std::size_t offset) {
        if (offset + size > data_->host.size()) throw std::runtime_error("sync beyond the end of a buffer");
        auto &from = way == XCL_BO_SYNC_BO_TO_DEVICE ? data_->host : data_->card;
        auto &to = way == XCL_BO_SYNC_BO_TO_DEVICE ? data_->card : data_->host;
        stand_in::log(way == XCL_BO_SYNC_BO_TO_DEVICE ? "to_device" : "from_device");
        std::copy(from.begin() + long(offset), from.begin() + long(offset + size), to.begin() + long(offset));
    }

    memory_group group() const { return data_->group; }
    stand_in_argument on_card() const { return {data_->card.data(), data_->card.size(), 0}; }

private:
    struct both {
        std::vector<char> host, card;
        memory_group group;
    };
    std::shared_ptr<both> data_;
};

class kernel {
public:
    kernel(const device &d, uuid, const std::string &name) {
        const std::size_t open = name.find(":{");
        const std::string unit = name.substr(open + 2, name.size() - open - 3);
        found = d.content->find(name.substr(0, open));
        for (const auto &one : found.units) if (one.first == unit) banks = one.second;
        if (banks.empty()) throw std::runtime_error("No compute units matching '" + name + "'");
        worker = d.units->at(unit);
    }
    int group_id(int index) const {
        if (!found.arguments.at(std::size_t(index)).pointer) throw std::runtime_error("not connected to memory");
        return banks.at(std::size_t(index));
    }

    stand_in::kernel found;
    std::vector<int> banks;  // of each argument
    stand_in::unit *worker;
};

class run {
public:
    explicit run(const kernel &k) : kernel_(k), arguments_(k.found.arguments.size()), given_(k.found.arguments.size()), state_(std::make_shared<progress>()) {}
    void set_arg(int index, const bo &b) {
        if (!place(index).pointer) throw std::runtime_error("argument is a scalar");
        if (b.group() != kernel_.banks.at(std::size_t(index)) && !place(index).anywhere) throw std::runtime_error("buffer lies in another bank");
        give(index, b.on_card());
    }
    void set_arg(int index, int value) {
        if (place(index).pointer) throw std::runtime_error("argument is a buffer");
        give(index, {nullptr, 0, value});
    }
    void start() {
        for (const bool one : given_) if (!one) throw std::runtime_error("an argument was never set");
        const std::shared_ptr<progress> state = state_;
        state->set(ERT_CMD_STATE_NEW);
        kernel_.worker->enqueue(arguments_, [state](ert_cmd_state how) { state->set(how); });
    }
    ert_cmd_state wait(const std::chrono::milliseconds &limit) const { return state_->wait(limit); }

private:
    struct progress {
        std::mutex mutex;
        std::condition_variable changed;
        ert_cmd_state state = ERT_CMD_STATE_NEW;

        void set(ert_cmd_state how) {
            std::lock_guard<std::mutex> lock(mutex);
            state = how;
            changed.notify_all();
        }
        ert_cmd_state wait(const std::chrono::milliseconds &limit) {
            std::unique_lock<std::mutex> lock(mutex);
            const bool done = changed.wait_for(lock, limit, [this] { return state != ERT_CMD_STATE_NEW; });
            return done ? state : ERT_CMD_STATE_TIMEOUT;
        }
    };

    kernel kernel_;
    std::vector<stand_in_argument> arguments_;
    std::vector<bool> given_;
    std::shared_ptr<progress> state_;

    const stand_in::argument &place(int index) const { return kernel_.found.arguments.at(std::size_t(index)); }
    void give(int index, const stand_in_argument &value) {
        arguments_[std::size_t(index)] = value;
        given_[std::size_t(index)] = true;
    }
};

}  // namespace xrt

#endif
