/* TAPP, the Tensor Algebra Processing Primitives (arXiv:2601.07827), as libricci_tapp.so offers them:
 *
 *   D = op_D(alpha * op_A(A) * op_B(B) + beta * op_C(C)), summed over the indices that D does not have
 *
 * These declarations are compatible with the headers of the TAPP project: a program compiled with those links with this
 * library, and one compiled with this header with any other. Every handle is a number; 0 and numbers that are no live
 * object's give an error. Thread-safe, but that a tensor info is changed by one thread alone; a product may be executed
 * from any number of threads at once. */
#ifndef RICCI_TAPP_H
#define RICCI_TAPP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define TAPP_EXPORT extern "C" __attribute__((visibility("default")))
#else
#define TAPP_EXPORT __attribute__((visibility("default")))
#endif

typedef int TAPP_error;
typedef int TAPP_datatype;
typedef int TAPP_prectype;
typedef int TAPP_element_op;
typedef int TAPP_key;
typedef intptr_t TAPP_attr; /* any of the handles below */
typedef intptr_t TAPP_handle;
typedef intptr_t TAPP_executor;
typedef intptr_t TAPP_status;
typedef intptr_t TAPP_tensor_info;
typedef intptr_t TAPP_tensor_product;

/* Element types. Complex numbers have the width of their parts in their names. */
enum {
  TAPP_F32 = 0,
  TAPP_F64 = 1,
  TAPP_C32 = 2,
  TAPP_C64 = 3,
  TAPP_F16 = 4,
  TAPP_BF16 = 5,
  TAPP_FLOAT = TAPP_F32,
  TAPP_DOUBLE = TAPP_F64,
  TAPP_SCOMPLEX = TAPP_C32,
  TAPP_DCOMPLEX = TAPP_C64
};

/* What products and sums are computed in. By default the widest type of A, B and D, and f32 for half types. Sums of
 * half types are in f32 in any case; what is complex takes those precisions as the default. */
enum {
  TAPP_DEFAULT_PREC = -1,
  TAPP_F32F32_ACCUM_F32 = TAPP_F32,
  TAPP_F64F64_ACCUM_F64 = TAPP_F64,
  TAPP_F16F16_ACCUM_F16 = TAPP_F16,
  TAPP_F16F16_ACCUM_F32 = 5,
  TAPP_BF16BF16_ACCUM_F32 = 6
};

enum { TAPP_IDENTITY = 0, TAPP_CONJUGATE = 1 };

#define TAPP_IN_PLACE NULL

/* Errors. The first are those of the TAPP project's reference implementation. */
enum {
  RICCI_TAPP_EXTENTS_A_B = 1,
  RICCI_TAPP_EXTENTS_A_D = 2,
  RICCI_TAPP_EXTENTS_B_D = 3,
  RICCI_TAPP_INDEX_OF_D = 4,
  RICCI_TAPP_MODES_C_D = 5,
  RICCI_TAPP_INDICES_C_D = 6,
  RICCI_TAPP_EXTENTS_C_D = 7,
  RICCI_TAPP_ALIASING_D = 8,
  RICCI_TAPP_EXTENTS_A = 9,
  RICCI_TAPP_EXTENTS_B = 10,
  RICCI_TAPP_EXTENTS_D = 11,
  RICCI_TAPP_NO_C = 12,
  RICCI_TAPP_MODES = 14,
  RICCI_TAPP_EXTENT = 15,
  RICCI_TAPP_HANDLE = 33,
  RICCI_TAPP_NULL = 34,
  RICCI_TAPP_TYPE = 35,
  RICCI_TAPP_PRECISION = 36,
  RICCI_TAPP_OPERATION = 37,
  RICCI_TAPP_KEY = 38,
  RICCI_TAPP_OVERLAP_C_D = 39,
  RICCI_TAPP_BATCHES = 40,
  RICCI_TAPP_MEMORY = 41,
  RICCI_TAPP_RICCI = 100 /* 100 - s for what Ricci refused with status s; the text is the calling thread's last */
};

/* Attributes. Other keys keep the pointer that they are given, on any object. */
enum {
  /* On a handle, set: a text "key=value", an option of the plans that are made with it: device, gpu, threads, mode,
   * precision, schedule, ... as ricci_options_set takes them. */
  RICCI_TAPP_OPTION = 0x1000,
  /* On a product, get: a text that lives as long as it, every schedule considered and why one was taken. */
  RICCI_TAPP_EXPLAIN = 0x1001,
  /* On an executor, set: the CUstream of products on a GPU. */
  RICCI_TAPP_STREAM = 0x1002
};

