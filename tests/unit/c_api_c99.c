/* ricci.h in a C99 program: a permutation, a failure, and no C++ in sight. */
#include <stdio.h>
#include <string.h>

#include "ricci/ricci.h"

static int failures = 0;

static void check(int holds, const char* what) {
  if (!holds) {
    fprintf(stderr, "wrong: %s (last error: \"%s\")\n", what, ricci_last_error());
    ++failures;
  }
}

int main(void) {
  const int64_t in_extents[2] = {3, 5}, out_extents[2] = {5, 3};
  const int64_t padded[2] = {8, 1};
  float a[3][8], b[5][3];
  ricci_layout input = {RICCI_F32, 2, in_extents, padded, 0};
  ricci_layout output = {RICCI_F32, 2, out_extents, NULL, 0};
  ricci_options* options = NULL;
  ricci_plan* plan = NULL;

  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 8; ++j) a[i][j] = (float)(10 * i + j);
  memset(b, 0, sizeof b);

  check(ricci_options_create(RICCI_OPTIONS_PERMUTE, &options) == RICCI_OK, "options are made");
  check(ricci_options_set(options, "alpha", "2") == RICCI_OK, "a factor is set");
  check(ricci_plan_permute(NULL, "ij->ji", &input, &output, options, &plan) == RICCI_OK, "a plan is made");
  check(plan != NULL, "the plan is there");
  if (plan == NULL) return 1;
  check(ricci_plan_execute(plan, b, a, NULL) == RICCI_OK, "the plan runs");
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 5; ++j) check(b[j][i] == 2 * a[i][j], "each element is in its place, doubled");
  check(strlen(ricci_plan_source(plan)) > 100, "the plan shows its source");
  check(ricci_plan_execute(plan, b, NULL, NULL) == RICCI_ERROR_SHAPE, "a null input is refused");
  ricci_plan_release(plan);

  plan = NULL;
  check(ricci_plan_permute(NULL, "ij->jk", &input, &output, NULL, &plan) == RICCI_ERROR_SPEC,
        "a wrong spec is refused");
  check(plan == NULL, "a failure makes no plan");
  check(strcmp(ricci_last_error(), "output axis k is not an axis of the input\n  ij->jk\n       ^") == 0,
        "the text shows the place");
  check(strcmp(ricci_status_name(RICCI_ERROR_SPEC), "spec") == 0, "the status has a name");

  /* Any number may come for an enumerator. */
  ricci_options_destroy(options);
  check(ricci_options_create((ricci_options_kind)9, &options) == RICCI_ERROR_PLAN, "9 is no kind of options");
  check(options == NULL, "a failure makes no options");
  check(strcmp(ricci_status_name((ricci_status)5), "unknown") == 0, "5 is no status");
  check(strcmp(ricci_status_name((ricci_status)-9), "unknown") == 0, "-9 is no status");
  return failures != 0;
}
