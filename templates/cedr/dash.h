// The calls of the DASH API that the application makes, as CEDR declares them: the same names, types and order. Complex
// numbers of the float calls have their real part first.
#ifndef HLSGEN_CEDR_DASH_H
#define HLSGEN_CEDR_DASH_H

#include <pthread.h>

#include <cstddef>
#include <cstdint>

extern "C" {

typedef short dash_re_int_type;
typedef float dash_re_flt_type;

typedef struct dash_cmplx_flt_type {
    dash_re_flt_type re;
    dash_re_flt_type im;
} dash_cmplx_flt_type;

typedef enum zip_op { ZIP_ADD = 0, ZIP_SUB = 1, ZIP_MULT = 2, ZIP_DIV = 3, ZIP_CMP_MULT = 4 } zip_op_t;

// What a call without blocking counts up when it is done.
typedef struct cedr_barrier {
    pthread_cond_t *cond;
    pthread_mutex_t *mutex;
    uint32_t *completion_ctr;
} cedr_barrier_t;

// A channel by a square mask, zeros around it, results as many as pixels; sums are saturated at 16 bits.
void DASH_CONV_2D_int_nb(dash_re_int_type **input, int *height, int *width, dash_re_flt_type **mask, int *mask_size,
                         dash_re_int_type **output, cedr_barrier_t *kernel_barrier);
// C = A B, of complex numbers.
void DASH_GEMM_flt(dash_cmplx_flt_type *A, dash_cmplx_flt_type *B, dash_cmplx_flt_type *C, size_t Row_A, size_t Col_A,
                   size_t Col_B);
void DASH_ZIP_flt(dash_cmplx_flt_type *input_1, dash_cmplx_flt_type *input_2, dash_cmplx_flt_type *output, size_t size,
                  zip_op_t op);

}  // extern "C"

#endif
