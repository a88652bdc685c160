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
template <class T_> struct bits_of {
    template <class U_> static constexpr long width(decltype(U_::exact_bits)*) { return U_::exact_bits; }
    template <class U_> static constexpr long width(...) { return 8 * static_cast<long>(sizeof(U_)); }
    static constexpr long value = width<T_>(nullptr);
};
template <> struct bits_of<bool> { static constexpr long value = 1; };
template <class T_> struct bits_of<const T_> : bits_of<T_> {};
template <class T_> struct bits_of<volatile T_> : bits_of<T_> {};
template <class T_> struct bits_of<const volatile T_> : bits_of<T_> {};

// Elements and extents of an array.
template <class T_> struct form {
    typedef T_ element;
    static constexpr long dimensions = 0;
    static constexpr long extent(int) { return 0; }
};
template <class T_, unsigned long N_> struct form<T_[N_]> {
    typedef typename form<T_>::element element;
    static constexpr long dimensions = 1 + form<T_>::dimensions;
    static constexpr long extent(int d) { return d == 0 ? static_cast<long>(N_) : form<T_>::extent(d - 1); }
};
template <class T_> struct form<T_[]> : form<T_[1]> {
    static constexpr long extent(int d) { return d == 0 ? 0 : form<T_>::extent(d - 1); }
};

template <class X_, class... V>
inline __attribute__((always_inline)) void at(int index, const volatile void* address, V... values) {
    typedef form<X_> F_;
    typedef typename F_::element E_;
    constexpr long d0 = F_::extent(0), d1 = F_::extent(1), d2 = F_::extent(2), d3 = F_::extent(3), d4 = F_::extent(4), d5 = F_::extent(5);
    __hls_mark_variable(index, const_cast<const void*>(address), static_cast<long>(sizeof(E_)), bits_of<E_>::value, F_::dimensions,
                        d0, d1, d2, d3, d4, d5, static_cast<long>(values)...);
}

template <class X_> struct target {
    static inline __attribute__((always_inline)) const volatile void* address(const volatile X_& x) {
        return &reinterpret_cast<const volatile char&>(x);
    }
    typedef X_ type;
};
template <class T_> struct target<T_*> {
    static inline __attribute__((always_inline)) const volatile void* address(T_* x) { return x; }
    typedef T_ type[];
};
template <> struct target<void*> {
    static inline __attribute__((always_inline)) const volatile void* address(void* x) { return x; }
    typedef char type[];
};
template <class T_> struct target<T_* const> : target<T_*> {};

// A pragma that names no variable, and one that does.
template <class... V>
constexpr inline __attribute__((always_inline)) void here(int index, V... values) {
    if (!__builtin_is_constant_evaluated()) __hls_mark(index, static_cast<long>(values)...);
}
template <class X_, class... V>
constexpr inline __attribute__((always_inline)) void variable(int index, X_& x, V... values) {
    if (!__builtin_is_constant_evaluated()) at<typename target<X_>::type>(index, target<X_>::address(x), values...);
}
// One that names an array parameter, which is a pointer by then.
template <unsigned long N_, class T_, class... V>
constexpr inline __attribute__((always_inline)) void parameter(int index, T_* x, V... values) {
    if (!__builtin_is_constant_evaluated()) at<T_[N_]>(index, x, values...);
}

}  // namespace hls_marks

#endif
