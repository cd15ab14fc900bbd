// einsum_ir as a library that `ricci-bench contract --einsum-ir` opens. Nothing of the build compiles this; it is made
// against a user's einsum_ir and LIBXSMM, where EIR is einsum_ir/src:
//
//   g++ -std=gnu++17 -O2 -fPIC -shared -fopenmp -DPP_NDEBUG -DEINSUM_IR_USE_OPENMP -DPP_EINSUM_IR_HAS_LIBXSMM \
//     -DPP_EINSUM_IR_HAS_BLAS -I$EIR -Ilibxsmm/include -Itools -o libeinsum_ir.so tools/peers/adapters/einsum_ir.cpp \
//     $(find $EIR/backend $EIR/basic -name '*.cpp' ! -name '*test*' ! -name '*Tblis*' ! -path '*third_party*') \
//     -Llibxsmm/lib -lxsmm -lopenblas
//
// Its loops stand around LIBXSMM's small products or around those of BLAS: two ways. Products of f64 by LIBXSMM
// (1.17-3808 and 2.0.0) with AVX-512 have wrong elements in the last rows where their number is no multiple of 8
// (libxsmm_dispatch_gemm of 229 x 31 x 229; right with LIBXSMM_TARGET=hsw): the bench refuses the first way there.
#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "backend/BinaryContractionFactory.h"
#include "backend/MemoryManager.h"
#include "peers/adapters/contraction_adapter.h"

namespace {

struct Way {
  const char* name;
  einsum_ir::backend_t primitives;
};
constexpr Way kWays[] = {{"einsum_ir", einsum_ir::backend_t::TPP}, {"einsum_ir blas", einsum_ir::backend_t::BLAS}};

struct Plan {
  std::map<std::int64_t, std::int64_t> extents;
  std::vector<std::int64_t> left, right, result, loops;
  bool swapped = false;
  einsum_ir::backend::MemoryManager memory;
  std::unique_ptr<einsum_ir::backend::BinaryContraction> contraction;

  void run(void* to, const void* first, const void* second) const {
    contraction->contract(swapped ? second : first, swapped ? first : second, to);
  }
};

std::vector<std::int64_t> axes_of(const ricci_adapter_tensor& tensor, std::map<std::int64_t, std::int64_t>& extents) {
  std::vector<std::int64_t> axes;
  for (int k = 0; k < tensor.rank; ++k) {
    axes.push_back(tensor.axes[k]);
    extents[tensor.axes[k]] = tensor.extents[k];
  }
  return axes;
}

/// Whether the second operand is the one with the result's fastest axis that is not of both: the library's matrix
/// products are column-major.
bool is_swapped(const Plan& plan) {
  const auto has = [](const std::vector<std::int64_t>& axes, std::int64_t axis) {
    return std::find(axes.begin(), axes.end(), axis) != axes.end();
  };
  for (auto axis = plan.result.rbegin(); axis != plan.result.rend(); ++axis) {
    if (has(plan.left, *axis) != has(plan.right, *axis)) return has(plan.right, *axis);
  }
  return false;
}

std::unique_ptr<Plan> compiled(const ricci_adapter_contraction& problem, einsum_ir::backend_t primitives) {
  using namespace einsum_ir;
  auto plan = std::make_unique<Plan>();
  plan->left = axes_of(problem.first, plan->extents);
  plan->right = axes_of(problem.second, plan->extents);
  plan->result = axes_of(problem.result, plan->extents);
  plan->swapped = is_swapped(*plan);
  if (plan->swapped) std::swap(plan->left, plan->right);
  plan->contraction.reset(backend::BinaryContractionFactory::create(primitives));
  const auto type = problem.type == 1 ? FP64 : FP32;
  const auto rank = [](const std::vector<std::int64_t>& axes) { return static_cast<std::int64_t>(axes.size()); };
  plan->contraction->init(rank(plan->left), rank(plan->right), rank(plan->result), &plan->extents, &plan->extents,
                          &plan->extents, nullptr, &plan->extents, &plan->loops, plan->left.data(), plan->right.data(),
                          plan->result.data(), nullptr, nullptr, &plan->memory, type, type, type, type, ZERO, MADD,
                          UNDEFINED_KTYPE, problem.threads);
  if (plan->contraction->compile() != SUCCESS) return nullptr;
  plan->memory.alloc_all_memory();
  return plan;
}

}  // namespace

extern "C" const char* ricci_adapter_name(int way) { return way < 2 ? kWays[way].name : nullptr; }

extern "C" void* ricci_adapter_plan(const ricci_adapter_contraction* problem, int way) {
  return compiled(*problem, kWays[way].primitives).release();
}

extern "C" void ricci_adapter_run(void* plan, void* result, const void* first, const void* second) {
  static_cast<Plan*>(plan)->run(result, first, second);
}

extern "C" void ricci_adapter_destroy(void* plan) { delete static_cast<Plan*>(plan); }
