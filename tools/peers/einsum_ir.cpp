// einsum_ir (github.com/scalable-analyses/einsum_ir), through the adapter that adapters/einsum_ir.cpp makes of it, and
// the table of all libraries of contractions.
#include <array>

#include "peers/adapters/contraction_adapter.h"
#include "peers/contraction.hpp"

namespace ricci::tools {
namespace {

ricci_adapter_tensor tensor_of(const PeerContraction::Tensor& tensor) {
  return {static_cast<int>(tensor.axes.size()), tensor.axes.c_str(), tensor.extents.data()};
}

class EinsumIr : public ContractionLibrary {
 public:
  explicit EinsumIr(const std::string& file) : library_(file, "einsum_ir") {
    name_ = reinterpret_cast<decltype(name_)>(library_.find({"ricci_adapter_name"}));
    plan_ = reinterpret_cast<decltype(plan_)>(library_.find({"ricci_adapter_plan"}));
    run_ = reinterpret_cast<decltype(run_)>(library_.find({"ricci_adapter_run"}));
    destroy_ = reinterpret_cast<decltype(destroy_)>(library_.find({"ricci_adapter_destroy"}));
  }

  std::vector<PeerRun> prepare(const PeerContraction& problem, void* result, const void* first,
                               const void* second) override {
    if ((problem.type != DType::f32 && problem.type != DType::f64) || problem.adds) return {};
    const ricci_adapter_contraction given{problem.type == DType::f64 ? 1 : 0, problem.threads, tensor_of(problem.first),
                                          tensor_of(problem.second), tensor_of(problem.result)};
    std::vector<PeerRun> runs;
    for (int way = 0; const char* name = name_(way); ++way) {
      const std::shared_ptr<void> plan(plan_(&given, way), [destroy = destroy_](void* made) {
        if (made != nullptr) destroy(made);
      });
      if (plan == nullptr) {
        runs.push_back({name, {}, "the library compiles no such contraction"});
      } else {
        runs.push_back({name, [=, run = run_] { run(plan.get(), result, first, second); }, {}});
      }
    }
    return runs;
  }

 private:
  SharedLibrary library_;
  decltype(&ricci_adapter_name) name_;
  decltype(&ricci_adapter_plan) plan_;
  decltype(&ricci_adapter_run) run_;
  decltype(&ricci_adapter_destroy) destroy_;
};

}  // namespace

std::unique_ptr<ContractionLibrary> open_einsum_ir(const std::string& file) { return std::make_unique<EinsumIr>(file); }

}  // namespace ricci::tools
