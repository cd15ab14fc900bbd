// Executing a plan: factors and parameters, pointers, workspace, kernels.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <vector>

#include "ricci/error.hpp"
#include "ricci/log.hpp"
#include "runtime/plan_impl.hpp"
#include "runtime/scratch.hpp"
#include "runtime/watch.hpp"

namespace ricci {
inline namespace v1 {
namespace {

using ir::Factor;

/// The value of one factor in this call, or PlanError when the plan was made for another kind.
Scalar factor_value(const char* which, const std::optional<Scalar>& given, Scalar planned, Factor kind, DType type) {
  if (!given) return planned;
  if (kind == Factor::any) {
    ir::check_factor(which, *given, type);
    return *given;
  }
  if (ir::factor_of(*given) != kind) {
    throw PlanError(
        fmt::format("this plan was made with {} = {}; its kernel has no place for ({}, {}). Plan with another {}, "
                    "neither 0 nor 1, to have it as an argument of each call",
                    which, kind == Factor::zero ? 0 : 1, given->real(), given->imag(), which));
  }
  return *given;
}

std::string names(std::span<const Argument> arguments) {
  std::string text;
  for (const auto& argument : arguments) text += (text.empty() ? "" : ", ") + argument.name;
  return text.empty() ? "none" : text;
}

void check_param(const Argument& param, Scalar value) {
  if (!is_complex(param.type) && value.imag() != 0) {
    throw ShapeError(fmt::format("parameter {} = ({}, {}) has an imaginary part, but it is {}", param.name,
                                 value.real(), value.imag(), name(param.type)));
  }
  constexpr double kLimit = 9223372036854775808.0;
  if (is_integer(param.type) && (value.real() != std::floor(value.real()) || !(std::fabs(value.real()) < kLimit))) {
    throw ShapeError(fmt::format("parameter {} = {} is not a whole number below 2^63, but it is {}", param.name,
                                 value.real(), name(param.type)));
  }
  ir::check_range("parameter " + param.name, value, param.type);
}

/// Host pointers that a GPU plan was given, device pointers out of bounds, pointers of another device than `ordinal`,
/// which is that of the first one (-1: not known yet). `home`: the plan's own device.
void check_device_pointer(const std::string& label, const void* pointer, std::int64_t first_byte, std::int64_t end_byte,
                          int home, int& ordinal) {
  const auto info = jit::cuda::pointer_info(pointer);
  if (!info.device) {
    throw DeviceError(fmt::format("the {} ({}) is not device memory; copy the tensor to device {}, or plan for the CPU",
                                  label, pointer, home));
  }
  if (ordinal < 0 && !info.managed) ordinal = info.ordinal;
  if (info.ordinal != ordinal && !info.managed) {
    throw DeviceError(fmt::format("the {} ({}) belongs to device {}, other tensors of this call to device {}", label,
                                  pointer, info.ordinal, ordinal));
  }
  if (info.bytes == 0) return;
  const auto offset = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(pointer) - info.base);
  if (offset + first_byte < 0 || offset + end_byte > static_cast<std::int64_t>(info.bytes)) {
    throw DeviceError(
        fmt::format("the {} ({}) reaches bytes [{}, {}) of an allocation of {} bytes; the layout and the memory "
                    "disagree",
                    label, pointer, offset + first_byte, offset + end_byte, info.bytes));
  }
}

/// A workspace on a GPU, in the order of a stream.
class StreamWorkspace {
 public:
  StreamWorkspace(int ordinal, std::size_t bytes, void* stream)
      : ordinal_(ordinal), stream_(stream), memory_(jit::cuda::allocate_in_order(bytes, ordinal, stream)) {}
  ~StreamWorkspace() { jit::cuda::release_in_order(memory_, ordinal_, stream_); }
  StreamWorkspace(const StreamWorkspace&) = delete;
  StreamWorkspace& operator=(const StreamWorkspace&) = delete;
  char* get() const noexcept { return static_cast<char*>(memory_); }

 private:
  int ordinal_;
  void* stream_;
  void* memory_;
};

}  // namespace

void Plan::operator()(std::span<void* const> outputs, std::span<const void* const> inputs, const Call& call) const {
  const auto& p = *impl_;
  if (outputs.size() != p.outputs.size() || inputs.size() != p.inputs.size()) {
    throw ShapeError(fmt::format("this plan writes {} ({}) and reads {} ({}); {} and {} pointers were given",
                                 p.outputs.size(), names(p.outputs), p.inputs.size(), names(p.inputs), outputs.size(),
                                 inputs.size()));
  }
  if (call.params.size() != p.params.size()) {
    throw PlanError(fmt::format("this plan takes {} parameters ({}); {} values were given", p.params.size(),
                                names(p.params), call.params.size()));
  }
  Scalar alpha = 1, beta = 0;
  if (p.factors) {
    const auto& factors = *p.factors;
    alpha = factor_value("alpha", call.alpha, factors.alpha, factors.alpha_kind, factors.type);
    beta = factor_value("beta", call.beta, factors.beta, factors.beta_kind, factors.type);
  } else if (call.alpha || call.beta) {
    throw PlanError(fmt::format(
        "alpha and beta are factors of permutations and einsums; this plan is a program's, with parameters: {}",
        names(p.params)));
  }
  alignas(16) unsigned char bytes[Impl::kMaxParams][16];
  void* param[Impl::kMaxParams];
  for (std::size_t k = 0; k < p.sources.size(); ++k) {
    const auto& source = p.sources[k];
    const auto position = static_cast<std::size_t>(source.position);
    if (source.from == ParamSource::From::call) check_param(p.params[position], call.params[position]);
    runtime::encode_factor(source.from == ParamSource::From::alpha  ? alpha
                           : source.from == ParamSource::From::beta ? beta
                                                                    : call.params[position],
                           source.type, bytes[k]);
    param[k] = bytes[k];
  }
  if (p.steps.empty()) return;  // empty tensors
  if (p.target.device == Device::gpu && p.target.ordinal < 0) {
    throw PlanError(
        fmt::format("this plan was made for {} without a device, to be looked at; leave out "
                    "PlanOptions::target_sm to plan for a device that is there",
                    p.target.text()));
  }
  void* few[Impl::kFewSlots];
  std::vector<void*> many(p.storages.size() > Impl::kFewSlots ? p.storages.size() : 0);
  void** const storage = many.empty() ? few : many.data();
  for (std::size_t k = 0; k < outputs.size(); ++k) storage[p.output_storages[k]] = outputs[k];
  for (std::size_t k = 0; k < inputs.size(); ++k) storage[p.input_storages[k]] = const_cast<void*>(inputs[k]);
  p.place_packed(call, storage);
  const int ordinal = p.check_pointers(storage);
  const bool watched = call.progress && p.target.device == Device::cpu;
  double work = 0;
  for (std::size_t k = 0; watched && k < p.steps.size(); ++k)
    work += p.steps[k].work * static_cast<double>(p.launches_of(k));
  runtime::Watch watch(call.progress, work);
  auto* const watching = watched ? &watch : nullptr;
  if (p.workspace_bytes() == 0) {
    p.run(storage, param, ordinal, call.stream, watching);
  } else {
    const auto place = [&](char* base) {
      for (std::size_t k = 0; k < p.workspace_offsets.size(); ++k) {
        if (p.workspace_offsets[k] >= 0) storage[k] = base + p.workspace_offsets[k];
      }
      p.run(storage, param, ordinal, call.stream, watching);
    };
    if (call.workspace != nullptr) {
      p.check_workspace(call, storage, ordinal);
      place(static_cast<char*>(call.workspace));
    } else if (const auto size = static_cast<std::size_t>(p.workspace_bytes()); ordinal >= 0) {
      const StreamWorkspace own(ordinal, size, call.stream);
      place(own.get());
    } else {
      const runtime::ThreadWorkspace own(size);
      if (own.get() == nullptr) throw DeviceError(fmt::format("no memory for a workspace of {} bytes", size));
      place(own.get());
    }
  }
  if (watching != nullptr) watch.finish();
  if (log_enabled(LogTopic::execute)) log_line(LogTopic::execute, p.info.kernel);
}

void Plan::Impl::place_packed(const Call& call, void** storage) const {
  if (call.packed == nullptr) {
    if (packing) throw PlanError("this plan has constant operands; give what its pack() made, Call::packed");
    return;
  }
  const auto& packed = call.packed->impl();
  if (packed.plan.get() != this) throw PlanError("Call::packed was made by the pack() of another plan");
  for (const auto& k : kept) storage[k.storage] = packed.base() + k.offset_bytes;
}

int Plan::Impl::device_of(std::span<const void* const> pointers) const {
  if (target.device == Device::cpu) return -1;
  for (const auto* pointer : pointers) {
    const auto found = jit::cuda::pointer_info(pointer);
    if (found.device && !found.managed) return found.ordinal;
  }
  return target.ordinal;
}

void Plan::Impl::load(int ordinal) const {
  for (const auto& step : steps) {
    if (const auto* kernel = step.kernel()) {
      kernel->loaded->gpu->on(ordinal);
    } else {
      step.product()->library->prepare(ordinal);
    }
  }
}

void Plan::load(int gpu) const {
  if (impl_->target.device != Device::gpu || impl_->target.ordinal < 0) {
    throw PlanError(fmt::format("a plan for {} has no kernels to load on a GPU", impl_->target.text()));
  }
  impl_->load(gpu);
  if (impl_->packing) impl_->packing->load(gpu);
}

int Plan::Impl::check_pointers(void* const* storage) const {
  for (std::size_t k = 0; k < storages.size(); ++k) {
    const auto& check = storages[k];
    if (!check.touched() || workspace_offsets[k] >= 0) continue;
    if (storage[k] == nullptr) throw ShapeError(fmt::format("the {} pointer is null", check.label));
    if ((reinterpret_cast<std::intptr_t>(storage[k]) & (check.alignment - 1)) != 0) {  // alignments are powers of two
      throw ShapeError(
          fmt::format("the {} pointer ({}) is not a multiple of {} bytes, which its layout promises; set "
                      "Layout::alignment to what holds and plan again",
                      check.label, storage[k], check.alignment));
    }
  }
  for (const auto& pair : pairs) {
    const auto& to = storages[static_cast<std::size_t>(pair.written)];
    const auto& from = storages[static_cast<std::size_t>(pair.other)];
    const auto a = reinterpret_cast<std::intptr_t>(storage[pair.other]);
    const auto b = reinterpret_cast<std::intptr_t>(storage[pair.written]);
    if (a + from.first_byte >= b + to.end_byte || b + to.first_byte >= a + from.end_byte) continue;
    // The spans overlap; elements still do not if both lie on one lattice with different phases.
    const auto lattice = pair.lattice_bytes;
    const auto phase = ((a - b + pair.phase) % lattice + lattice) % lattice;
    if (phase < pair.written_bytes || lattice - phase < pair.other_bytes) {
      throw ShapeError(fmt::format("{} and {} overlap; give what is written memory of its own", from.label, to.label));
    }
  }
  if (target.device == Device::cpu) return -1;
  int ordinal = -1;
  for (std::size_t k = 0; k < storages.size(); ++k) {
    if (!storages[k].touched() || workspace_offsets[k] >= 0) continue;
    check_device_pointer(storages[k].label, storage[k], storages[k].first_byte, storages[k].end_byte, target.ordinal,
                         ordinal);
  }
  if (ordinal < 0) ordinal = target.ordinal;  // managed memory alone
  if (ordinal != target.ordinal) load(ordinal);
  return ordinal;
}

void Plan::Impl::check_workspace(const Call& call, void* const* storage, int ordinal) const {
  const auto base = reinterpret_cast<std::intptr_t>(call.workspace);
  if (static_cast<std::int64_t>(call.workspace_bytes) < workspace_bytes()) {
    throw ShapeError(fmt::format("the workspace has {} bytes, this plan needs {}; or give none, and each call makes it",
                                 call.workspace_bytes, workspace_bytes()));
  }
  if (base % 256 != 0) {
    throw ShapeError(fmt::format("the workspace ({}) is not a multiple of 256 bytes", call.workspace));
  }
  for (std::size_t k = 0; k < storages.size(); ++k) {
    if (!storages[k].touched() || workspace_offsets[k] >= 0) continue;
    const auto a = reinterpret_cast<std::intptr_t>(storage[k]);
    if (a + storages[k].first_byte < base + workspace_bytes() && base < a + storages[k].end_byte) {
      throw ShapeError(
          fmt::format("{} and the workspace overlap; give what is written memory of its own", storages[k].label));
    }
  }
  if (target.device == Device::gpu) {
    check_device_pointer("workspace", call.workspace, 0, workspace_bytes(), target.ordinal, ordinal);
  }
}

std::int64_t Plan::Impl::launches_of(std::size_t step) const noexcept {
  for (const auto& slice : slices) {
    if (slice.first <= step && step < slice.last) return slice.blocks();
  }
  return 1;
}

void Plan::Impl::run(void* const* storage, void* const* param, int ordinal, void* stream, runtime::Watch* watch) const {
  if (graphs != nullptr && graphs->launch(storage, param, ordinal, stream)) return;
  for_each_launch([&](std::size_t k, const ir::BlockValues& block) {
    if (watch != nullptr && watch->stopped()) return false;
    run_step(steps[k], block, storage, param, ordinal, stream, watch);
    return true;
  });
}

void Plan::Impl::run_step(const Step& step, const ir::BlockValues& block, void* const* storage, void* const* param,
                          int ordinal, void* stream, runtime::Watch* watch) const {
  // Buffers, then parameters, in the program's order.
  void* args[kMaxArguments];
  void* bases[kMaxArguments];
  std::size_t count = 0;
  for (const auto k : step.storage) {
    bases[count] = static_cast<char*>(storage[k]) + ir::shift_of(step.advance, block, count);
    ++count;
  }
  const auto buffers = count;
  const bool cpu = target.device == Device::cpu;
  const auto* const kernel = step.kernel();
  const bool by_value = kernel == nullptr || cpu;  // else as a launch takes them: addresses of arguments
  for (std::size_t b = 0; b < buffers; ++b) args[b] = by_value ? bases[b] : static_cast<void*>(&bases[b]);
  for (const auto k : step.parameter) args[count++] = param[k];
  if (kernel == nullptr) {
    const auto& product = *step.product();
    runtime::ProductCall call{args, args + buffers, 0, product.product.products(), ordinal, stream};
    if (cpu) {
      run_cpu(product, step.work, call, watch);
    } else {
      product.library->run(product.product, call);
    }
    return;
  }
  if (cpu) {
    run_cpu(*kernel, step.work, args, watch);
    return;
  }
  runtime::TensorMaps::Encoded maps;
  if (kernel->maps) {
    kernel->maps->encode(args, ordinal, maps);
    for (std::size_t k = 0; k < kernel->maps->count(); ++k) args[count++] = &maps[k];
  }
  jit::cuda::launch(kernel->loaded->gpu->on(ordinal), kernel->blocks, 1, 1, kernel->threads, kernel->dynamic_shared,
                    stream, args);
}

namespace {

/// Numbers [0, count) in equal parts, of which each task has one.
struct Share {
  std::int64_t count;
  int tasks;
  std::int64_t first(int task) const { return static_cast<std::int64_t>(static_cast<__int128>(count) * task / tasks); }
};

constexpr double kPiece = 2000;  // units of work: at most twenty milliseconds, mostly

}  // namespace

template <class Run>
void Plan::Impl::in_tasks(int tasks, Run& run) const {
  if (tasks <= 1) {
    run(0);
  } else if (executor) {
    executor(tasks, [&run](int task) { run(task); });
  } else {
    pool->run(tasks, [](void* context, int task) { (*static_cast<Run*>(context))(task); }, &run);
  }
}

void Plan::Impl::run_cpu(const runtime::GeneratedKernel& kernel, double work, void* const* args,
                         runtime::Watch* watch) const {
  const auto no_memory = [&] {
    return ShapeError(fmt::format("no memory for {} bytes that each thread works in", kernel.scratch));
  };
  if (kernel.tasks <= 1 && watch == nullptr) {
    // Small kernels take tens of nanoseconds, divisions for parts as long.
    auto* const scratch = kernel.scratch > 0 ? runtime::thread_scratch(kernel.scratch) : nullptr;
    if (kernel.scratch > 0 && scratch == nullptr) throw no_memory();
    kernel.loaded->cpu(args, 0, kernel.tiles, scratch);
    return;
  }
  const Share tiles{kernel.tiles, kernel.tasks};
  const double work_per_tile = work / static_cast<double>(std::max<std::int64_t>(kernel.tiles, 1));
  std::atomic<bool> failed = false;
  auto run = [&, function = kernel.loaded->cpu](int task) {
    auto* const scratch = runtime::thread_scratch(kernel.scratch);
    if (kernel.scratch > 0 && scratch == nullptr) {
      failed = true;
      return;
    }
    if (watch == nullptr) {
      function(args, tiles.first(task), tiles.first(task + 1), scratch);
      return;
    }
    const auto piece = std::clamp(kPiece / work_per_tile, 1.0, static_cast<double>(tiles.count));
    watch->run(tiles.first(task), tiles.first(task + 1), static_cast<std::int64_t>(piece), work_per_tile,
               [&](std::int64_t from, std::int64_t to) { function(args, from, to, scratch); });
  };
  in_tasks(kernel.tasks, run);
  if (failed) throw no_memory();
}

void Plan::Impl::run_cpu(const runtime::LibraryProduct& product, double work, const runtime::ProductCall& call,
                         runtime::Watch* watch) const {
  const Share products{call.last, product.tasks};
  const double work_per_product = work / static_cast<double>(products.count);
  auto run = [&](int task) {
    const runtime::ProductLibrary::Threads held(*product.library, product.tasks > 1 ? 1 : threads);
    const auto multiply = [&](std::int64_t from, std::int64_t to) {
      auto part = call;
      part.first = from;
      part.last = to;
      product.library->run(product.product, part);
    };
    if (watch == nullptr) {
      multiply(products.first(task), products.first(task + 1));
      return;
    }
    const auto piece = std::clamp(kPiece / work_per_product, 1.0, static_cast<double>(products.count));
    watch->run(products.first(task), products.first(task + 1), static_cast<std::int64_t>(piece), work_per_product,
               multiply);
  };
  in_tasks(product.tasks, run);
}

}  // namespace v1

namespace runtime {
namespace {

template <class T>
void put(unsigned char* bytes, T value) {
  std::memcpy(bytes, &value, sizeof value);
}

}  // namespace

void encode_factor(Scalar value, DType type, unsigned char (&bytes)[16]) {
  switch (type) {
    case DType::f32:
      return put(bytes, static_cast<float>(value.real()));
    case DType::f64:
      return put(bytes, value.real());
    case DType::c64: {
      put(bytes, static_cast<float>(value.real()));
      return put(bytes + 4, static_cast<float>(value.imag()));
    }
    case DType::c128: {
      put(bytes, value.real());
      return put(bytes + 8, value.imag());
    }
    default: {
      // In range, as was checked: the low bytes of a two's complement number are its value in every smaller type.
      const auto whole = static_cast<std::int64_t>(value.real());
      std::memcpy(bytes, &whole, static_cast<std::size_t>(size_of(type)));
    }
  }
}

}  // namespace runtime
}  // namespace ricci
