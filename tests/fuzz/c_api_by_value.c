#include "c_api_by_value.h"

int plan_program_by_numbers(const char* text, int count, const ricci_extent* extents, int device, int gpu, int threads,
                            int mode, ricci_plan** plan) {
  return (int)ricci_plan_program(text, count, extents, (ricci_device)device, gpu, threads, (ricci_plan_mode)mode, plan);
}

const char* status_name_by_number(int status) { return ricci_status_name((ricci_status)status); }
