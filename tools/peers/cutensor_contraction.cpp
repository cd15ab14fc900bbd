// cuTENSOR's contraction: a plan by each of its algorithms, with as much workspace as it asks for. Of sums
// that are added to the result, by the patient default alone.
#include <algorithm>
#include <array>
#include <cstdint>

#include "peers/contraction.hpp"
#include "peers/cutensor.hpp"
#include "ricci/error.hpp"

namespace ricci::tools {
namespace {

using cutensor::Owned;
using cutensor::Session;

constexpr std::array kAlgorithms = {cutensor::kAlgoDefault, cutensor::kAlgoDefaultPatient, cutensor::kAlgoGett,
                                    cutensor::kAlgoTgett, cutensor::kAlgoTtgt};

/// The variable that holds the compute descriptor.
const char* compute(const PeerContraction& problem) {
  if (problem.type == DType::f64 || problem.type == DType::c128) return "CUTENSOR_COMPUTE_DESC_64F";
  switch (problem.precision) {
    case Precision::tf32:
      return "CUTENSOR_COMPUTE_DESC_TF32";
    case Precision::tf32x3:
      return "CUTENSOR_COMPUTE_DESC_3XTF32";
    case Precision::bf16:
      return "CUTENSOR_COMPUTE_DESC_16BF";
    case Precision::f16:
      return "CUTENSOR_COMPUTE_DESC_16F";
    default:
      return "CUTENSOR_COMPUTE_DESC_32F";
  }
}

/// A plan and all that it may look at as long as it lives.
struct Contraction {
  ///   memory  of the result and of both factors
  Contraction(std::shared_ptr<const Session> made_by, const PeerContraction& problem, int algorithm,
              const std::array<const void*, 3>& memory)
      : session(std::move(made_by)),
        a(session->call.destroy_tensor_descriptor),
        b(session->call.destroy_tensor_descriptor),
        c(session->call.destroy_tensor_descriptor),
        operation(session->call.destroy_operation_descriptor),
        preference(session->call.destroy_plan_preference),
        plan(session->call.destroy_plan) {
    const auto& call = session->call;
    const auto handle = session->handle;
    const int data = *cutensor::data_type(problem.type);
    const auto describe = [&](cutensor::TensorDescriptor* place, const PeerContraction::Tensor& tensor,
                              const void* at) {
      const auto alignment = std::min(reinterpret_cast<std::uintptr_t>(at) & -reinterpret_cast<std::uintptr_t>(at),
                                      std::uintptr_t{cutensor::kAlignment});
      session->describe(place, {tensor.extents.rbegin(), tensor.extents.rend()}, data,
                        {tensor.strides.rbegin(), tensor.strides.rend()}, static_cast<std::uint32_t>(alignment));
      return std::vector<std::int32_t>(tensor.axes.rbegin(), tensor.axes.rend());
    };
    const auto a_modes = describe(a.place(), problem.first, memory[1]);
    const auto b_modes = describe(b.place(), problem.second, memory[2]);
    const auto c_modes = describe(c.place(), problem.result, memory[0]);
    session->check(
        call.create_contraction(handle, operation.place(), a.get(), a_modes.data(), cutensor::kOpIdentity, b.get(),
                                b_modes.data(), cutensor::kOpIdentity, c.get(), c_modes.data(), cutensor::kOpIdentity,
                                c.get(), c_modes.data(), session->compute(compute(problem))),
        "cutensorCreateContraction");
    const int type = session->scalar_type(operation.get());
    alpha = cutensor::scalar(type, problem.adds.value_or(1));
    beta = cutensor::scalar(type, problem.adds ? 1 : 0);
    session->check(call.create_plan_preference(handle, preference.place(), algorithm, cutensor::kJitModeNone),
                   "cutensorCreatePlanPreference");
    session->check(call.estimate_workspace(handle, operation.get(), preference.get(), cutensor::kWorkspaceMax, &bytes),
                   "cutensorEstimateWorkspaceSize");
    session->check(call.create_plan(handle, plan.place(), operation.get(), preference.get(), bytes),
                   "cutensorCreatePlan");
  }

  void run(void* to, const void* first, const void* second, void* workspace) const {
    session->check(session->call.contract(session->handle, plan.get(), &alpha, first, second, &beta, to, to, workspace,
                                          bytes, nullptr),
                   "cutensorContract");
  }

  std::shared_ptr<const Session> session;
  Owned<cutensor::TensorDescriptor> a, b, c;
  Owned<cutensor::OperationDescriptor> operation;
  Owned<cutensor::PlanPreference> preference;
  Owned<cutensor::Plan> plan;
  cutensor::Scalar alpha{}, beta{};
  std::uint64_t bytes = 0;
};

class Contractions : public ContractionLibrary {
 public:
  explicit Contractions(const std::string& file) : session_(std::make_shared<Session>(file)) {}

  std::vector<PeerRun> prepare(const PeerContraction& problem, void* result, const void* first,
                               const void* second) override {
    if (!cutensor::data_type(problem.type)) return {};
    session_->start();
    std::vector<std::shared_ptr<const Contraction>> made;
    std::string refused;
    std::uint64_t bytes = 0;
    for (const int algorithm : kAlgorithms) {
      if (problem.adds && algorithm != cutensor::kAlgoDefaultPatient) continue;
      try {
        made.push_back(std::make_shared<const Contraction>(session_, problem, algorithm,
                                                           std::array<const void*, 3>{result, first, second}));
        bytes = std::max(bytes, made.back()->bytes);
      } catch (const DeviceError& error) {
        refused = error.what();  // of the last: no algorithm takes everything, the default one takes most
      }
    }
    if (made.empty()) return {{"cutensor", {}, refused}};
    void* workspace = bytes > 0 ? problem.allocate(static_cast<std::int64_t>(bytes)) : nullptr;
    std::vector<PeerRun> runs;
    for (const auto& contraction : made)
      runs.push_back({"cutensor", [=] { contraction->run(result, first, second, workspace); }, {}});
    return runs;
  }

 private:
  std::shared_ptr<Session> session_;
};

}  // namespace

std::unique_ptr<ContractionLibrary> open_cutensor_contraction(const std::string& file) {
  return std::make_unique<Contractions>(file);
}

}  // namespace ricci::tools
