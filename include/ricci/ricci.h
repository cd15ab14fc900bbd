/* The C interface of Ricci: for C, Fortran and anything that calls C.
 *
 * Every function returns RICCI_OK or a negative status; ricci_last_error() then holds the text, per thread.
 * Handles are opaque. All functions are thread-safe; a plan may be executed from any number of threads at once. */
#ifndef RICCI_H
#define RICCI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  RICCI_OK = 0,
  RICCI_ERROR_SPEC = -1,
  RICCI_ERROR_SHAPE = -2,
  RICCI_ERROR_PLAN = -3,
  RICCI_ERROR_COMPILE = -4,
  RICCI_ERROR_DEVICE = -5,
  RICCI_ERROR_CACHE = -6,
  RICCI_ERROR_IO = -7,
  RICCI_ERROR_INTERNAL = -8
} ricci_status;

typedef enum {
  RICCI_I8,
  RICCI_I16,
  RICCI_I32,
  RICCI_I64,
  RICCI_U8,
  RICCI_U16,
  RICCI_U32,
  RICCI_U64,
  RICCI_F16,
  RICCI_BF16,
  RICCI_F32,
  RICCI_F64,
  RICCI_C64,
  RICCI_C128
} ricci_dtype;

typedef enum { RICCI_CPU = 0, RICCI_GPU = 1 } ricci_device;

/* How a tensor lies in memory. strides in elements, or null for row-major (C order); alignment in bytes that the base
 * pointer is promised to have, 0 for the element size. */
typedef struct {
  ricci_dtype type;
  int rank;
  const int64_t* extents;
  const int64_t* strides;
  int64_t alignment;
} ricci_layout;

typedef struct {
  ricci_device device;
  int gpu;                   /* ordinal, or -1 for the current device */
  double alpha_re, alpha_im; /* 1, 0 in ricci_permute_options_default */
  double beta_re, beta_im;   /* 0, 0 */
  int conjugate;
  int threads; /* 0: all */
} ricci_permute_options;

typedef struct ricci_plan ricci_plan;

const char* ricci_version(void);
const char* ricci_last_error(void);
const char* ricci_status_name(ricci_status status);

ricci_permute_options ricci_permute_options_default(void);

/* Plans B = alpha * op(A)[perm] + beta * B for a spec such as "abc->cab"; options may be null. On success *plan is to
 * be released with ricci_plan_release. */
ricci_status ricci_plan_permute(const char* spec, const ricci_layout* input, const ricci_layout* output,
                                const ricci_permute_options* options, ricci_plan** plan);

/* Runs a plan with the factors it was made with. stream: CUstream for a GPU plan, else null. */
ricci_status ricci_plan_execute(const ricci_plan* plan, void* output, const void* input, void* stream);

/* The generated source; valid until the plan is released. */
const char* ricci_plan_source(const ricci_plan* plan);

void ricci_plan_release(ricci_plan* plan);

#ifdef __cplusplus
}
#endif
#endif
