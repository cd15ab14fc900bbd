/* What an adapter to a library of contractions exports, so that `ricci-bench contract` can time it: plain C types, for
   libraries that have C++ interfaces alone. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ricci_adapter_tensor {
  int rank;
  const char* axes;       /* a letter each, slowest first */
  const int64_t* extents; /* of a dense row-major tensor */
};

struct ricci_adapter_contraction {
  int type; /* 0: f32, 1: f64 */
  int threads;
  struct ricci_adapter_tensor first, second, result;
};

/* The name of a way in which the library computes, 0 and up; null for numbers past the last one. */
const char* ricci_adapter_name(int way);
/* A plan that the two others take; null for what the library refuses. */
void* ricci_adapter_plan(const struct ricci_adapter_contraction* problem, int way);
void ricci_adapter_run(void* plan, void* result, const void* first, const void* second);
void ricci_adapter_destroy(void* plan);

#ifdef __cplusplus
}
#endif
