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

/* How the schedules of a plan are chosen: by what was measured for the problem earlier, else by the model; the same,
 * but measured now where it was not; measured now in any case; by the model alone. */
typedef enum {
  RICCI_PLAN_ESTIMATE = 0,
  RICCI_PLAN_MEASURE = 1,
  RICCI_PLAN_REMEASURE = 2,
  RICCI_PLAN_MODEL = 3
} ricci_plan_mode;

typedef struct {
  ricci_device device;
  int gpu;                   /* ordinal, or -1 for the current device */
  double alpha_re, alpha_im; /* 1, 0 in ricci_permute_options_default */
  double beta_re, beta_im;   /* 0, 0 */
  int conjugate;
  int threads; /* 0: all */
  ricci_plan_mode mode;
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

typedef enum { RICCI_PATH_FLOPS = 0, RICCI_PATH_MEMORY = 1 } ricci_path;

typedef struct {
  ricci_device device;
  int gpu;                   /* ordinal, or -1 for the current device */
  double alpha_re, alpha_im; /* 1, 0 in ricci_einsum_options_default */
  double beta_re, beta_im;   /* 0, 0 */
  const int* conjugate;      /* one per operand, or null: conjugate none */
  ricci_path path;           /* with three operands and more: fewest operations, or least workspace */
  int threads;               /* 0: all */
  ricci_plan_mode mode;
} ricci_einsum_options;

ricci_einsum_options ricci_einsum_options_default(void);

/* Plans C = alpha * sum(op(A) * op(B) * ...) + beta * C for a spec such as "ab,bc->ac". inputs: one layout for each of
 * the `count` operands of the spec; output may be null: row-major, of NumPy's result type (ricci_plan_output_shape);
 * options may be null. */
ricci_status ricci_plan_einsum(const char* spec, int count, const ricci_layout* inputs, const ricci_layout* output,
                               const ricci_einsum_options* options, ricci_plan** plan);

/* An index without an extent in a program's text, and its extent. */
typedef struct {
  const char* index;
  int64_t extent;
} ricci_extent;

/* Plans a program from its text (docs/programs.md). extents: `count` of them, for indices that the text leaves open. */
ricci_status ricci_plan_program(const char* text, int count, const ricci_extent* extents, ricci_device device, int gpu,
                                int threads, ricci_plan_mode mode, ricci_plan** plan);

/* Why the schedules of a plan's kernels were taken: "estimated", "tuned" or "measured" each, "; " between them. */
const char* ricci_plan_choice(const ricci_plan* plan);

/* What a call of the plan takes: how many arrays it writes and how many it only reads, how many parameters, and their
 * names, in the order of the call ("" past the end). Names are valid until the plan is released. */
int ricci_plan_outputs(const ricci_plan* plan);
int ricci_plan_inputs(const ricci_plan* plan);
int ricci_plan_params(const ricci_plan* plan);
const char* ricci_plan_output_name(const ricci_plan* plan, int number);
const char* ricci_plan_input_name(const ricci_plan* plan, int number);
const char* ricci_plan_param_name(const ricci_plan* plan, int number);

/* Of an einsum or a permutation: type, rank and extents of the output; `extents` takes rank numbers, or is null. */
ricci_status ricci_plan_output_shape(const ricci_plan* plan, ricci_dtype* type, int* rank, int64_t* extents);

/* Bytes of memory that a call needs between its kernels, and makes for itself when it is given none. */
int64_t ricci_plan_workspace_bytes(const ricci_plan* plan);

/* A scalar parameter of a program. */
typedef struct {
  double re, im;
} ricci_scalar;

/* What a call may have beside its arrays; null for none of it. */
typedef struct {
  const ricci_scalar* params; /* ricci_plan_params of them */
  void* workspace;            /* aligned to 256 bytes, on the plan's device; null: made by the call */
  int64_t workspace_bytes;
  void* stream; /* CUstream for a GPU plan, else null */
} ricci_call;

/* Runs a plan: one pointer for each array it writes and one for each that it only reads, in the plan's order. */
ricci_status ricci_execute(const ricci_plan* plan, void* const* outputs, const void* const* inputs,
                           const ricci_call* call);

/* The same for plans of one output and one input, as permutations are. stream: CUstream for a GPU plan, else null. */
ricci_status ricci_plan_execute(const ricci_plan* plan, void* output, const void* input, void* stream);

/* The generated source, of all kernels; valid until the plan is released. */
const char* ricci_plan_source(const ricci_plan* plan);

void ricci_plan_release(ricci_plan* plan);

#ifdef __cplusplus
}
#endif
#endif
