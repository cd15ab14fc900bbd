// What `ricci-bench einsum`, `contract` and `run` share: plans that compute, in memory of their own, and their rows.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/results.hpp"
#include "io/cases.hpp"
#include "peers/library.hpp"
#include "ricci/ricci.hpp"

namespace ricci::tools {

/// A plan with memory of its own on the bench's device.
struct Loaded {
  Plan plan;
  std::vector<void*> outputs;
  std::vector<const void*> inputs;
  Call call;
  std::vector<Scalar> params;
  double operations;  ///< of a call: the plan's, unless it is told otherwise

  Loaded(Bench& bench, Plan made);
  void operator()() const { plan(outputs, inputs, call); }
};

/// The plan of a case with operands of a type: its result is of result_type().
Plan plan_of(Runtime& runtime, const EinsumCase& c, const Spec& spec, DType type, const EinsumOptions& einsum);
/// Its operations: what the plan counts, or of two tensors of integers the multiplications and additions of all terms.
double operations_of(const Plan& plan, const EinsumCase& c, const Spec& spec);

/// The largest copy that a case is timed beside, in bytes: buffers of the bench are as large.
constexpr std::int64_t kMostCopied = 512 << 20;

/// A large matrix product on the bench's device, of n x n matrices: Ricci's own, by its model, so that measuring cases
/// does not move their limit, and a BLAS library's, where one is named. It lives until the bench releases what it
/// allocated.
struct LargeProduct {
  std::vector<std::function<void()>> ways;
  double flops = 0;

  /// GF/s of the faster way, by the milliseconds that each takes.
  [[nodiscard]] double rate(std::span<const double> ms) const;
};
LargeProduct large_product(Bench& bench, Runtime& runtime, EinsumOptions einsum, DType type, std::int64_t n,
                           const std::string& blas = {});

/// Its rate alone, in GF/s: of 8192 x 8192 matrices on a GPU, else of 2048 x 2048.
double product_rate(Bench& bench, Runtime& runtime, const EinsumOptions& einsum, DType type, int repeat,
                    const std::string& blas = {});

/// Times one plan beside a copy of as many bytes as it must move, at most kMostCopied, and beside a large product where
/// one is given, in turns with others that run; the row in the results, in which each of the others is a peer, and
/// `model_ms` what the model's plan took, if given.
Json& time_plan(Bench& bench, Runtime& runtime, const std::string& id, const Loaded& loaded, int repeat,
                BenchResults& results, const std::vector<PeerRun>& others = {},
                const std::optional<PeerRun>& by_model = std::nullopt, const LargeProduct& product = {});

void print_head();
/// A row of the results, with what a bench has to say beside.
void print_row(const Json& row, const std::string& note);

/// --device, --repeat, --threads, --output and --commit.
void add_computing(Command& command, BenchOptions& options);

}  // namespace ricci::tools
