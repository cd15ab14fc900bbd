// The MP2 correlation energy of a closed-shell molecule over the ranks of an MPI program: the integrals are transformed
// in tiles, and each pair of blocks of virtual orbitals is a task.
#include <cstdio>

#include "ricci/dist.hpp"
#include "ricci/ricci.hpp"
#include "support/molecule.hpp"
#include "support/options.hpp"

namespace {

namespace dist = ricci::dist;
using Extents = std::vector<std::int64_t>;

/// The energy of a block of virtual orbitals a with one of b, over all pairs of occupied ones.
constexpr const char* kPairs = R"(
program pairs
index i j a b
input vab(i, a, j, b) : f64
input vba(i, b, j, a) : f64
input eo(i) : f64
input ea(a) : f64
input eb(b) : f64
output E() : f64
E() = sum(i a j b, vab(i, a, j, b) * (2.0 * vab(i, a, j, b) - vba(i, b, j, a)) / (eo(i) + eo(j) - ea(a) - eb(b)))
)";

int run(const examples::Options& options) {
  const auto molecule = examples::read_molecule(options.text("data"), false);
  const auto n = molecule.atomic, o = molecule.occupied, v = molecule.virtuals;
  const auto an = options.number("tile"), av = options.number("block");  // extents of tiles
  dist::Engine engine;
  const auto grid = engine.grid({engine.size()});
  const auto make = [&](const Extents& extents, const Extents& tiles, std::vector<int> divided) {
    return engine.tensor(ricci::DType::f64, extents, tiles, grid.cyclic({std::move(divided)}));
  };
  const auto bring = [&](const std::vector<double>& values, const Extents& extents, const Extents& tiles,
                         std::vector<int> divided) {  // from the files that rank 0 has read
    auto tensor = make(extents, tiles, std::move(divided));
    tensor.write(Extents(extents.size(), 0), extents, values.data());
    return tensor;
  };
  const auto eri = bring(molecule.eri, {n, n, n, n}, {an}, {0, 1});
  const auto co = bring(molecule.Co, {n, o}, {an, o}, {0});
  const auto cv = bring(molecule.Cv, {n, v}, {an, av}, {1});
  const auto eo = bring(molecule.eo, {o}, {o}, {});
  const auto ev = bring(molecule.ev, {v}, {av}, {0});

  // An index at a time, so that each result is smaller than the one before.
  const auto step = [&](const char* spec, const dist::Tensor& from, const dist::Tensor& orbitals, dist::Tensor to) {
    engine.plan_einsum(spec, {from, orbitals}, to)();
    return to;
  };
  const auto first = step("pqrs,pi->iqrs", eri, co, make({o, n, n, n}, {o, an, an, an}, {1, 2}));
  const auto second = step("iqrs,rj->iqjs", first, co, make({o, n, o, n}, {o, an, o, an}, {1, 3}));
  const auto third = step("iqjs,qa->iajs", second, cv, make({o, v, o, n}, {o, av, o, an}, {1, 3}));
  const auto integrals = step("iajs,sb->iajb", third, cv, make({o, v, o, v}, {o, av, o, av}, {1, 3}));

  const auto pairs = engine.plan_blocks(ricci::Program::parse(kPairs), "a >= b",
                                        {{"vab", integrals, "i a j b"},
                                         {"vba", integrals, "i b j a"},
                                         {"eo", eo, "i"},
                                         {"ea", ev, "a"},
                                         {"eb", ev, "b"}});
  const double energy = pairs.reduce().at(0);
  if (engine.rank() > 0) return 0;  // it has the same bits
  std::printf("%s", pairs.explain().c_str());
  return examples::compare_energy(energy, options.text("data"), "e_mp2_corr");
}

}  // namespace

int main(int argc, char** argv) {
  return examples::run_example(argc, argv,
                               "mp2_ranks: the MP2 correlation energy over the ranks of mpirun, of water in the basis "
                               "cc-pVDZ unless --data\nnames another molecule's folder; --tile and --block are the "
                               "extents of tiles of atomic and virtual orbitals",
                               {{"data", RICCI_EXAMPLES_DIR "/data/h2o_ccpvdz"}, {"tile", "12"}, {"block", "8"}}, run);
}
