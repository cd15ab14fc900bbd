#include "c_api_by_value.h"

int create_options_by_number(int kind, ricci_options** options) {
  return (int)ricci_options_create((ricci_options_kind)kind, options);
}

const char* status_name_by_number(int status) { return ricci_status_name((ricci_status)status); }
