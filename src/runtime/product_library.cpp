#include "runtime/product_library.hpp"

#include <cstdlib>
#include <cstring>

namespace ricci::runtime {

ProductLibrary::Threads::Threads(const ProductLibrary& library, int threads) : library_(library) {
  if (library.setting() == Setting::of_thread) before_ = library.set_threads(threads);
  if (library.setting() != Setting::of_process) return;
  std::unique_lock lock(library.mutex_);
  library.idle_.wait(lock, [&] { return library.users_ == 0 || library.held_ == threads; });
  if (library.users_++ > 0) return;
  library.before_ = library.set_threads(threads);
  library.held_ = threads;
}

ProductLibrary::Threads::~Threads() {
  if (library_.setting() == Setting::of_thread) library_.set_threads(before_);
  if (library_.setting() != Setting::of_process) return;
  {
    const std::lock_guard lock(library_.mutex_);
    if (--library_.users_ > 0) return;
    library_.set_threads(library_.before_);
  }
  library_.idle_.notify_all();
}

std::string library_file(const std::string& option, const char* variable) {
  if (option == "off") return {};
  if (!option.empty()) return option;
  const char* const value = ::secure_getenv(variable);
  return value != nullptr && std::strcmp(value, "off") != 0 ? value : "";
}

Scalar factor_of(const kernel::MatrixProduct::Scale& scale, DType type, void* const* params) {
  if (scale.param < 0) return scale.value;
  const auto* const at = params[scale.param];
  float single[2] = {0, 0};
  double twice[2] = {0, 0};
  const bool narrow = type == DType::f32 || type == DType::c64;
  std::memcpy(narrow ? static_cast<void*>(single) : static_cast<void*>(twice), at,
              static_cast<std::size_t>(size_of(type)));
  return scale.value * (narrow ? Scalar(single[0], single[1]) : Scalar(twice[0], twice[1]));
}

}  // namespace ricci::runtime
