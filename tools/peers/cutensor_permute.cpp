// cuTENSOR's permutation: one plan for each problem, by its own model, called with alpha = 1.
#include <numeric>

#include "peers/cutensor.hpp"
#include "ricci/error.hpp"

namespace ricci::tools {
namespace {

using cutensor::Owned;
using cutensor::Session;

/// A plan and all that it may look at as long as it lives.
struct Permutation {
  Permutation(std::shared_ptr<const Session> made_by, const PeerProblem& problem)
      : session(std::move(made_by)),
        a(session->call.destroy_tensor_descriptor),
        b(session->call.destroy_tensor_descriptor),
        operation(session->call.destroy_operation_descriptor),
        preference(session->call.destroy_plan_preference),
        plan(session->call.destroy_plan) {
    const auto& call = session->call;
    const auto handle = session->handle;
    // Modes with the fastest first.
    const auto rank = problem.extents.size();
    std::vector<std::int64_t> a_extents(problem.extents.rbegin(), problem.extents.rend()), b_extents;
    std::vector<std::int32_t> a_modes(rank), b_modes;
    std::iota(a_modes.rbegin(), a_modes.rend(), 0);
    for (std::size_t k = rank; k-- > 0;) {
      b_modes.push_back(problem.order[k]);
      b_extents.push_back(problem.extents[static_cast<std::size_t>(problem.order[k])]);
    }
    const int data = *cutensor::data_type(problem.type);
    session->describe(a.place(), a_extents, data);
    session->describe(b.place(), b_extents, data);
    const bool twice = problem.type == DType::f64 || problem.type == DType::c128;
    session->check(
        call.create_permutation(handle, operation.place(), a.get(), a_modes.data(), cutensor::kOpIdentity, b.get(),
                                b_modes.data(),
                                session->compute(twice ? "CUTENSOR_COMPUTE_DESC_64F" : "CUTENSOR_COMPUTE_DESC_32F")),
        "cutensorCreatePermutation");
    one = cutensor::scalar(session->scalar_type(operation.get()), 1);
    session->check(
        call.create_plan_preference(handle, preference.place(), cutensor::kAlgoDefault, cutensor::kJitModeNone),
        "cutensorCreatePlanPreference");
    session->check(call.create_plan(handle, plan.place(), operation.get(), preference.get(), 0), "cutensorCreatePlan");
  }

  void run(void* to, const void* from) const {
    session->check(session->call.permute(session->handle, plan.get(), &one, from, to, nullptr), "cutensorPermute");
  }

  std::shared_ptr<const Session> session;
  Owned<cutensor::TensorDescriptor> a, b;
  Owned<cutensor::OperationDescriptor> operation;
  Owned<cutensor::PlanPreference> preference;
  Owned<cutensor::Plan> plan;
  cutensor::Scalar one{};
};

class Permutations : public PeerLibrary {
 public:
  explicit Permutations(const std::string& file) : session_(std::make_shared<Session>(file)) {}

  std::vector<PeerRun> prepare(const PeerProblem& problem, void* to, const void* from) override {
    if (!cutensor::data_type(problem.type)) return {};
    session_->start();
    PeerRun peer{"cutensor", {}, {}};
    try {
      const auto permutation = std::make_shared<const Permutation>(session_, problem);
      peer.run = [permutation, to, from] { permutation->run(to, from); };
    } catch (const DeviceError& error) {
      peer.refused = error.what();
    }
    return {peer};
  }

 private:
  std::shared_ptr<Session> session_;
};

}  // namespace

std::unique_ptr<PeerLibrary> open_cutensor(const std::string& file) { return std::make_unique<Permutations>(file); }

}  // namespace ricci::tools
