// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// What `#pragma HLS` becomes: calls that stand where the pragma stood. Included before all else.
#ifndef HLSGEN_SCHEDULE_MARKS_H
#define HLSGEN_SCHEDULE_MARKS_H

extern "C" {
void __hls_mark(int index, ...) __attribute__((nothrow));
// dimensions: 0 of an object, else those of the array; an extent of 0 is not known (a pointer).
void __hls_mark_variable(int index, const void* address, long element_bytes, long element_bits, long dimensions, long d0,
                         long d1, long d2, long d3, long d4, long d5, ...) __attribute__((nothrow));
// Streams and bursts. `bits`: of a word. The words are loaded from, and stored to, what read and slot return.
void* __hls_stream_read(void* stream, long bits) __attribute__((nothrow, malloc));
void* __hls_stream_slot(void* stream, long bits) __attribute__((nothrow, malloc));
void __hls_stream_write(void* stream, void* slot) __attribute__((nothrow));
bool __hls_stream_empty(void* stream) __attribute__((nothrow));
bool __hls_stream_full(void* stream) __attribute__((nothrow));
bool __hls_stream_read_nb(void* stream, void* destination, long bits) __attribute__((nothrow));
bool __hls_stream_write_nb(void* stream, void* slot) __attribute__((nothrow));
long __hls_stream_size(void* stream) __attribute__((nothrow));
void __hls_maxi_read_request(void* port, long offset, long length) __attribute__((nothrow));
void* __hls_maxi_read(void* port, long bits) __attribute__((nothrow, malloc));
void __hls_maxi_write_request(void* port, long offset, long length) __attribute__((nothrow));
void* __hls_maxi_slot(void* port, long bits) __attribute__((nothrow, malloc));
void __hls_maxi_write(void* port, void* slot) __attribute__((nothrow));
void __hls_maxi_write_response(void* port) __attribute__((nothrow));
}

namespace hls_marks {

// Bits of a value: what the types of these headers say, else those of its bytes.
template <class T> struct bits_of {
    template <class U> static constexpr long width(decltype(U::exact_bits)*) { return U::exact_bits; }
    template <class U> static constexpr long width(...) { return 8 * static_cast<long>(sizeof(U)); }
    static constexpr long value = width<T>(nullptr);
};
template <> struct bits_of<bool> { static constexpr long value = 1; };
template <class T> struct bits_of<const T> : bits_of<T> {};
template <class T> struct bits_of<volatile T> : bits_of<T> {};
template <class T> struct bits_of<const volatile T> : bits_of<T> {};

// Elements and extents of an array.
template <class T> struct form {
    typedef T element;
    static constexpr long dimensions = 0;
    static constexpr long extent(int) { return 0; }
};
template <class T, unsigned long N> struct form<T[N]> {
    typedef typename form<T>::element element;
    static constexpr long dimensions = 1 + form<T>::dimensions;
    static constexpr long extent(int d) { return d == 0 ? static_cast<long>(N) : form<T>::extent(d - 1); }
};
template <class T> struct form<T[]> : form<T[1]> {
    static constexpr long extent(int d) { return d == 0 ? 0 : form<T>::extent(d - 1); }
};

template <class X, class... V>
inline __attribute__((always_inline)) void at(int index, const volatile void* address, V... values) {
    typedef form<X> F;
    typedef typename F::element E;
    constexpr long d0 = F::extent(0), d1 = F::extent(1), d2 = F::extent(2), d3 = F::extent(3), d4 = F::extent(4), d5 = F::extent(5);
    __hls_mark_variable(index, const_cast<const void*>(address), static_cast<long>(sizeof(E)), bits_of<E>::value, F::dimensions,
                        d0, d1, d2, d3, d4, d5, static_cast<long>(values)...);
}

template <class X> struct target {
    static inline __attribute__((always_inline)) const volatile void* address(const volatile X& x) {
        return &reinterpret_cast<const volatile char&>(x);
    }
    typedef X type;
};
template <class T> struct target<T*> {
    static inline __attribute__((always_inline)) const volatile void* address(T* x) { return x; }
    typedef T type[];
};
template <> struct target<void*> {
    static inline __attribute__((always_inline)) const volatile void* address(void* x) { return x; }
    typedef char type[];
};
template <class T> struct target<T* const> : target<T*> {};

// A pragma that names no variable, and one that does.
template <class... V>
constexpr inline __attribute__((always_inline)) void here(int index, V... values) {
    if (!__builtin_is_constant_evaluated()) __hls_mark(index, static_cast<long>(values)...);
}
template <class X, class... V>
constexpr inline __attribute__((always_inline)) void variable(int index, X& x, V... values) {
    if (!__builtin_is_constant_evaluated()) at<typename target<X>::type>(index, target<X>::address(x), values...);
}

}  // namespace hls_marks

#endif
