// cuTENSOR's contraction: a plan by each of its algorithms, with as much workspace as it asks for; alpha = 1, beta = 0.
#include <algorithm>
#include <array>

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
  Contraction(std::shared_ptr<const Session> made_by, const PeerContraction& problem, int algorithm)
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
    const auto describe = [&](cutensor::TensorDescriptor* place, const PeerContraction::Tensor& tensor) {
      session->describe(place, {tensor.extents.rbegin(), tensor.extents.rend()}, data);
      return std::vector<std::int32_t>(tensor.axes.rbegin(), tensor.axes.rend());
    };
    const auto a_modes = describe(a.place(), problem.first);
    const auto b_modes = describe(b.place(), problem.second);
    const auto c_modes = describe(c.place(), problem.result);
    session->check(
        call.create_contraction(handle, operation.place(), a.get(), a_modes.data(), cutensor::kOpIdentity, b.get(),
                                b_modes.data(), cutensor::kOpIdentity, c.get(), c_modes.data(), cutensor::kOpIdentity,
                                c.get(), c_modes.data(), session->compute(compute(problem))),
        "cutensorCreateContraction");
    const int type = session->scalar_type(operation.get());
    one = cutensor::scalar(type, true);
    zero = cutensor::scalar(type, false);
    session->check(call.create_plan_preference(handle, preference.place(), algorithm, cutensor::kJitModeNone),
                   "cutensorCreatePlanPreference");
    session->check(call.estimate_workspace(handle, operation.get(), preference.get(), cutensor::kWorkspaceMax, &bytes),
                   "cutensorEstimateWorkspaceSize");
    session->check(call.create_plan(handle, plan.place(), operation.get(), preference.get(), bytes),
                   "cutensorCreatePlan");
  }

  void run(void* to, const void* first, const void* second, void* workspace) const {
    session->check(session->call.contract(session->handle, plan.get(), &one, first, second, &zero, to, to, workspace,
                                          bytes, nullptr),
                   "cutensorContract");
  }

  std::shared_ptr<const Session> session;
  Owned<cutensor::TensorDescriptor> a, b, c;
  Owned<cutensor::OperationDescriptor> operation;
  Owned<cutensor::PlanPreference> preference;
  Owned<cutensor::Plan> plan;
  cutensor::Scalar one{}, zero{};
  std::uint64_t bytes = 0;
};

class Contractions : public ContractionLibrary {
 public:
  explicit Contractions(const std::string& file) : session_(std::make_shared<Session>(file)) {}

  std::vector<PeerRun> prepare(const PeerContraction& problem, void* result, const void* first,
                               const void* second) override {
    if (!cutensor::data_type(problem.type) || problem.adds) return {};
    session_->start();
    std::vector<std::shared_ptr<const Contraction>> made;
    std::string refused;
    std::uint64_t bytes = 0;
    for (const int algorithm : kAlgorithms) {
      try {
        made.push_back(std::make_shared<const Contraction>(session_, problem, algorithm));
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
