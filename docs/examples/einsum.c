/* An einsum from C: options, a plan, calls with factors of their own, an error with its place. */
#include <ricci/ricci.h>
#include <stdio.h>

static int failed(const char* what) {
  fprintf(stderr, "%s: %s: %s\n", what, ricci_status_name(ricci_last_error_status()), ricci_last_error());
  return 1;
}

int main(void) {
  const int64_t a_extents[] = {2, 3}, b_extents[] = {3, 2};
  const ricci_layout inputs[] = {{RICCI_F64, 2, a_extents, NULL, 0}, {RICCI_F64, 2, b_extents, NULL, 0}};
  const double a[2][3] = {{1, 2, 3}, {4, 5, 6}}, b[3][2] = {{1, 0}, {0, 1}, {1, 1}};
  double c[2][2] = {{100, 100}, {100, 100}};
  void* const outputs[] = {c};
  const void* const operands[] = {a, b};
  const ricci_scalar alpha = {2, 0}, beta = {0.5, 0};
  const char* why = "";
  ricci_call call = RICCI_CALL;
  ricci_options* options = NULL;
  ricci_plan* plan = NULL;
  int line, column;

  /* A plan for factors that each call brings. */
  if (ricci_options_create(RICCI_OPTIONS_EINSUM, &options) != RICCI_OK ||
      ricci_options_set(options, "alpha", "any") != RICCI_OK || ricci_options_set(options, "beta", "any") != RICCI_OK) {
    return failed("options");
  }
  if (ricci_plan_einsum(NULL, "ik,kj->ij", 2, inputs, NULL, options, &plan) != RICCI_OK) return failed("plan");
  ricci_options_destroy(options);

  call.alpha = &alpha;
  call.beta = &beta;
  if (ricci_execute(plan, outputs, operands, &call) != RICCI_OK) return failed("call");
  printf("%g %g\n%g %g\n", c[0][0], c[0][1], c[1][0], c[1][1]);

  if (ricci_plan_text(plan, "choice", &why) != RICCI_OK) return failed("text");
  printf("the schedule is %s\n", why);
  ricci_plan_release(plan);

  if (ricci_plan_einsum(NULL, "ik,kj->iz", 2, inputs, NULL, NULL, &plan) == RICCI_OK) return 1;
  ricci_last_error_position(&line, &column, NULL);
  printf("line %d, column %d: %s\n", line, column, ricci_last_error());
  return 0;
}
