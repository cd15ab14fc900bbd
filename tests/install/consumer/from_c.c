/* Ricci from C: permutes a 2 x 3 x 4 tensor and compares with a plain loop; then lets a call fail. */
#include <ricci/ricci.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  const int64_t in_extents[] = {2, 3, 4}, out_extents[] = {4, 2, 3};
  const ricci_layout in = {RICCI_F64, 3, in_extents, NULL, 0}, out = {RICCI_F64, 3, out_extents, NULL, 0};
  double a[2][3][4], b[4][2][3];
  int i, j, k, wrong = 0;
  ricci_plan* plan = NULL;

  for (i = 0; i < 24; ++i) (&a[0][0][0])[i] = i;
  if (ricci_plan_permute(NULL, "abc->cab", &in, &out, NULL, &plan) != RICCI_OK) {
    fprintf(stderr, "%s\n", ricci_last_error());
    return 1;
  }
  if (ricci_plan_execute(plan, b, a, NULL) != RICCI_OK) {
    fprintf(stderr, "%s\n", ricci_last_error());
    return 1;
  }
  for (i = 0; i < 2; ++i)
    for (j = 0; j < 3; ++j)
      for (k = 0; k < 4; ++k) wrong += b[k][i][j] != a[i][j][k];
  if (wrong != 0 || strstr(ricci_plan_source(plan), "extern \"C\"") == NULL) {
    fprintf(stderr, "%d elements are wrong, or the source shows no kernel:\n%s", wrong, ricci_plan_source(plan));
    return 1;
  }
  ricci_plan_release(plan);

  plan = NULL;
  if (ricci_plan_permute(NULL, "abc->cad", &in, &out, NULL, &plan) != RICCI_ERROR_SPEC || plan != NULL ||
      strstr(ricci_last_error(), "d") == NULL) {
    fprintf(stderr, "a bad spec was not refused: \"%s\"\n", ricci_last_error());
    return 1;
  }
  printf("ricci %s from C: ok\n", ricci_version());
  return 0;
}
