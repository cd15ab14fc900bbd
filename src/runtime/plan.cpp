#include "ricci/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "ir/canonical.hpp"
#include "ricci/error.hpp"
#include "ricci/log.hpp"
#include "runtime/plan_impl.hpp"

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

/// Host pointers that a GPU plan was given, device pointers out of bounds, pointers of another device.
void check_device_pointer(const char* which, const void* pointer, const BufferCheck& check, int ordinal) {
  const auto info = jit::cuda::pointer_info(pointer);
  if (!info.device) {
    throw DeviceError(fmt::format("{} ({}) is not device memory; copy the tensor to device {}, or plan for the CPU",
                                  which, pointer, ordinal));
  }
  if (info.ordinal != ordinal && !info.managed) {
    throw DeviceError(
        fmt::format("{} ({}) belongs to device {}, the plan to device {}", which, pointer, info.ordinal, ordinal));
  }
  if (info.bytes == 0) return;
  const auto offset = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(pointer) - info.base);
  if (offset + check.first_byte < 0 || offset + check.end_byte > static_cast<std::int64_t>(info.bytes)) {
    throw DeviceError(
        fmt::format("{} ({}) reaches bytes [{}, {}) of an allocation of {} bytes; the layout and the memory "
                    "disagree",
                    which, pointer, offset + check.first_byte, offset + check.end_byte, info.bytes));
  }
}

}  // namespace

const char* name(Device device) noexcept { return device == Device::cpu ? "cpu" : "gpu"; }

void Plan::operator()(void* output, const void* input, const Call& call) const {
  const auto& p = *impl_;
  const auto type = ir::compute_type(p.problem.input.type, p.problem.output.type);
  const auto alpha = factor_value("alpha", call.alpha, p.alpha, p.problem.alpha, type);
  const auto beta = factor_value("beta", call.beta, p.beta, p.problem.beta, type);
  if (!p.kernel) return;  // an empty tensor
  if (p.target.device == Device::gpu && p.target.ordinal < 0) {
    throw PlanError(
        fmt::format("this plan was made for {} without a device, to be looked at; leave out "
                    "PermuteOptions::target_sm to plan for a device that is there",
                    p.target.text()));
  }
  alignas(16) unsigned char bytes[2][16];
  void* params[2];
  for (std::size_t k = 0; k < p.program.params.size(); ++k) {
    const bool is_alpha = p.program.params[k].name == "alpha";
    runtime::encode_factor(is_alpha ? alpha : beta, p.program.params[k].type, bytes[k]);
    params[k] = bytes[k];
  }
  p.check_call(output, input);
  if (p.target.device == Device::cpu) {
    p.run_cpu(output, input, params);
  } else {
    p.run_gpu(output, input, params, call.stream);
  }
  if (log_enabled(LogTopic::execute)) log_line(LogTopic::execute, p.info.kernel);
}

void Plan::Impl::check_call(const void* out, const void* in) const {
  const auto a = reinterpret_cast<std::intptr_t>(in);
  const auto b = reinterpret_cast<std::intptr_t>(out);
  if (in == nullptr || out == nullptr) {
    throw ShapeError(fmt::format("the {} pointer is null", in == nullptr ? "input" : "output"));
  }
  if (a % input.alignment != 0 || b % output.alignment != 0) {
    const bool is_input = a % input.alignment != 0;
    throw ShapeError(
        fmt::format("the {} pointer ({}) is not a multiple of {} bytes, which its layout promises; set "
                    "Layout::alignment to what holds and plan again",
                    is_input ? "input" : "output", is_input ? in : static_cast<const void*>(out),
                    is_input ? input.alignment : output.alignment));
  }
  if (a + input.first_byte < b + output.end_byte && b + output.first_byte < a + input.end_byte) {
    // The spans meet; elements still do not if both step over the same lattice at different places.
    const auto phase = ((a - b) % lattice_bytes + lattice_bytes) % lattice_bytes;
    if (phase < output.element_bytes || lattice_bytes - phase < input.element_bytes) {
      throw ShapeError("input and output overlap; a permutation is out of place, give it two buffers");
    }
  }
  if (target.device == Device::gpu) {
    check_device_pointer("the input", in, input, target.ordinal);
    check_device_pointer("the output", out, output, target.ordinal);
  }
}

