// A stand-in, for tests: makes kernels callable with buffers of bytes, as DDR holds what their arguments point to.
#ifndef STAND_IN_KERNELS_H
#define STAND_IN_KERNELS_H

#include <ap_fixed.h>
#include <ap_int.h>
#include <hls_burst_maxi.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

// A buffer, or a scalar if `bytes` is null.
struct stand_in_argument {
    char *bytes;
    std::size_t size;
    int scalar;
};

namespace stand_in {

constexpr int container_bytes(int bits) {
    int bytes = 1;
    while (8 * bytes < bits) bytes *= 2;
    return bytes;
}

// How an element lies in DDR.
template <typename T>
struct element {  // C++'s own types
    static constexpr std::size_t BYTES = sizeof(T);
    static T read(const char *from) {
        T value;
        std::memcpy(&value, from, sizeof value);
        return value;
    }
    static void write(char *to, const T &value) { std::memcpy(to, &value, sizeof value); }
};

template <int W>
struct element<ap_uint<W> > {  // a memory port's word
    static constexpr std::size_t BYTES = W / 8;
    static ap_uint<W> read(const char *from) {
        ap_uint<W> word = 0;
        for (int b = 0; b < W / 8; ++b) word.range(8 * b + 7, 8 * b) = ap_uint<8>((unsigned char)from[b]);
        return word;
    }
    static void write(char *to, const ap_uint<W> &word) {
        for (int b = 0; b < W / 8; ++b) {
            const ap_uint<8> byte = word.range(8 * b + 7, 8 * b);
            to[b] = char(byte.to_uint64());
        }
    }
};

template <typename F, int W>
struct fixed_element {  // in a container of 1, 2, 4 or 8 bytes
    static constexpr std::size_t BYTES = container_bytes(W);
    static F read(const char *from) {
        std::uint64_t code = 0;
        std::memcpy(&code, from, BYTES);
        F value = 0;
        value.range(W - 1, 0) = ap_uint<W>(code);
        return value;
    }
};

template <int W, int I, ap_q_mode Q, ap_o_mode O, int N>
struct element<ap_fixed<W, I, Q, O, N> > : fixed_element<ap_fixed<W, I, Q, O, N>, W> {};
template <int W, int I, ap_q_mode Q, ap_o_mode O, int N>
struct element<ap_ufixed<W, I, Q, O, N> > : fixed_element<ap_ufixed<W, I, Q, O, N>, W> {};

// The elements of a buffer; several parameters that are given the same one share them, as they share its memory.
template <typename T>
std::shared_ptr<std::vector<T> > elements_of(const stand_in_argument &argument) {
    static thread_local std::map<char *, std::weak_ptr<std::vector<T> > > known;
    std::shared_ptr<std::vector<T> > found = known[argument.bytes].lock();
    if (found) return found;
    found = std::make_shared<std::vector<T> >(argument.size / element<T>::BYTES);
    for (std::size_t i = 0; i < found->size(); ++i) (*found)[i] = element<T>::read(argument.bytes + i * element<T>::BYTES);
    known[argument.bytes] = found;
    return found;
}

// What a parameter of type T is made of, for the duration of a call.
template <typename T>
struct memory {
    stand_in_argument given;
    std::shared_ptr<std::vector<T> > shared;
    std::vector<T> &values;

    explicit memory(const stand_in_argument &argument) : given(argument), shared(elements_of<T>(argument)), values(*shared) {}
    void write_back() {
        for (std::size_t i = 0; i < values.size(); ++i) element<T>::write(given.bytes + i * element<T>::BYTES, values[i]);
    }
};

template <typename T>
struct parameter;
template <>
struct parameter<int> {
    int value;
    explicit parameter(const stand_in_argument &argument) : value(argument.scalar) {}
    int passed() { return value; }
};
template <typename T>
struct parameter<const T *> : memory<T> {
    using memory<T>::memory;
    const T *passed() { return this->values.data(); }
};
template <typename T>
struct parameter<T *> : memory<T> {
    using memory<T>::memory;
    ~parameter() { this->write_back(); }
    T *passed() { return this->values.data(); }
};
template <typename T>
struct parameter<hls::burst_maxi<T> > : memory<T> {
    using memory<T>::memory;
    ~parameter() { this->write_back(); }
    T *passed() { return this->values.data(); }
};

template <typename... P, std::size_t... I>
void call(void (*kernel)(P...), const stand_in_argument *arguments, std::index_sequence<I...>) {
    std::tuple<parameter<P>...> parameters(arguments[I]...);
    kernel(std::get<I>(parameters).passed()...);
}

// Whether the kernel takes so many arguments; then it has been called.
template <typename... P>
bool call_with(void (*kernel)(P...), int count, const stand_in_argument *arguments) {
    if (count != int(sizeof...(P))) return false;
    call(kernel, arguments, std::index_sequence_for<P...>());
    return true;
}

}  // namespace stand_in

#endif
