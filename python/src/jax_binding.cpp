// Einsums as a custom call of XLA: what programs that JAX has compiled run, without the interpreter.
#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "operation.hpp"
#include "ricci/error.hpp"
#include "xla_ffi.hpp"

namespace ricci::python {
namespace {

using namespace nb::literals;

DType type_of(int type) {
  constexpr std::array<std::pair<int, DType>, 14> kTypes = {{{xla::i8, DType::i8},
                                                             {xla::i16, DType::i16},
                                                             {xla::i32, DType::i32},
                                                             {xla::i64, DType::i64},
                                                             {xla::u8, DType::u8},
                                                             {xla::u16, DType::u16},
                                                             {xla::u32, DType::u32},
                                                             {xla::u64, DType::u64},
                                                             {xla::f16, DType::f16},
                                                             {xla::bf16, DType::bf16},
                                                             {xla::f32, DType::f32},
                                                             {xla::f64, DType::f64},
                                                             {xla::c64, DType::c64},
                                                             {xla::c128, DType::c128}}};
  for (const auto& [theirs, ours] : kTypes) {
    if (theirs == type) return ours;
  }
  throw ShapeError(fmt::format("XLA's element type {} is none that Ricci has", type));
}

Layout layout_of(const xla::Buffer& buffer) {
  return Layout::row_major(type_of(buffer.type), {buffer.extents, buffer.extents + buffer.rank});
}

/// The plan of a custom call, made once for each spec, layouts and device.
Plan plan_of(const std::string& spec, const std::vector<Layout>& inputs, const Layout& output, Device device) {
  static std::mutex mutex;
  static auto* plans = new std::unordered_map<std::string, Plan>;  // outlives all that may still run
  std::string key = spec;
  const auto add = [&](const Layout& layout) {
    key += '\0';
    key += static_cast<char>(layout.type);
    key.append(reinterpret_cast<const char*>(layout.extents.data()), layout.extents.size() * sizeof(std::int64_t));
  };
  for (const auto& input : inputs) add(input);
  add(output);
  key += device == Device::gpu ? 'g' : 'c';
  {
    const std::lock_guard lock(mutex);
    if (const auto place = plans->find(key); place != plans->end()) return place->second;
  }
  EinsumOptions options;
  options.device = device;
  const auto plan = Runtime::global().plan_einsum(spec, inputs, output, options);
  const std::lock_guard lock(mutex);
  return plans->emplace(std::move(key), plan).first->second;
}

void run(const xla::CallFrame& frame, Device device) {
  std::optional<std::string> spec;
  for (std::int64_t k = 0; k < frame.attributes.size; ++k) {
    const auto& name = *frame.attributes.names[k];
    const auto* const value = static_cast<const xla::Text*>(frame.attributes.values[k]);
    if (std::string_view(name.data, name.size) == "spec") spec.emplace(value->data, value->size);
  }
  if (!spec || frame.results.size != 1) throw InternalError("a custom call of ricci_einsum without spec or result");
  std::vector<Layout> inputs;
  std::vector<const void*> from;
  for (std::int64_t k = 0; k < frame.arguments.size; ++k) {
    inputs.push_back(layout_of(*frame.arguments.buffers[k]));
    from.push_back(frame.arguments.buffers[k]->data);
  }
  const auto& result = *frame.results.buffers[0];
  Call call;
  if (device == Device::gpu) {
    xla::GetStream asked{sizeof asked, nullptr, frame.context, nullptr};
    if (frame.api->get_stream(&asked) != nullptr) throw DeviceError("XLA has no stream for this call");
    call.stream = asked.stream;
  }
  plan_of(*spec, inputs, layout_of(result), device)(std::span<void* const>(&result.data, 1), from, call);
}

xla::Error* handle(xla::CallFrame* frame, Device device) noexcept {
  if (frame->extension != nullptr && frame->extension->type == 1) {
    // What is read has the same place in all versions 0.x, so that it is the runtime's own that answers.
    auto* const metadata = reinterpret_cast<xla::MetadataExtension*>(frame->extension)->metadata;
    metadata->api_version.major = frame->api->version.major;
    metadata->api_version.minor = frame->api->version.minor;
    metadata->traits = 0;
    return nullptr;
  }
  constexpr int kInvalidArgument = 3;
  xla::CreateError error{sizeof error, nullptr, nullptr, kInvalidArgument};
  try {
    run(*frame, device);
    return nullptr;
  } catch (const std::exception& thrown) {
    error.message = thrown.what();
    return frame->api->create_error(&error);
  }
}

xla::Error* handle_cpu(xla::CallFrame* frame) { return handle(frame, Device::cpu); }
xla::Error* handle_gpu(xla::CallFrame* frame) { return handle(frame, Device::gpu); }

}  // namespace

void bind_jax(nb::module_& module) {
  module.def("_xla_handlers", [] {
    nb::dict handlers;
    handlers["cpu"] = nb::capsule(reinterpret_cast<void*>(&handle_cpu));
    handlers["CUDA"] = nb::capsule(reinterpret_cast<void*>(&handle_gpu));
    return handlers;
  });
  module.def(
      "_xla_plan",
      [](const std::string& spec, const std::vector<std::vector<std::int64_t>>& shapes,
         const std::vector<std::string>& types) {
        std::vector<Layout> layouts;
        for (std::size_t k = 0; k < shapes.size(); ++k) {
          layouts.push_back(Layout::row_major(dtype_of(nb::str(types[k].c_str())), shapes[k]));
        }
        const auto output = layouts.back();
        layouts.pop_back();
        const nb::gil_scoped_release detached;
        plan_of(spec, layouts, output, Device::cpu);
      },
      "spec"_a, "shapes"_a, "dtypes"_a,
      "Makes the plan of a custom call on the CPU ahead of it; the result's is last.");
}

}  // namespace ricci::python
