// Reads and writes .npy files (format 1.0, C order, little endian) for testbenches.
#ifndef HLSGEN_TB_NPY_H
#define HLSGEN_TB_NPY_H

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace tb {

constexpr int WRONG_DATA_STATUS = 2;

[[noreturn]] inline void fail(const std::string &message) {
    std::fprintf(stderr, "error: %s\n", message.c_str());
    std::exit(WRONG_DATA_STATUS);
}

// The unsigned integer of a size in bytes.
template <std::size_t BYTES>
struct bits;
template <>
struct bits<1> {
    typedef std::uint8_t type;
};
template <>
struct bits<2> {
    typedef std::uint16_t type;
};
template <>
struct bits<4> {
    typedef std::uint32_t type;
};
template <>
struct bits<8> {
    typedef std::uint64_t type;
};

class stopwatch {
public:
    stopwatch() : start_(std::chrono::steady_clock::now()) {}
    double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

private:
    std::chrono::steady_clock::time_point start_;
};

inline bool exists(const std::string &path) { return std::ifstream(path).good(); }

// The type of a file's elements, such as '<i2': byte order, kind, bytes.
inline std::string element_type(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) fail("cannot read " + path);
    std::string start(256, ' ');
    file.read(&start[0], std::streamsize(start.size()));
    const std::size_t descr = start.find("'descr': '");
    if (descr == std::string::npos) fail(path + " has no plain element type");
    return start.substr(descr + 10, 3);
}

inline int element_bytes(const std::string &path) { return element_type(path)[2] - '0'; }

// All elements of a file whose element size must be that of T; the shape is the caller's to know.
template <typename T>
std::vector<T> read_npy(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) fail("cannot read " + path);
    unsigned char start[10];
    file.read(reinterpret_cast<char *>(start), sizeof start);
    if (!file || std::memcmp(start, "\x93NUMPY\x01", 7) != 0) fail(path + " is no .npy file of format 1.0");
    std::string header(start[8] + 256 * start[9], ' ');
    file.read(&header[0], std::streamsize(header.size()));
    if (header.find("'fortran_order': True") != std::string::npos) fail(path + " is in Fortran order");
    const std::size_t descr = header.find("'descr': '");
    if (descr == std::string::npos) fail(path + " has no plain element type");
    const std::string type = header.substr(descr + 10, 3);
    if (type[0] == '>' || std::size_t(type[2] - '0') != sizeof(T)) {
        const std::string size = std::to_string(sizeof(T));
        fail(path + " has elements of type " + type + ", but this kernel takes " + size + " bytes each");
    }
    std::vector<T> values;
    std::vector<char> rest((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (rest.size() % sizeof(T) != 0) fail(path + " is cut off");
    values.resize(rest.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), rest.data(), rest.size());
    return values;
}

template <typename T>
void write_npy(const std::string &path, const std::string &descr, const std::vector<std::size_t> &shape,
               const std::vector<T> &values) {
    std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (";
    for (std::size_t size : shape) header += std::to_string(size) + ", ";
    header += "), }";
    header.append((64 - (10 + header.size() + 1) % 64) % 64, ' ');
    header += '\n';
    std::ofstream file(path, std::ios::binary);
    file.write("\x93NUMPY\x01\x00", 8);
    file.put(char(header.size() % 256)).put(char(header.size() / 256));
    file.write(header.data(), std::streamsize(header.size()));
    file.write(reinterpret_cast<const char *>(values.data()), std::streamsize(values.size() * sizeof(T)));
    if (!file) fail("cannot write " + path);
}

}  // namespace tb

#endif
