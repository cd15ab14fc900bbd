// Constant operands: packed once, in memory that a handle keeps.
#include <fmt/format.h>

#include <vector>

#include "jit/cuda_driver.hpp"
#include "ricci/error.hpp"
#include "runtime/plan_impl.hpp"

namespace ricci {
inline namespace v1 {

Packed::Impl::Impl(std::shared_ptr<const Plan::Impl> of, int ordinal) : plan(std::move(of)) {
  const auto size = static_cast<std::size_t>(plan->info.packed_bytes);
  if (ordinal >= 0) {
    const jit::cuda::OnDevice on_device(ordinal);
    gpu_ = static_cast<std::byte*>(jit::cuda::allocate(size));
  } else {
    cpu_ = runtime::allocate_host(size);
    if (!cpu_) throw DeviceError(fmt::format("no memory for {} bytes of packed operands", size));
  }
}

Packed::Impl::~Impl() { jit::cuda::release(gpu_); }

std::int64_t Packed::bytes() const noexcept { return impl_->plan->info.packed_bytes; }

Packed Plan::pack(std::span<const void* const> constants, void* stream) const {
  if (!impl_->packing) throw PlanError("this plan has no constant operands; EinsumOptions::constant names them");
  const auto& packing = *impl_->packing;
  const auto made = std::make_shared<Packed::Impl>(impl_, packing.impl().device_of(constants));
  std::vector<void*> places;
  for (const auto& kept : impl_->kept) places.push_back(made->base() + kept.offset_bytes);
  Call call;
  call.stream = stream;
  packing(places, constants, call);
  return Packed(made);
}

}  // namespace v1
}  // namespace ricci
