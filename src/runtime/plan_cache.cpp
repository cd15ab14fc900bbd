#include "runtime/plan_cache.hpp"

#include <fmt/format.h>

#include <map>
#include <mutex>

#include "jit/cuda_driver.hpp"

namespace ricci::runtime {

std::string key_of(const char* kind, std::string_view spec, const PlanOptions& options) {
  const bool current = options.device == Device::gpu && options.gpu < 0 && jit::cuda::available();
  const auto& [copy, multiprocessors, clock] = options.target_limits;
  return fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|", kind, spec, name(options.device), options.gpu,
                     options.target_sm, options.threads, options.schedule, static_cast<int>(options.mode),
                     options.measured, options.workspace_limit, name(options.precision),
                     current ? jit::cuda::current_device() : -1, copy, multiprocessors, clock);
}

void append(std::string& key, const Layout& layout) {
  key += fmt::format("{}@{}", name(layout.type), layout.alignment);
  for (std::size_t k = 0; k < layout.extents.size(); ++k) {
    key += fmt::format(",{}:{}", layout.extents[k], k < layout.strides.size() ? layout.strides[k] : 0);
  }
  key += '|';
}

void append(std::string& key, Scalar factor) { key += fmt::format("{},{}|", factor.real(), factor.imag()); }

Plan cached_plan(const std::string& key, const std::function<Plan()>& make) {
  static std::mutex mutex;
  static auto* plans = new std::map<std::string, Plan>;
  {
    const std::lock_guard lock(mutex);
    if (const auto place = plans->find(key); place != plans->end()) return place->second;
  }
  const Plan plan = make();
  const std::lock_guard lock(mutex);
  constexpr std::size_t kKept = 4096;
  if (plans->size() >= kKept) plans->clear();
  plans->emplace(key, plan);
  return plan;
}

}  // namespace ricci::runtime