TAPP_EXPORT bool TAPP_check_success(TAPP_error error);

/* Writes the text of an error and a null, at most maxlen bytes; returns how many bytes it wrote without the null, or
 * with maxlen = 0 how many there are. */
TAPP_EXPORT size_t TAPP_explain_error(TAPP_error error, size_t maxlen, char* message);

TAPP_EXPORT TAPP_error TAPP_attr_set(TAPP_attr attr, TAPP_key key, void* value);
TAPP_EXPORT TAPP_error TAPP_attr_get(TAPP_attr attr, TAPP_key key, void** value);
TAPP_EXPORT TAPP_error TAPP_attr_clear(TAPP_attr attr, TAPP_key key);

TAPP_EXPORT TAPP_error TAPP_create_handle(TAPP_handle* handle);
TAPP_EXPORT TAPP_error TAPP_destroy_handle(TAPP_handle handle);
TAPP_EXPORT TAPP_error TAPP_create_executor(TAPP_executor* exec);
TAPP_EXPORT TAPP_error TAPP_destroy_executor(TAPP_executor exec);
TAPP_EXPORT TAPP_error TAPP_destroy_status(TAPP_status status);

/* Extents from 0; strides in elements, any for A, B and C. */
TAPP_EXPORT TAPP_error TAPP_create_tensor_info(TAPP_tensor_info* info, TAPP_datatype type, int nmode,
                                               const int64_t* extents, const int64_t* strides);
TAPP_EXPORT TAPP_error TAPP_destroy_tensor_info(TAPP_tensor_info info);
TAPP_EXPORT int TAPP_get_nmodes(TAPP_tensor_info info);                    /* -1 for what is no tensor info */
TAPP_EXPORT TAPP_error TAPP_set_nmodes(TAPP_tensor_info info, int nmodes); /* new modes have extent 1 and stride 0 */
TAPP_EXPORT void TAPP_get_extents(TAPP_tensor_info info, int64_t* extents);
TAPP_EXPORT TAPP_error TAPP_set_extents(TAPP_tensor_info info, const int64_t* extents);
TAPP_EXPORT void TAPP_get_strides(TAPP_tensor_info info, int64_t* strides);
TAPP_EXPORT TAPP_error TAPP_set_strides(TAPP_tensor_info info, const int64_t* strides);

/* Plans a product; infos may be destroyed after it. An index may occur in any number of the tensors, and twice in one:
 * its diagonal. C's indices are D's. A handle that is no live one's means default options. Where the problem is
 * refused, *plan is a product all the same, to be destroyed, whose execution is refused with the same error: callers
 * that only look at the execution see it there. */
TAPP_EXPORT TAPP_error TAPP_create_tensor_product(TAPP_tensor_product* plan, TAPP_handle handle, TAPP_element_op op_A,
                                                  TAPP_tensor_info A, const int64_t* idx_A, TAPP_element_op op_B,
                                                  TAPP_tensor_info B, const int64_t* idx_B, TAPP_element_op op_C,
                                                  TAPP_tensor_info C, const int64_t* idx_C, TAPP_element_op op_D,
                                                  TAPP_tensor_info D, const int64_t* idx_D, TAPP_prectype prec);
TAPP_EXPORT TAPP_error TAPP_destroy_tensor_product(TAPP_tensor_product plan);

/* alpha and beta point to elements of D's type. With beta = 0 C is not read and may be null. C may be D where their
 * layouts are equal; any other overlap of D with an operand is refused, before anything is written. exec: 0 for the
 * default. status: null, or set to 0, as there is nothing to tell. */
TAPP_EXPORT TAPP_error TAPP_execute_product(TAPP_tensor_product plan, TAPP_executor exec, TAPP_status* status,
                                            const void* alpha, const void* A, const void* B, const void* beta,
                                            const void* C, void* D);

/* The same for each of num_batches operands, one after the other; C may be null. Ends at the first failure. */
TAPP_EXPORT TAPP_error TAPP_execute_batched_product(TAPP_tensor_product plan, TAPP_executor exec, TAPP_status* status,
                                                    int num_batches, const void* alpha, const void** A, const void** B,
                                                    const void* beta, const void** C, void** D);

#endif
