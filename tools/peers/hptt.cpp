// HPTT (github.com/springer13/hptt, read at 9425386): through its C interface, where each call makes a plan by estimate
// and runs it, and both count; and through its C++ one, plans that are made once.
#include <array>
#include <climits>
#include <complex>
#include <memory>

#include "peers/library.hpp"

namespace ricci::tools {
namespace {

enum Selection : int { kEstimate = 0, kMeasure = 1 };  // hptt::SelectionMethod

/// B = A in another order; sizes with the slowest axis first.
struct Call {
  void* to;
  const void* from;
  std::vector<int> sizes, order;
  int threads;
};

template <class T>
void run(void* function, const Call& call) {
  using Real = void (*)(const int*, int, T, const T*, const int*, const int*, T, T*, const int*, int, int);
  reinterpret_cast<Real>(function)(call.order.data(), static_cast<int>(call.order.size()), T(1),
                                   static_cast<const T*>(call.from), call.sizes.data(), nullptr, T(0),
                                   static_cast<T*>(call.to), nullptr, call.threads, 1);
}

/// std::complex is passed as C's _Complex is.
template <class T>
void run_complex(void* function, const Call& call) {
  using Complex = void (*)(const int*, int, T, bool, const T*, const int*, const int*, T, T*, const int*, int, int);
  reinterpret_cast<Complex>(function)(call.order.data(), static_cast<int>(call.order.size()), T(1), false,
                                      static_cast<const T*>(call.from), call.sizes.data(), nullptr, T(0),
                                      static_cast<T*>(call.to), nullptr, call.threads, 1);
}

/// hptt::create_plan returns a shared pointer to a plan, whose type none of its users needs.
template <class T>
std::shared_ptr<void> plan(void* function, const Call& call, Selection selection) {
  using Create = std::shared_ptr<void> (*)(const int*, int, T, const T*, const int*, const int*, T, T*, const int*, int,
                                           int, const int*, bool);
  return reinterpret_cast<Create>(function)(call.order.data(), static_cast<int>(call.order.size()), T(1),
                                            static_cast<const T*>(call.from), call.sizes.data(), nullptr, T(0),
                                            static_cast<T*>(call.to), nullptr, selection, call.threads, nullptr, true);
}

struct Routine {
  DType type;
  const char* name;
  void (*run)(void*, const Call&);
  const char* create_name;
  std::shared_ptr<void> (*create)(void*, const Call&, Selection);
  const char* execute_name;
};

constexpr std::array kRoutines = {
    Routine{DType::f32, "sTensorTranspose", run<float>,
            "_ZN4hptt11create_planEPKiifPKfS1_S1_fPfS1_NS_15SelectionMethodEiS1_b", plan<float>,
            "_ZN4hptt9TransposeIfE7executeEv"},
    Routine{DType::f64, "dTensorTranspose", run<double>,
            "_ZN4hptt11create_planEPKiidPKdS1_S1_dPdS1_NS_15SelectionMethodEiS1_b", plan<double>,
            "_ZN4hptt9TransposeIdE7executeEv"},
    Routine{DType::c64, "cTensorTranspose", run_complex<std::complex<float>>,
            "_ZN4hptt11create_planEPKiiSt7complexIfEPKS3_S1_S1_S3_PS3_S1_NS_15SelectionMethodEiS1_b",
            plan<std::complex<float>>, "_ZN4hptt9TransposeISt7complexIfEE7executeEv"},
    Routine{DType::c128, "zTensorTranspose", run_complex<std::complex<double>>,
            "_ZN4hptt11create_planEPKiiSt7complexIdEPKS3_S1_S1_S3_PS3_S1_NS_15SelectionMethodEiS1_b",
            plan<std::complex<double>>, "_ZN4hptt9TransposeISt7complexIdEE7executeEv"},
};

class Hptt : public PeerLibrary {
 public:
  Hptt(const std::string& file, bool measured) : library_(file, "HPTT"), measured_(measured) {
    for (std::size_t k = 0; k < kRoutines.size(); ++k) {
      const auto& routine = kRoutines[k];
      functions_[k] = {library_.find({routine.name}), library_.find({routine.create_name}),
                       library_.find({routine.execute_name})};
    }
  }

  std::vector<PeerRun> prepare(const PeerProblem& problem, void* to, const void* from) override {
    Call call{to, from, {}, problem.order, problem.threads};
    for (const auto n : problem.extents) {
      if (n > INT_MAX) return {};
      call.sizes.push_back(static_cast<int>(n));
    }
    for (std::size_t k = 0; k < kRoutines.size(); ++k) {
      const auto& routine = kRoutines[k];
      if (routine.type != problem.type) continue;
      if (measured_) return {planned("hptt measured", k, call, kMeasure)};
      return {{"hptt", [&routine, function = functions_[k].run, call] { routine.run(function, call); }, {}},
              planned("hptt planned", k, call, kEstimate)};
    }
    return {};
  }

 private:
  struct Functions {
    void *run, *create, *execute;
  };

  PeerRun planned(const char* name, std::size_t k, const Call& call, Selection selection) const {
    const auto plan = kRoutines[k].create(functions_[k].create, call, selection);
    const auto execute = reinterpret_cast<void (*)(void*)>(functions_[k].execute);
    return {name, [plan, execute] { execute(plan.get()); }, {}};
  }

  SharedLibrary library_;
  bool measured_;
  std::array<Functions, kRoutines.size()> functions_;
};

}  // namespace

std::unique_ptr<PeerLibrary> open_hptt(const std::string& file) { return std::make_unique<Hptt>(file, false); }

std::unique_ptr<PeerLibrary> open_hptt_measured(const std::string& file) { return std::make_unique<Hptt>(file, true); }

}  // namespace ricci::tools
