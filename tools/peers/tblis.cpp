// TBLIS 1 (github.com/MatthewsResearchGroup/tblis, read at v1.3.0), through its C interface.
#include <array>
#include <complex>
#include <cstddef>

#include "peers/contraction.hpp"

namespace ricci::tools {
namespace {

/// tblis_tensor, as its init functions fill it: room for it, and it is 80 bytes.
struct alignas(16) Tensor {
  std::array<std::byte, 128> room{};
};
using Multiply = void (*)(const void* communicator, const void* configuration, const Tensor* a, const char* a_axes,
                          const Tensor* b, const char* b_axes, Tensor* c, const char* c_axes);

/// A tensor with the arrays that TBLIS keeps pointers to.
struct Operand {
  std::string axes;
  std::vector<std::ptrdiff_t> extents, strides;
  void* data;

  Operand(const PeerContraction::Tensor& tensor, void* at)
      : axes(tensor.axes),
        extents(tensor.extents.begin(), tensor.extents.end()),
        strides(tensor.strides.begin(), tensor.strides.end()),
        data(at) {
    if (!strides.empty()) return;
    strides.assign(extents.size(), 1);
    for (std::size_t k = strides.size(); k-- > 1;) strides[k - 1] = strides[k] * extents[k];
  }
};

class Tblis : public ContractionLibrary {
 public:
  explicit Tblis(const std::string& file) : library_(file, "TBLIS") {
    multiply_ = reinterpret_cast<Multiply>(library_.find({"tblis_tensor_mult"}));
    set_threads_ = reinterpret_cast<void (*)(unsigned)>(library_.find({"tblis_set_num_threads"}));
    for (std::size_t k = 0; k < kTypes.size(); ++k) {
      scaled_[k] = library_.find({kTypes[k].scaled});
    }
  }

  std::vector<PeerRun> prepare(const PeerContraction& problem, void* result, const void* first,
                               const void* second) override {
    for (std::size_t k = 0; k < kTypes.size(); ++k) {
      if (kTypes[k].type != problem.type) continue;
      set_threads_(static_cast<unsigned>(problem.threads));
      // The operands are only read.
      const auto a = std::make_shared<Operand>(problem.first, const_cast<void*>(first));
      const auto b = std::make_shared<Operand>(problem.second, const_cast<void*>(second));
      const auto c = std::make_shared<Operand>(problem.result, result);
      const auto factor = problem.adds.value_or(1);
      const double kept = problem.adds ? 1 : 0;  // what the result holds is not read then
      return {{"tblis",
               [=, this] {
                 Tensor left, right, sum;
                 init(left, *a, k, factor);
                 init(right, *b, k, 1);
                 init(sum, *c, k, kept);
                 multiply_(nullptr, nullptr, &left, a->axes.c_str(), &right, b->axes.c_str(), &sum, c->axes.c_str());
               },
               {}}};
    }
    return {};
  }

 private:
  void init(Tensor& tensor, Operand& operand, std::size_t k, double factor) const {
    const auto call = [&](auto scalar) {
      using Scaled = void (*)(Tensor*, decltype(scalar), unsigned, std::ptrdiff_t*, void*, std::ptrdiff_t*);
      reinterpret_cast<Scaled>(scaled_[k])(&tensor, scalar, static_cast<unsigned>(operand.extents.size()),
                                           operand.extents.data(), operand.data, operand.strides.data());
    };
    switch (kTypes[k].type) {
      case DType::f32:
        return call(static_cast<float>(factor));
      case DType::f64:
        return call(factor);
      case DType::c64:
        return call(std::complex<float>(static_cast<float>(factor)));
      default:
        return call(std::complex<double>(factor));
    }
  }

  struct Type {
    DType type;
    const char* scaled;
  };
  static constexpr std::array kTypes = {
      Type{DType::f32, "tblis_init_tensor_scaled_s"}, Type{DType::f64, "tblis_init_tensor_scaled_d"},
      Type{DType::c64, "tblis_init_tensor_scaled_c"}, Type{DType::c128, "tblis_init_tensor_scaled_z"}};

  SharedLibrary library_;
  Multiply multiply_;
  void (*set_threads_)(unsigned);
  std::array<void*, kTypes.size()> scaled_{};
};

}  // namespace

std::unique_ptr<ContractionLibrary> open_tblis(const std::string& file) { return std::make_unique<Tblis>(file); }

}  // namespace ricci::tools
