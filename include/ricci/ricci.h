/* The C interface of Ricci: for C, Fortran and anything that calls C.
 *
 * Every function that may fail returns RICCI_OK or a negative status; ricci_last_error() then holds the text, per
 * thread. Handles are opaque. All functions are thread-safe, except that options are one thread's at a time; a plan may
 * be executed from any number of threads at once. What can be chosen and what can be asked goes by name, so that a
 * later version knows more names and changes no type. docs/c.md shows a program. */
#ifndef RICCI_H
#define RICCI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Enumerations are ints in C++ as well: a value that names none of them is an error there, not undefined. */
#ifdef __cplusplus
#define RICCI_AS_INT : int
#else
#define RICCI_AS_INT
#endif

typedef enum RICCI_AS_INT {
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

typedef enum RICCI_AS_INT {
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

/* How a tensor lies in memory. strides in elements, or null for row-major (C order); alignment in bytes that the base
 * pointer is promised to have, 0 for the element size. */
typedef struct {
  ricci_dtype type;
  int rank;
  const int64_t* extents;
  const int64_t* strides;
  int64_t alignment;
} ricci_layout;

typedef struct ricci_options ricci_options;
typedef struct ricci_runtime ricci_runtime;
typedef struct ricci_plan ricci_plan;
typedef struct ricci_packed ricci_packed;

const char* ricci_version(void);
const char* ricci_status_name(ricci_status status);

/* The last failure in the calling thread: text, status, and where in a spec or a program it is. Line and column count
 * from 1, the offset from 0, in bytes; 0, 0 and -1 where it is in no place of a text. Pointers may be null. The text is
 * valid until the thread's next failure. */
const char* ricci_last_error(void);
ricci_status ricci_last_error_status(void);
void ricci_last_error_position(int* line, int* column, int64_t* offset);

/* Receives each line of the log, without a newline, from any thread, one line at a time. */
typedef void (*ricci_log_sink)(unsigned topic, const char* line, void* context);

/* Topics: 1 warning (always on), 2 ir, 4 plan, 8 compile, 16 cache, 32 execute; a sum of them. */
void ricci_set_log_topics(unsigned topics);
/* Replaces the sink; null restores stderr. */
void ricci_set_log_sink(ricci_log_sink sink, void* context);

/* What the options are for. */
typedef enum RICCI_AS_INT {
  RICCI_OPTIONS_PERMUTE = 0,
  RICCI_OPTIONS_EINSUM = 1,
  RICCI_OPTIONS_PROGRAM = 2,
  RICCI_OPTIONS_RUNTIME = 3
} ricci_options_kind;

/* Options with their defaults; to be destroyed with ricci_options_destroy, which takes null too. */
ricci_status ricci_options_create(ricci_options_kind kind, ricci_options** options);
void ricci_options_destroy(ricci_options* options);

/* Sets an option as the command line spells it (docs/c.md lists them). RICCI_ERROR_PLAN for a key that options of this
 * kind do not have; its text lists those that they have. A failure leaves the options as they were.
 *
 *   every plan           device, gpu, target, schedule, threads, mode, precision, measured, workspace-limit
 *   permute and einsum   alpha, beta, conj-addend, conj; of an einsum constant and path too
 *   runtime              cache-dir, threads, pin, blas, cublas, graph-kernels */
ricci_status ricci_options_set(ricci_options* options, const char* key, const char* value);

/* The same for an option that is a layout. Of permutations and einsums "addend": the layout of C in
 * D = alpha * ... + beta * C, which a call takes as the last of its inputs. Without it, C is what D holds. */
ricci_status ricci_options_set_layout(ricci_options* options, const char* key, const ricci_layout* layout);

/* A runtime of one's own: a kernel cache and threads. Functions that take a runtime take null for the process-wide one,
 * which is made on first use. Plans outlive the runtime that made them. options may be null. */
ricci_status ricci_runtime_create(const ricci_options* options, ricci_runtime** runtime);
void ricci_runtime_destroy(ricci_runtime* runtime);

/* What the kernel cache of a runtime has done: memory-hits, disk-hits, misses, made, stored, damaged. */
ricci_status ricci_runtime_number(ricci_runtime* runtime, const char* name, int64_t* value);

/* Plans B = alpha * op(A)[perm] + beta * B for a spec such as "abc->cab"; options of a permutation, or null. On success
 * *plan is to be released with ricci_plan_release. */
ricci_status ricci_plan_permute(ricci_runtime* runtime, const char* spec, const ricci_layout* input,
                                const ricci_layout* output, const ricci_options* options, ricci_plan** plan);

/* Plans C = alpha * sum(op(A) * op(B) * ...) + beta * C for a spec such as "ab,bc->ac". inputs: one layout for each of
 * the `count` operands of the spec; output may be null: row-major, of NumPy's result type (ricci_plan_output_shape);
 * options of an einsum, or null. */
ricci_status ricci_plan_einsum(ricci_runtime* runtime, const char* spec, int count, const ricci_layout* inputs,
                               const ricci_layout* output, const ricci_options* options, ricci_plan** plan);

/* An index without an extent in a program's text, and its extent. */
typedef struct {
  const char* index;
  int64_t extent;
} ricci_extent;

/* Plans a program from its text (docs/programs.md). extents: `count` of them, for indices that the text leaves open;
 * options of a program, or null. */
ricci_status ricci_plan_program(ricci_runtime* runtime, const char* text, int count, const ricci_extent* extents,
                                const ricci_options* options, ricci_plan** plan);

/* A text of a plan, valid until it is released:
 *
 *   source     the generated source of all kernels     explain    every candidate, and why one was taken
 *   program    the canonical programs                  passes     the programs after each pass
 *   assembly   of all kernels, where a tool prints it  key        the cache keys
 *   cache-path files of the stored kernels             kernel     names of the generated functions
 *   schedule   of each kernel                          choice     why it was taken: estimated, named, tuned, measured
 *   origin     memory, disk, compiled or none */
ricci_status ricci_plan_text(const ricci_plan* plan, const char* name, const char** text);

/* A number of a plan: steps, plan-ms, generate-ms, compile-ms, load-ms, measure-ms, registers, spill-bytes,
 * shared-bytes, compulsory-bytes, workspace-bytes, packed-bytes, flops. */
ricci_status ricci_plan_number(const ricci_plan* plan, const char* name, double* value);

/* The same for what is asked most; "" for a null plan. */
static inline const char* ricci_plan_source(const ricci_plan* plan) {
  const char* text = "";
  return plan && ricci_plan_text(plan, "source", &text) == RICCI_OK ? text : "";
}

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

/* Operands of an einsum that its option "constant" names ("2", or "1,3") stay the same from call to call: their number,
 * and what rewrites them once as the kernels read them best. A call takes the other operands alone, and *packed; it may
 * be used by any number of calls at once, and is released after the last of them. stream: CUstream for a GPU plan. */
int ricci_plan_constants(const ricci_plan* plan);
ricci_status ricci_plan_pack(const ricci_plan* plan, const void* const* constants, void* stream, ricci_packed** packed);
void ricci_packed_release(ricci_packed* packed);

/* Loads the kernels of a GPU plan on another device of the same kind, ahead of the first call whose tensors lie there,
 * which does it otherwise: to be done before a capture into a CUDA graph. */
ricci_status ricci_plan_load(const ricci_plan* plan, int gpu);

/* A factor, or a parameter of a program. */
typedef struct {
  double re, im;
} ricci_scalar;

/* What a call may have beside its arrays; null for none of it. Begin with RICCI_CALL: `size` tells which members the
 * caller's header has, so that later versions may add some at the end. */
typedef struct {
  int64_t size;               /* of this struct, in bytes */
  const ricci_scalar* alpha;  /* null: the plan's. A plan made with alpha = 1 (beta = 0) takes that value alone; */
  const ricci_scalar* beta;   /* alpha "any" in its options prepares one for all */
  const ricci_scalar* params; /* ricci_plan_params of them */
  void* workspace;            /* aligned to 256 bytes, on the plan's device; null: made by the call */
  int64_t workspace_bytes;
  void* stream;               /* CUstream for a GPU plan, else null */
  const ricci_packed* packed; /* what ricci_plan_pack made with this plan; null without constant operands */
} ricci_call;

#define RICCI_CALL {(int64_t)sizeof(ricci_call), 0, 0, 0, 0, 0, 0, 0}

/* Runs a plan: one pointer for each array it writes and one for each that it only reads, in the plan's order. */
ricci_status ricci_execute(const ricci_plan* plan, void* const* outputs, const void* const* inputs,
                           const ricci_call* call);

/* The same for plans of one output and one input, as permutations are. stream: CUstream for a GPU plan, else null. */
ricci_status ricci_plan_execute(const ricci_plan* plan, void* output, const void* input, void* stream);

void ricci_plan_release(ricci_plan* plan);

#ifdef __cplusplus
}
#endif
#endif