void Plan::Impl::run_cpu(void* out, const void* in, void* const* params) const {
  // Buffers and parameters in the program's order: A, B, then factors.
  void* args[4] = {const_cast<void*>(in), out, nullptr, nullptr};
  for (std::size_t k = 0; k < program.params.size(); ++k) args[2 + k] = params[k];
  if (tasks <= 1) {
    kernel->cpu(args, 0, tiles);
    return;
  }
  struct Work {
    runtime::CpuFunction function;
    void* const* args;
    std::int64_t tiles;
    int tasks;
    void run(int task) const { function(args, tiles * task / tasks, tiles * (task + 1) / tasks); }
  };
  const Work work{kernel->cpu, args, tiles, tasks};
  if (executor) {
    executor(tasks, [&work](int task) { work.run(task); });
  } else {
    pool->run(
        tasks, [](void* context, int task) { static_cast<const Work*>(context)->run(task); }, const_cast<Work*>(&work));
  }
}

void Plan::Impl::run_gpu(void* out, const void* in, void* const* params, void* stream) const {
  void* args[4] = {static_cast<void*>(&in), static_cast<void*>(&out), nullptr, nullptr};
  for (std::size_t k = 0; k < program.params.size(); ++k) args[2 + k] = params[k];
  jit::cuda::launch(kernel->gpu, blocks, 1, 1, static_cast<unsigned>(chosen.schedule.threads), dynamic_shared, stream,
                    args);
}

std::vector<plan::Candidate> Plan::Impl::candidates() const {
  if (target.device == Device::cpu) return plan::candidates(program, runtime::cpu_figures(target.cpu, tasks));
  return plan::candidates(program,
                          target.ordinal >= 0 ? runtime::gpu_figures(jit::cuda::device_info(target.ordinal))
                                              : plan::GpuFigures::of_capability(target.sm),
                          chosen.schedule.name);
}

Device Plan::device() const noexcept { return impl_->target.device; }
const PlanInfo& Plan::info() const noexcept { return impl_->info; }
const Layout& Plan::output_layout() const noexcept { return impl_->problem.output; }

const std::string& Plan::source() const {
  static const std::string kNothing = "// nothing to run: the tensor has no elements\n";
  return impl_->kernel ? impl_->kernel->entry->source : kNothing;
}

std::string Plan::program() const { return ir::print(impl_->program); }

std::string Plan::passes() const {
  std::string trace;
  ir::canonicalise(ir::lower(impl_->problem), &trace);
  return trace;
}

std::string Plan::explain() const {
  if (impl_->program.points() == 0) return "nothing to run: the tensor has no elements\n";
  const auto list = impl_->candidates();
  return plan::explain(list, plan::choose(list, impl_->chosen.schedule.name), impl_->device_text);
}

std::vector<CandidateInfo> Plan::candidates() const {
  std::vector<CandidateInfo> infos;
  if (impl_->program.points() == 0) return infos;
  for (const auto& candidate : impl_->candidates()) infos.push_back({candidate.schedule.name, candidate.predicted_us});
  return infos;
}

std::string Plan::assembly() const {
  return impl_->kernel ? runtime::disassemble(*impl_->kernel, impl_->target) : std::string();
}

std::string Plan::key() const { return impl_->kernel ? impl_->kernel->entry->key : std::string(); }

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
      // Integers wrap: the low bytes of a two's complement number are its value in every smaller type.
      const auto whole = static_cast<std::int64_t>(value.real());
      std::memcpy(bytes, &whole, static_cast<std::size_t>(size_of(type)));
    }
  }
}

}  // namespace runtime
}  // namespace ricci
