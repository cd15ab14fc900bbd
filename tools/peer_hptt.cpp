// HPTT (github.com/springer13/hptt, read at 9425386), through its C interface: each call makes a plan by estimate and
// runs it, and both count.
#include <array>
#include <climits>
#include <complex>

#include "peer_library.hpp"

namespace ricci::tools {
namespace {

/// B = A in another order; sizes with the slowest axis first.
template <class T>
void run(void* function, void* to, const void* from, const std::vector<int>& sizes, const std::vector<int>& order,
         int threads) {
  using Real = void (*)(const int*, int, T, const T*, const int*, const int*, T, T*, const int*, int, int);
  reinterpret_cast<Real>(function)(order.data(), static_cast<int>(order.size()), T(1), static_cast<const T*>(from),
                                   sizes.data(), nullptr, T(0), static_cast<T*>(to), nullptr, threads, 1);
}

/// std::complex is passed as C's _Complex is.
template <class T>
void run_complex(void* function, void* to, const void* from, const std::vector<int>& sizes,
                 const std::vector<int>& order, int threads) {
  using Complex = void (*)(const int*, int, T, bool, const T*, const int*, const int*, T, T*, const int*, int, int);
  reinterpret_cast<Complex>(function)(order.data(), static_cast<int>(order.size()), T(1), false,
                                      static_cast<const T*>(from), sizes.data(), nullptr, T(0), static_cast<T*>(to),
                                      nullptr, threads, 1);
}

struct Routine {
  DType type;
  const char* name;
  void (*run)(void*, void*, const void*, const std::vector<int>&, const std::vector<int>&, int);
};

constexpr std::array kRoutines = {
    Routine{DType::f32, "sTensorTranspose", run<float>},
    Routine{DType::f64, "dTensorTranspose", run<double>},
    Routine{DType::c64, "cTensorTranspose", run_complex<std::complex<float>>},
    Routine{DType::c128, "zTensorTranspose", run_complex<std::complex<double>>},
};

class Hptt : public PeerLibrary {
 public:
  explicit Hptt(const std::string& file) : library_(file, "HPTT") {
    for (std::size_t k = 0; k < kRoutines.size(); ++k) functions_[k] = library_.find({kRoutines[k].name});
  }

  std::vector<PeerRun> prepare(const PeerProblem& problem, void* to, const void* from) override {
    std::vector<int> sizes;
    for (const auto n : problem.extents) {
      if (n > INT_MAX) return {};
      sizes.push_back(static_cast<int>(n));
    }
    for (std::size_t k = 0; k < kRoutines.size(); ++k) {
      if (kRoutines[k].type != problem.type) continue;
      const auto call = [routine = kRoutines[k].run, function = functions_[k], to, from, sizes, order = problem.order,
                         threads = problem.threads] { routine(function, to, from, sizes, order, threads); };
      return {{"hptt", call, {}}};
    }
    return {};
  }

 private:
  SharedLibrary library_;
  std::array<void*, kRoutines.size()> functions_;
};

}  // namespace

std::unique_ptr<PeerLibrary> open_hptt(const std::string& file) { return std::make_unique<Hptt>(file); }

}  // namespace ricci::tools
