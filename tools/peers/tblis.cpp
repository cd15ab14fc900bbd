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
using Init = void (*)(Tensor*, unsigned rank, std::ptrdiff_t* extents, void* data, std::ptrdiff_t* strides);
using Multiply = void (*)(const void* communicator, const void* configuration, const Tensor* a, const char* a_axes,
                          const Tensor* b, const char* b_axes, Tensor* c, const char* c_axes);

/// A tensor with the arrays that TBLIS keeps pointers to.
struct Operand {
  std::string axes;
  std::vector<std::ptrdiff_t> extents, strides;
  void* data;

  Operand(const PeerContraction::Tensor& tensor, void* at)
      : axes(tensor.axes), extents(tensor.extents.begin(), tensor.extents.end()), strides(extents.size(), 1), data(at) {
    for (std::size_t k = strides.size(); k-- > 1;) strides[k - 1] = strides[k] * extents[k];
  }
};

class Tblis : public ContractionLibrary {
 public:
  explicit Tblis(const std::string& file) : library_(file, "TBLIS") {
    multiply_ = reinterpret_cast<Multiply>(library_.find({"tblis_tensor_mult"}));
    set_threads_ = reinterpret_cast<void (*)(unsigned)>(library_.find({"tblis_set_num_threads"}));
    for (std::size_t k = 0; k < kTypes.size(); ++k) {
      plain_[k] = reinterpret_cast<Init>(library_.find({kTypes[k].plain}));
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
      return {{"tblis",
               [=, this] {
                 Tensor left, right, sum;
                 init(left, *a, plain_[k]);
                 init(right, *b, plain_[k]);
                 init_with_zero(sum, *c, k);
                 multiply_(nullptr, nullptr, &left, a->axes.c_str(), &right, b->axes.c_str(), &sum, c->axes.c_str());
               },
               {}}};
    }
    return {};
  }

 private:
  static void init(Tensor& tensor, Operand& operand, Init function) {
    function(&tensor, static_cast<unsigned>(operand.extents.size()), operand.extents.data(), operand.data,
             operand.strides.data());
  }
  /// The result with a factor of zero: what it holds is not read.
  void init_with_zero(Tensor& tensor, Operand& operand, std::size_t k) const {
    const auto call = [&](auto zero) {
      using Scaled = void (*)(Tensor*, decltype(zero), unsigned, std::ptrdiff_t*, void*, std::ptrdiff_t*);
      reinterpret_cast<Scaled>(scaled_[k])(&tensor, zero, static_cast<unsigned>(operand.extents.size()),
                                           operand.extents.data(), operand.data, operand.strides.data());
    };
    switch (kTypes[k].type) {
      case DType::f32:
        return call(0.0F);
      case DType::f64:
        return call(0.0);
      case DType::c64:
        return call(std::complex<float>());
      default:
        return call(std::complex<double>());
    }
  }

  struct Type {
    DType type;
    const char *plain, *scaled;
  };
  static constexpr std::array kTypes = {Type{DType::f32, "tblis_init_tensor_s", "tblis_init_tensor_scaled_s"},
                                        Type{DType::f64, "tblis_init_tensor_d", "tblis_init_tensor_scaled_d"},
                                        Type{DType::c64, "tblis_init_tensor_c", "tblis_init_tensor_scaled_c"},
                                        Type{DType::c128, "tblis_init_tensor_z", "tblis_init_tensor_scaled_z"}};

  SharedLibrary library_;
  Multiply multiply_;
  void (*set_threads_)(unsigned);
  std::array<Init, kTypes.size()> plain_{};
  std::array<void*, kTypes.size()> scaled_{};
};

}  // namespace

std::unique_ptr<ContractionLibrary> open_tblis(const std::string& file) { return std::make_unique<Tblis>(file); }

}  // namespace ricci::tools
