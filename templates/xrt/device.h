// The card: the .xclbin file held against the design, then loaded; kernels opened compute unit by compute unit.
#ifndef HLSGEN_HOST_DEVICE_H
#define HLSGEN_HOST_DEVICE_H

#include <fstream>
#include <stdexcept>

#include <experimental/xrt_xclbin.h>
#include <xrt/xrt_bo.h>
#include <xrt/xrt_device.h>
#include <xrt/xrt_kernel.h>

#include "interface.h"
#include "options.h"

namespace host {

// What is wrong with the card or the .xclbin file, in words for a user.
struct trouble : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Names for a message: "a, b, c".
template <typename L, typename N>
std::string listed(const L &all, const N &name_of) {
    std::string text;
    for (const auto &one : all) text += (text.empty() ? "" : ", ") + name_of(one);
    return text.empty() ? "none" : text;
}

inline xrt::xclbin open_xclbin(const std::string &path) {
    if (!std::ifstream(path).good()) throw trouble("cannot open " + path + "; make xclbin in the build folder makes it");
    try {
        return xrt::xclbin(path);
    } catch (const std::exception &error) {
        throw trouble(path + " is no .xclbin file that XRT can read: " + error.what());
    }
}

// The compute units of a kernel without its name, which some releases of XRT put before them ("conv:conv_1").
inline std::vector<std::string> unit_names(const xrt::xclbin::kernel &kernel) {
    std::vector<std::string> names;
    for (const auto &unit : kernel.get_cus()) names.push_back(unit.get_name().substr(unit.get_name().find(':') + 1));
    return names;
}

inline void check_arguments(const xrt::xclbin::kernel &kernel, const step &s, const std::string &path) {
    const auto found = kernel.get_args();
    bool same = found.size() == s.arguments.size();
    for (std::size_t a = 0; same && a < found.size(); ++a) same = found[a].get_name() == s.arguments[a].port;
    if (same) return;
    throw trouble("kernel " + kernel.get_name() + " of " + path + " takes (" + listed(found, [](const auto &one) { return one.get_name(); }) +
                  "), but this host program gives (" + listed(s.arguments, [](const auto &one) { return one.port; }) +
                  "): they are not of the same build");
}

// The kernel called `name`, with the arguments of the step and with all of its compute units that the step takes.
inline void check_kernel(const xrt::xclbin &xclbin, const step &s, const std::string &name, const std::string &path) {
    const auto kernels = xclbin.get_kernels();
    std::size_t at = 0;
    while (at < kernels.size() && kernels[at].get_name() != name) ++at;
    if (at == kernels.size()) {
        throw trouble(path + " has no kernel " + name + "; it has: " +
                      listed(kernels, [](const auto &one) { return one.get_name(); }));
    }
    check_arguments(kernels[at], s, path);
    std::vector<std::string> wanted;
    for (std::size_t u = 0; u < s.units.size(); ++u) {
        if (s.kernel_of(u) == name) wanted.push_back(s.units[u]);
    }
    const std::vector<std::string> units = unit_names(kernels[at]);
    for (const std::string &unit : wanted) {
        bool there = false;
        for (const std::string &one : units) there = there || one == unit;
        if (there) continue;
        const auto itself = [](const std::string &one) { return one; };
        throw trouble(path + " has no compute unit " + unit + " of kernel " + name + "; looked for: " + listed(wanted, itself) +
                      "; it has: " + listed(units, itself) + " (nk= in vitis/link.cfg names them)");
    }
}

// Every kernel with its arguments and compute units must be there.
inline void check_xclbin(const xrt::xclbin &xclbin, const design &d, const std::string &path) {
    for (const step &s : d.steps) {
        check_kernel(xclbin, s, s.kernel, path);
        for (std::size_t u = 1; u < s.kernels.size(); ++u) {
            if (s.kernels[u] != s.kernels[u - 1]) check_kernel(xclbin, s, s.kernels[u], path);
        }
    }
}

inline xrt::device open_device(const std::string &which) {
    try {
        if (which.find(':') != std::string::npos) return xrt::device(which);
        char *end = nullptr;
        const unsigned long index = std::strtoul(which.c_str(), &end, 10);
        if (*end != '\0') throw trouble("it is neither an index nor a PCIe address");
        return xrt::device(static_cast<unsigned int>(index));
    } catch (const std::exception &error) {
        throw trouble("cannot open device " + which + ": " + error.what() +
                      "; xbutil examine lists the cards (emulation: XCL_EMULATION_MODE=hw_emu and emconfig.json beside the program)");
    }
}

// The card with the design on it.
class card {
public:
    card(const design &d, const options &o) {
        const xrt::xclbin xclbin = open_xclbin(o.xclbin);
        check_xclbin(xclbin, d, o.xclbin);
        device_ = open_device(o.device);
        try {
            uuid_ = device_.load_xclbin(xclbin);
        } catch (const std::exception &error) {
            throw trouble("device " + o.device + " does not take " + o.xclbin + ": " + error.what() +
                          "; it must be made for the platform of this card");
        }
    }

    // One compute unit, so that buffers come to lie in its own memory bank.
    xrt::kernel open(const step &s, std::size_t lane) const {
        const std::string name = s.kernel_of(lane) + ":{" + s.units[lane] + "}";
        try {
            return xrt::kernel(device_, uuid_, name);
        } catch (const std::exception &error) {
            throw trouble("cannot open compute unit " + name + ": " + error.what());
        }
    }

    const xrt::device &device() const { return device_; }

private:
    xrt::device device_;
    xrt::uuid uuid_;
};

}  // namespace host

#endif
