// cuTT's permutation, by the plan that its heuristic takes and by the one that it measures to be fastest.
#include <fmt/format.h>

#include <array>
#include <climits>
#include <utility>

#include "peers/api.hpp"
#include "peers/library.hpp"
#include "ricci/error.hpp"

namespace ricci::tools {
namespace {

constexpr std::array kStatus = {"success",        "invalid plan",   "invalid parameter",
                                "invalid device", "internal error", "undefined error"};

std::string status_text(const char* function, int status) {
  const bool known = status >= 0 && static_cast<std::size_t>(status) < kStatus.size();
  return fmt::format("{}: {} ({})", function, known ? kStatus[static_cast<std::size_t>(status)] : "unknown status",
                     status);
}

struct Session {
  explicit Session(const std::string& file) : library(file, "cuTT") {
    const auto load = [&](auto& function, const char* name, const char* mangled) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(library.find({name, mangled}));
    };
    load(call.plan, "cuttPlan", "_Z8cuttPlanPjiPiS0_mP11CUstream_st");
    load(call.plan_measure, "cuttPlanMeasure", "_Z15cuttPlanMeasurePjiPiS0_mP11CUstream_stPvS3_");
    load(call.execute, "cuttExecute", "_Z11cuttExecutejPvS_");
    load(call.destroy, "cuttDestroy", "_Z11cuttDestroyj");
  }

  SharedLibrary library;
  cutt::Functions call{};
};

/// cuTT moves 4 and 8 bytes, refuses extents of 1, and counts elements in 32 bits.
struct Problem {
  std::vector<int> extents, order;  ///< fastest first, without extents of 1
  std::size_t element_bytes;

  explicit Problem(const PeerProblem& problem) : element_bytes(static_cast<std::size_t>(size_of(problem.type))) {
    const auto rank = static_cast<int>(problem.extents.size());
    std::vector<int> place(problem.extents.size(), -1);  // of the input's axes, among those that are kept
    for (int k = rank - 1; k >= 0; --k) {
      const auto n = problem.extents[static_cast<std::size_t>(k)];
      elements_ *= n;
      if (n == 1) continue;
      place[static_cast<std::size_t>(k)] = static_cast<int>(extents.size());
      extents.push_back(n > INT_MAX ? 0 : static_cast<int>(n));
    }
    for (int k = rank - 1; k >= 0; --k) {
      const int axis = place[static_cast<std::size_t>(problem.order[static_cast<std::size_t>(k)])];
      if (axis >= 0) order.push_back(axis);
    }
  }
  bool taken() const {
    return (element_bytes == 4 || element_bytes == 8) && extents.size() > 1 && elements_ > 0 && elements_ <= INT_MAX;
  }

 private:
  std::int64_t elements_ = 1;
};

class Plan {
 public:
  Plan(std::shared_ptr<const Session> session, cutt::Handle handle) : session_(std::move(session)), handle_(handle) {}
  ~Plan() { session_->call.destroy(handle_); }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  void run(void* to, const void* from) const {
    const int status = session_->call.execute(handle_, const_cast<void*>(from), to);
    if (status != cutt::kSuccess) throw DeviceError(status_text("cuttExecute", status));
  }

 private:
  std::shared_ptr<const Session> session_;
  cutt::Handle handle_;
};

class Cutt : public PeerLibrary {
 public:
  explicit Cutt(const std::string& file) : session_(std::make_shared<Session>(file)) {}

  std::vector<PeerRun> prepare(const PeerProblem& asked, void* to, const void* from) override {
    Problem problem(asked);
    if (!problem.taken()) return {};
    const auto& call = session_->call;
    const int rank = static_cast<int>(problem.extents.size());
    cutt::Handle handle = 0;
    const auto made = [&](const char* name, const char* function, int status) -> PeerRun {
      if (status != cutt::kSuccess) return {name, {}, status_text(function, status)};
      const auto plan = std::make_shared<const Plan>(session_, handle);
      return {name, [plan, to, from] { plan->run(to, from); }, {}};
    };
    auto* const extents = problem.extents.data();
    auto* const order = problem.order.data();
    std::vector<PeerRun> runs;
    int status = call.plan(&handle, rank, extents, order, problem.element_bytes, nullptr);
    runs.push_back(made("cutt", "cuttPlan", status));
    status =
        call.plan_measure(&handle, rank, extents, order, problem.element_bytes, nullptr, const_cast<void*>(from), to);
    runs.push_back(made("cutt measured", "cuttPlanMeasure", status));
    return runs;
  }

 private:
  std::shared_ptr<const Session> session_;
};

}  // namespace

std::unique_ptr<PeerLibrary> open_cutt(const std::string& file) { return std::make_unique<Cutt>(file); }

}  // namespace ricci::tools
