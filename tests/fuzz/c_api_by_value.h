/* Calls that take enumerators by value, with any number: C allows what C++ does not. */
#ifndef RICCI_TESTS_C_API_BY_VALUE_H
#define RICCI_TESTS_C_API_BY_VALUE_H

#include "ricci/ricci.h"

#ifdef __cplusplus
extern "C" {
#endif

int plan_program_by_numbers(const char* text, int count, const ricci_extent* extents, int device, int gpu, int threads,
                            int mode, ricci_plan** plan);
const char* status_name_by_number(int status);

#ifdef __cplusplus
}
#endif
#endif
