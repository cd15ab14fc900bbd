// Inspection of plans.
#include "ricci/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cache/format.hpp"
#include "ir/passes/canonical.hpp"
#include "ir/traffic.hpp"
#include "kernel/build.hpp"
#include "kernel/contraction.hpp"
#include "kernel/print.hpp"
#include "runtime/plan_impl.hpp"
#include "runtime/program_counts.hpp"
#include "runtime/sequences.hpp"
#include "runtime/slices.hpp"

namespace ricci {
inline namespace v1 {

const char* name(Device device) noexcept { return device == Device::cpu ? "cpu" : "gpu"; }

std::string Plan::Impl::text(const char* comment, const std::function<std::string(const Step&)>& f) const {
  if (steps.size() == 1) return f(steps.front());
  std::string all;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const auto& step = sequence.steps[static_cast<std::size_t>(steps[k].number)];
    std::string reads, writes;
    for (std::size_t b = 0; b < step.storage.size(); ++b) {
      auto& side = step.program.buffers[b].written ? writes : reads;
      side += (side.empty() ? "" : ", ") + sequence.storages[static_cast<std::size_t>(step.storage[b])].name;
    }
    all +=
        fmt::format("{}{} step {} of {}: {} -> {}\n", k == 0 ? "" : "\n", comment, k + 1, steps.size(), reads, writes);
    all += f(steps[k]);
    if (!all.empty() && all.back() != '\n') all += '\n';
  }
  return all;
}

namespace {

/// What the memory and the vector units of a CPU allow a program, and by which figures of the device.
std::string limits_text(const Plan::Impl& plan, const ir::Program& program) {
  const auto device = plan.cpu_model();
  const auto counts = runtime::count_program(program);
  const auto bytes = static_cast<double>(counts.bytes);
  const auto traffic = ir::traffic_of(program);
  const double one_way_us = device.one_way_us(static_cast<double>(ir::bytes_of(program, traffic.read)),
                                              static_cast<double>(ir::bytes_of(program, traffic.written)));
  const double copy_GBs = device.thread_GBs(true, 24) * device.threads;
  auto text = fmt::format("limits: {:.1f} us for {:.2f} MB in memory that copies at {:.0f} GB/s",
                          std::max(bytes / copy_GBs * 1e-3, one_way_us), bytes * 1e-6, copy_GBs);
  if (device.read_GBs > 0)
    text += fmt::format(", reads at {:.0f} and writes at {:.0f}", device.read_GBs, device.write_GBs);
  if (counts.flops > 0) {
    const auto type = program.buffers[static_cast<std::size_t>(program.statement().buffer)].type;
    const auto real_bytes = std::max<std::int64_t>(size_of(type) / (is_complex(type) ? 2 : 1), 4);
    const auto lanes =
        static_cast<double>(std::min(device.vector_bytes, device.datapath_bytes)) / static_cast<double>(real_bytes);
    const double rate_GFs = 2 * 2 * lanes * device.threads * device.clock_MHz * 1e-3;  // two units
    text += fmt::format(", {:.1f} us for {:.2f} MFLOP by multiply-adds at {:.0f} GF/s ({:.0f} MHz)",
                        counts.flops / rate_GFs * 1e-3, counts.flops * 1e-6, rate_GFs, device.clock_MHz);
  }
  if (!plan.measured) return text + "; usual figures, not measured ones\n";
  return text + fmt::format("; as measured, with {:.1f} ns for a page\n", device.page_ns);
}

/// What a kernel's products and sums are computed in, as far as it was asked for.
Precision precision_of(const Plan::Impl& plan, const ir::Program& program) {
  const bool rounds = plan.precision == Precision::tf32 || plan.precision == Precision::tf32x3;
  const bool sums = std::any_of(program.nodes.begin(), program.nodes.end(),
                                [](const ir::Node& node) { return node.kind == ir::NodeKind::reduce; });
  return rounds ? program.precision : sums ? plan.precision : Precision::operands;
}

}  // namespace

Device Plan::device() const noexcept { return impl_->target.device; }
const PlanInfo& Plan::info() const noexcept { return impl_->info; }
std::span<const Argument> Plan::outputs() const noexcept { return impl_->outputs; }
std::span<const Argument> Plan::inputs() const noexcept { return impl_->inputs; }
std::span<const Argument> Plan::params() const noexcept { return impl_->params; }
std::span<const Argument> Plan::constants() const noexcept {
  return impl_->packing ? impl_->packing->inputs() : std::span<const Argument>();
}
const Layout& Plan::output_layout() const noexcept { return impl_->output_layout; }
const std::string& Plan::source() const { return impl_->source; }

std::string Plan::program() const {
  return impl_->text("#", [](const Impl::Step& step) { return step.program_text; });
}

std::string Plan::passes() const {
  std::string before;
  if (impl_->uncut) {
    for (const auto& step : impl_->uncut->steps) {
      before += fmt::format("-- as lowered, before long loops are cut into tiles and operands copied\n{}",
                            ir::print(step.program));
    }
    before += '\n';
  }
  return before + impl_->text("#", [this](const Impl::Step& step) {
    std::string trace;
    ir::canonicalise(impl_->sequence.steps[static_cast<std::size_t>(step.number)].program, &trace);
    return trace;
  });
}

std::string Plan::kernel() const {
  const auto target = device() == Device::cpu ? kernel::Target::cpu : kernel::Target::cuda;
  return impl_->text("#", [target](const Impl::Step& step) {
    if (step.product() != nullptr)
      return fmt::format("schedule\n{}no loop tree: it is a library's\n", kernel::print(step.schedule.directives));
    const auto tree = kernel::build(step.program, step.schedule, target);
    auto text = fmt::format("schedule\n{}\nkernel\n{}", kernel::print(step.schedule.directives), kernel::print(tree));
    if (kernel::has_tiles(tree.body)) text += "\nexpanded kernel\n" + kernel::print(kernel::expand(tree));
    return text;
  });
}

std::string Plan::explain() const {
  if (impl_->steps.empty()) return "nothing to run: the tensor has no elements\n";
  auto explained = impl_->text("#", [&](const Impl::Step& planned) {
    const auto& step = planned.planned();
    const auto list = impl_->candidates(step, step.schedule.name);
    const auto& chosen = plan::choose(list, step.schedule.name);
    auto text = plan::explain(list, chosen, impl_->device_text, step.reason, precision_of(*impl_, step.program),
                              step.tuning.get());
    if (const auto one = kernel::contraction_of(step.program)) {
      text += fmt::format("a matrix product: {}\n", kernel::describe(*one, step.program));
    } else if (const auto group = kernel::group_of(step.program)) {
      for (std::size_t k = 0; k < group->products.size(); ++k)
        text += fmt::format("product {}: {}\n", k + 1, kernel::describe(group->products[k], step.program));
    }
    if (device() == Device::cpu) text += limits_text(*impl_, step.program);
    return text;
  });
  const auto add = [&](const std::string& table) {
    if (!table.empty()) explained += "\n" + table;
  };
  if (device() == Device::gpu && impl_->slices.empty()) add(runtime::sequence_table(*impl_));
  if (!impl_->slices.empty()) {
    add(runtime::slices_text(impl_->sequence) +
        fmt::format("workspace: {} bytes in slices, {} whole, and the limit is {}\n", impl_->sequence.workspace_bytes(),
                    impl_->uncut->workspace_bytes(), impl_->workspace_limit));
  }
  if (impl_->orders) add(impl_->orders());
  return explained;
}

std::vector<CandidateInfo> Plan::candidates() const {
  std::vector<CandidateInfo> infos;
  for (std::size_t k = 0; k < impl_->steps.size(); ++k) {
    const auto& step = impl_->steps[k].planned();
    const auto list = impl_->candidates(step, step.schedule.name);
    for (const auto& candidate : list) {
      const auto& name = candidate.schedule.name;
      const auto* timed = step.tuning ? step.tuning->find(name) : nullptr;
      infos.push_back({name, candidate.predicted_us, static_cast<int>(k), candidate.written,
                       timed == nullptr ? 0 : timed->us, name == step.schedule.name});
    }
  }
  return infos;
}

std::string Plan::assembly() const {
  return impl_->text(impl_->target.device == Device::cpu ? "#" : "//", [this](const Impl::Step& step) {
    return step.kernel() != nullptr ? runtime::disassemble(*step.kernel()->loaded, impl_->target) : std::string();
  });
}

std::string Plan::key() const {
  return impl_->text("#", [](const Impl::Step& step) {
    if (const auto* kernel = step.kernel()) return kernel->loaded->entry->key;
    return fmt::format("ricci library product 1\nlibrary {}\n{}{}", step.product()->library->identity(),
                       step.program_text, kernel::print(step.schedule));
  });
}

std::string Plan::cache_path() const {
  if (impl_->cache_root.empty()) return {};
  std::string paths;
  for (const auto& step : impl_->steps) {
    if (step.kernel() == nullptr) continue;
    const auto path =
        std::filesystem::path(impl_->cache_root) / cache::EntryName::of(step.kernel()->loaded->entry->key).path();
    std::error_code error;
    if (std::filesystem::exists(path, error)) paths += (paths.empty() ? "" : "\n") + path.string();
  }
  return paths;
}

}  // namespace v1
}  // namespace ricci
