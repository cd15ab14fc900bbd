/* Calls that take enumerators by value, with any number: C allows what C++ does not. */
#ifndef RICCI_TESTS_C_API_BY_VALUE_H
#define RICCI_TESTS_C_API_BY_VALUE_H

#include "ricci/ricci.h"

#ifdef __cplusplus
extern "C" {
#endif

int create_options_by_number(int kind, ricci_options** options);
const char* status_name_by_number(int status);

#ifdef __cplusplus
}
#endif
#endif
