// Reads and writes .npy files (format 1.0, C order, little endian) for testbenches.
#ifndef HLSGEN_TB_NPY_H
#define HLSGEN_TB_NPY_H

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
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

// A .npy file that is read: what its header says, and then its elements as they lie in it.
class npy_input {
public:
    std::string type;               // of an element, such as '<i2': byte order, kind, bytes
    std::size_t element_bytes = 0;  // of an element

    explicit npy_input(const std::string &path) : path_(path), file_(std::fopen(path.c_str(), "rb")) {
        if (file_ == nullptr) fail("cannot read " + path);
        unsigned char start[10];
        const bool begun = std::fread(start, 1, sizeof start, file_) == sizeof start;
        if (!begun || std::memcmp(start, "\x93NUMPY\x01", 7) != 0) fail(path + " is no .npy file of format 1.0");
        std::string header(start[8] + 256 * start[9], ' ');
        if (std::fread(&header[0], 1, header.size(), file_) != header.size()) fail(path + " is cut off");
        if (header.find("'fortran_order': True") != std::string::npos) fail(path + " is in Fortran order");
        const std::string before = "'descr': '";
        const std::size_t descr = header.find(before);
        if (descr == std::string::npos) fail(path + " has no plain element type");
        const std::size_t first = descr + before.size();
        type = header.substr(first, header.find('\'', first) - first);
        element_bytes = type.size() > 2 ? std::size_t(std::atoi(type.c_str() + 2)) : 0;
        const long begin = std::ftell(file_);
        std::fseek(file_, 0, SEEK_END);
        bytes_ = std::size_t(std::ftell(file_) - begin);
        std::fseek(file_, begin, SEEK_SET);
    }
    ~npy_input() { std::fclose(file_); }
    npy_input(const npy_input &) = delete;
    npy_input &operator=(const npy_input &) = delete;

    // How many elements there are, each of which must have so many bytes.
    std::size_t elements(std::size_t bytes) const {
        if (type[0] == '>' || element_bytes != bytes) {
            const std::string size = std::to_string(bytes);
            fail(path_ + " has elements of type " + type + ", but this kernel takes " + size + " bytes each");
        }
        if (bytes_ % bytes != 0) fail(path_ + " is cut off");
        return bytes_ / bytes;
    }
    void read(void *to) {
        if (bytes_ != 0 && std::fread(to, 1, bytes_, file_) != bytes_) fail("cannot read " + path_);
    }

private:
    const std::string path_;
    std::FILE *const file_;
    std::size_t bytes_ = 0;  // of all elements
};

inline bool exists(const std::string &path) {
    std::FILE *const file = std::fopen(path.c_str(), "rb");
    if (file != nullptr) std::fclose(file);
    return file != nullptr;
}

// All elements of a file whose element size must be that of T; the shape is the caller's to know.
template <typename T>
std::vector<T> read_npy(const std::string &path) {
    npy_input file(path);
    std::vector<T> values(file.elements(sizeof(T)));
    file.read(values.data());
    return values;
}

inline void write_bytes(const std::string &path, const std::string &descr, const std::vector<std::size_t> &shape,
                        const void *values, std::size_t bytes) {
    std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (";
    for (std::size_t size : shape) header += std::to_string(size) + ", ";
    header += "), }";
    header.append((64 - (10 + header.size() + 1) % 64) % 64, ' ');
    header += '\n';
    const std::string size = {char(header.size() % 256), char(header.size() / 256)};
    header = std::string("\x93NUMPY\x01\x00", 8) + size + header;
    std::FILE *const file = std::fopen(path.c_str(), "wb");
    if (file == nullptr) fail("cannot write " + path);
    bool written = std::fwrite(header.data(), 1, header.size(), file) == header.size();
    written = (bytes == 0 || std::fwrite(values, 1, bytes, file) == bytes) && written;
    written = std::fclose(file) == 0 && written;
    if (!written) fail("cannot write " + path);
}

template <typename T>
void write_npy(const std::string &path, const std::string &descr, const std::vector<std::size_t> &shape,
               const std::vector<T> &values) {
    write_bytes(path, descr, shape, values.data(), values.size() * sizeof(T));
}

}  // namespace tb

#endif
