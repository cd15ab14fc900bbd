// The program `ricci-bench`: sets of problems, timed.
#include "bench/benches.hpp"

int main(int argc, char** argv) {
  using namespace ricci::tools;
  return run_program(
      {"ricci-bench",
       "Times sets of problems, beside copies of the same size and beside other libraries.",
       "Examples:\n"
       "  ricci-bench permute bench/problems/ttc57.csv --dtype f32            permutations\n"
       "  ricci-bench permute bench/problems/ttc57.csv --hptt libhptt.so      the same, in turns with HPTT\n"
       "  ricci-bench sweep bench/problems/ttc57.csv --every 8                at one size after the other\n"
       "  ricci-bench einsum bench/problems/tccg48.csv --device gpu           contractions\n"
       "  ricci-bench run examples/programs/grid/eq1*.ricci --extent x=1000000  programs",
       {add_bench_permute, add_bench_sweep, add_bench_einsum, add_bench_contract, add_bench_predict, add_bench_run},
       {}},
      argc, argv);
}
