// The program `ricci`: its subcommands meet here.
#include "cli/subcommands.hpp"

int main(int argc, char** argv) {
  using namespace ricci::tools;
  return run_program(
      {"ricci",
       "Tensor index notation to kernels at run time.",
       "Examples:\n"
       "  ricci permute 'abc->cab' in.npy -o out.npy       permute a tensor with a kernel made for it\n"
       "  ricci einsum 'ab,bc->ac' a.npy b.npy -o c.npy    multiply and sum tensors\n"
       "  ricci run mp2.ricci v=v.npy eo=eo.npy ev=ev.npy  run a program of such statements\n"
       "  ricci show 'abc->cab' a=48 b=32 c=40             read a kernel\n"
       "  ricci explain 'abc->cab' a=48 b=32 c=40          what else was considered\n"
       "  ricci tune cases.csv                             measure the best kernels for a list of problems\n"
       "  ricci cache ls                                   the kernels on disk\n"
       "  ricci doctor                                     which compilers and devices were found",
       {add_permute, add_einsum, add_run, add_show, add_explain, add_tune, add_cache, add_doctor, add_version},
       {{"bench", "sets of problems are timed by the program ricci-bench, such as `ricci-bench permute cases.csv`"}}},
      argc, argv);
}
