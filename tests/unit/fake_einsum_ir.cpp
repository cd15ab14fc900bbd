// An adapter in the place of einsum_ir's: plain loops, and a second way that refuses all.
#include "fake_contraction.hpp"
#include "peers/adapters/contraction_adapter.h"

namespace {

int alive = 0;

struct Plan {
  ricci::fake::Tensor first, second, result;
  int type;
};

ricci::fake::Tensor as_loops(const ricci_adapter_tensor& tensor) {
  ricci::fake::Tensor made{
      {tensor.axes, tensor.axes + tensor.rank}, {tensor.extents, tensor.extents + tensor.rank}, {}};
  made.strides.assign(made.extents.size(), 1);
  for (std::size_t k = made.strides.size(); k-- > 1;) made.strides[k - 1] = made.strides[k] * made.extents[k];
  return made;
}

template <class T>
void run(const Plan& plan, void* result, const void* first, const void* second) {
  ricci::fake::contract(plan.first, static_cast<const T*>(first), plan.second, static_cast<const T*>(second),
                        plan.result, static_cast<T*>(result));
}

}  // namespace

extern "C" const char* ricci_adapter_name(int way) {
  return way == 0 ? "einsum_ir" : way == 1 ? "einsum_ir blas" : nullptr;
}
extern "C" void* ricci_adapter_plan(const ricci_adapter_contraction* problem, int way) {
  if (way == 1) return nullptr;
  ++alive;
  return new Plan{as_loops(problem->first), as_loops(problem->second), as_loops(problem->result), problem->type};
}
extern "C" void ricci_adapter_run(void* plan, void* result, const void* first, const void* second) {
  const auto& made = *static_cast<Plan*>(plan);
  if (made.type == 0) run<float>(made, result, first, second);
  if (made.type == 1) run<double>(made, result, first, second);
}
extern "C" void ricci_adapter_destroy(void* plan) {
  --alive;
  delete static_cast<Plan*>(plan);
}
extern "C" int fake_alive() { return alive; }
