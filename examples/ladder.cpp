// The particle-particle ladder of coupled cluster doubles over the ranks of an MPI program: R(a,b,i,j) = sum over e, f
// of V(a,b,e,f) * T(e,f,i,j), then R(a,b,i,j) + R(b,a,j,i). V is the large one: it stays where it is.
#include <chrono>
#include <cmath>
#include <cstdio>

#include "ricci/dist.hpp"
#include "support/options.hpp"

namespace {

namespace dist = ricci::dist;

// Integrals and amplitudes that are products of functions of one orbital, so that the result is known in closed form.
double g(std::int64_t p) { return 1 / (1.0 + static_cast<double>(p)); }
double h(std::int64_t p) { return std::cos(static_cast<double>(p)); }

/// f(p, q, r, s) for each element of a tile.
template <class Function>
void for_each_element(const dist::Tile& tile, Function&& f) {
  const auto& n = tile.extents;
  for (std::int64_t p = 0; p < n[0]; ++p) {
    for (std::int64_t q = 0; q < n[1]; ++q) {
      for (std::int64_t r = 0; r < n[2]; ++r) {
        for (std::int64_t s = 0; s < n[3]; ++s) {
          f(tile.first[0] + p, tile.first[1] + q, tile.first[2] + r, tile.first[3] + s);
        }
      }
    }
  }
}

void fill(dist::Tensor& tensor, double (*element)(std::int64_t, std::int64_t, std::int64_t, std::int64_t)) {
  tensor.fill([element](const dist::Tile& tile, void* to) {
    auto* next = static_cast<double*>(to);
    for_each_element(tile, [&](auto p, auto q, auto r, auto s) { *next++ = element(p, q, r, s); });
  });
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Calls a plan once to have its memory, then `calls` times; rank 0 tells what a call took.
void time(dist::Engine& engine, const char* name, const dist::Plan& plan, std::int64_t calls) {
  plan();
  engine.wait();
  double submission = 0, total = 0;
  for (std::int64_t call = 0; call < calls; ++call) {
    const auto start = std::chrono::steady_clock::now();
    plan();
    submission += seconds_since(start);
    engine.wait();
    total += seconds_since(start);
  }
  if (engine.rank() > 0) return;
  const auto submitted = static_cast<double>(plan.info().submitted * calls);
  std::printf("%-12s %s%-12s %.4g s a call, %.3g us for each task or transfer that this rank submits\n", name,
              plan.explain().c_str(), "measured", total / static_cast<double>(calls), submission / submitted * 1e6);
}

int run(const examples::Options& options) {
  const auto nv = options.number("nv"), no = options.number("no"), tile = options.number("tile");
  dist::Engine engine;
  const int rows = static_cast<int>(std::sqrt(engine.size()));
  const auto grid = engine.grid({rows, engine.size() / rows});
  const auto on_grid = grid.cyclic({{0, 2}, {1, 3}});
  auto v = engine.tensor(ricci::DType::f64, {nv, nv, nv, nv}, {tile}, on_grid);
  auto t = engine.tensor(ricci::DType::f64, {nv, nv, no, no}, {tile, tile, no, no}, grid.cyclic({{0}, {1}}));
  auto r = engine.tensor_like(t);
  auto residual = engine.tensor_like(t);
  fill(v, [](auto a, auto b, auto e, auto f) { return g(a) * h(b) * g(e) * h(f); });
  fill(t, [](auto e, auto f, auto i, auto j) { return h(e) * g(f) * g(i) * h(j); });

  const auto ladder = engine.plan_einsum("abef,efij->abij", {v, t}, r);
  const auto copy = engine.plan_permute("abij->abij", r, residual);
  const auto add_exchanged = engine.plan_permute("abij->baji", r, residual, {.beta = 1});
  time(engine, "ladder", ladder, options.number("calls"));
  time(engine, "exchange", add_exchanged, options.number("calls"));
  copy();
  add_exchanged();

  double sum = 0;
  for (std::int64_t e = 0; e < nv; ++e) sum += g(e) * h(e);
  double worst = 0;
  for (std::int64_t number = 0; number < residual.tile_count(); ++number) {
    const auto at = residual.tile(number);
    std::vector<double> elements(static_cast<std::size_t>(at.extents[0] * at.extents[1] * no * no));
    residual.read(at.first, at.extents, elements.data());
    if (engine.rank() > 0) continue;
    const double* next = elements.data();
    for_each_element(at, [&](auto a, auto b, auto i, auto j) {
      const double exact = sum * sum * (g(a) * h(b) * g(i) * h(j) + g(b) * h(a) * g(j) * h(i));
      worst = std::max(worst, std::fabs(*next++ - exact));
    });
  }
  if (engine.rank() == 0)
    std::printf("difference   %.1e of the exact residual, whose largest element is %.3g\n", worst, 2 * sum * sum);
  return worst <= 1e-11 * sum * sum ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return examples::run_example(
      argc, argv,
      "ladder: the particle-particle ladder of coupled cluster doubles over the ranks of mpirun, by tiles; nv virtual\n"
      "and no occupied orbitals",
      {{"nv", "24"}, {"no", "6"}, {"tile", "8"}, {"calls", "3"}}, run);
}
