// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// What `#pragma HLS` becomes in C: the calls of hlsgen_marks.h, without its templates.
#ifndef HLSGEN_SCHEDULE_MARKS_OF_C_H
#define HLSGEN_SCHEDULE_MARKS_OF_C_H

void __hls_mark(int index, ...) __attribute__((nothrow));
void __hls_mark_variable(int index, const void *address, long element_bytes, long element_bits, long dimensions, long d0,
                         long d1, long d2, long d3, long d4, long d5, ...) __attribute__((nothrow));

// Whether x is an array or a pointer, as an expression or of no type that has a size; whether it is an array.
#define __hls_is_address(x) (__builtin_classify_type(x) == 5)
#define __hls_is_array(x) \
    (__hls_is_address(x) && !__builtin_types_compatible_p(__typeof__(x), __typeof__(__hls_decayed(x) + 0)))
// x where it can be indexed, else what can be.
#define __hls_decayed(x) __builtin_choose_expr(__hls_is_address(x), (x), (char *)0)
#define __hls_elements(x) __builtin_choose_expr(__hls_is_array(x), (x), (char *)0)
#define __hls_of(t) (*(t *)0)
#define __hls_bits(t) (__builtin_types_compatible_p(t, _Bool) ? 1L : 8 * (long)sizeof(t))
// The first of a and b that is of an array of more dimensions.
#define __hls_deeper(array, a, b) __builtin_choose_expr(array, (a *)0, b)
#define __hls_extent(is, array, element) ((is) ? (long)(sizeof(array) / sizeof(element)) : 0L)

#define __hls_marked(index, x, ...) \
    __hls_marked_at(index, x, __hls_is_address(x), __hls_extent(__hls_is_array(x), x, *__hls_decayed(x)), ##__VA_ARGS__)
// One that names an array parameter, which is a pointer by then.
#define __hls_marked_parameter(extent, index, x, ...) __hls_marked_at(index, x, 1, (long)(extent), ##__VA_ARGS__)

#define __hls_marked_at(index, x, is, extent, ...) __extension__({ \
    typedef __typeof__(x) __hls_t0; \
    typedef __typeof__(*__hls_decayed(x)) __hls_t1; \
    typedef __typeof__(*__hls_elements(__hls_of(__hls_t1))) __hls_t2; \
    typedef __typeof__(*__hls_elements(__hls_of(__hls_t2))) __hls_t3; \
    typedef __typeof__(*__hls_elements(__hls_of(__hls_t3))) __hls_t4; \
    typedef __typeof__(*__hls_elements(__hls_of(__hls_t4))) __hls_t5; \
    typedef __typeof__(*__hls_elements(__hls_of(__hls_t5))) __hls_t6; \
    enum { __hls_k1 = (is), __hls_k2 = __hls_k1 && __hls_is_array(__hls_of(__hls_t1)), \
           __hls_k3 = __hls_k2 && __hls_is_array(__hls_of(__hls_t2)), \
           __hls_k4 = __hls_k3 && __hls_is_array(__hls_of(__hls_t3)), \
           __hls_k5 = __hls_k4 && __hls_is_array(__hls_of(__hls_t4)), \
           __hls_k6 = __hls_k5 && __hls_is_array(__hls_of(__hls_t5)) }; \
    typedef __typeof__(*__hls_deeper(__hls_k6, __hls_t6, __hls_deeper(__hls_k5, __hls_t5, \
        __hls_deeper(__hls_k4, __hls_t4, __hls_deeper(__hls_k3, __hls_t3, __hls_deeper(__hls_k2, __hls_t2, \
        __hls_deeper(__hls_k1, __hls_t1, (__hls_t0 *)0))))))) __hls_element; \
    __hls_mark_variable(index, (const void *)__builtin_choose_expr(__hls_is_address(x), (x), &(x)), \
        (long)sizeof(__hls_element), __hls_bits(__hls_element), \
        __hls_k1 + __hls_k2 + __hls_k3 + __hls_k4 + __hls_k5 + __hls_k6, extent, \
        __hls_extent(__hls_k2, __hls_t1, __hls_t2), __hls_extent(__hls_k3, __hls_t2, __hls_t3), \
        __hls_extent(__hls_k4, __hls_t3, __hls_t4), __hls_extent(__hls_k5, __hls_t4, __hls_t5), \
        __hls_extent(__hls_k6, __hls_t5, __hls_t6), ##__VA_ARGS__); \
})

#endif
