#include "simulator.hpp"

#include <fmt/format.h>

#include <chrono>
#include <mutex>

#include "image.hpp"
#include "machine.hpp"
#include "tensor_map.hpp"

namespace ricci::simt {
namespace {

std::string at_line(unsigned line) { return line ? fmt::format(" at line {}", line) : std::string(); }

std::string block_text(const std::array<unsigned, 3>& block) {
  return block[1] || block[2] ? fmt::format("block ({}, {}, {})", block[0], block[1], block[2])
                              : fmt::format("block {}", block[0]);
}

const char* word(Space space) { return space == Space::shared ? "shared" : "global"; }

}  // namespace

const char* name(FaultKind kind) noexcept {
  switch (kind) {
    case FaultKind::out_of_bounds:
      return "out of bounds";
    case FaultKind::read_only:
      return "read only";
    case FaultKind::misaligned:
      return "misaligned";
    case FaultKind::race:
      return "race";
    case FaultKind::block_conflict:
      return "block conflict";
    case FaultKind::divergent_barrier:
      return "divergent barrier";
    case FaultKind::absent_lane:
      return "absent lane";
    case FaultKind::absent_block:
      return "absent block";
    case FaultKind::unfinished_copy:
      return "unfinished copy";
    case FaultKind::unfinished_product:
      return "unfinished product";
    case FaultKind::unfenced_product:
      return "unfenced product";
    case FaultKind::touched_sums:
      return "touched sums";
    case FaultKind::stuck_wait:
      return "stuck wait";
    case FaultKind::misused_counter:
      return "misused counter";
    case FaultKind::uninitialised:
      return "uninitialised";
    case FaultKind::launch:
      return "launch";
  }
  return "unknown";
}

std::string Fault::text() const {
  std::string text = fmt::format("{}: ", name(kind));
  if (kind == FaultKind::launch) return text + detail;
  text += fmt::format("{}, thread {}{}", block_text(block), thread, at_line(line));
  const bool elsewhere = other_block && kind != FaultKind::block_conflict;
  const std::string other = fmt::format("{}{}", elsewhere ? block_text(*other_block) + ", " : "",
                                        other_thread ? fmt::format("thread {}", *other_thread) : "another thread");
  switch (kind) {
    case FaultKind::divergent_barrier:
    case FaultKind::absent_lane:
      return text + fmt::format(": {} {}{}", other, detail, at_line(other_line));
    case FaultKind::absent_block:
    case FaultKind::unfinished_product:
    case FaultKind::unfenced_product:
    case FaultKind::touched_sums:
      return text + ": " + detail;
    default:
      break;
  }
  if (bytes == 0) return text + ": " + detail;  // of no single access
  text += fmt::format(": {} {} bytes of {} memory", write ? "writes" : "reads", bytes, word(space));
  text += buffer.empty() ? fmt::format(" at address {:#x}, near no buffer", address)
                         : fmt::format(" at byte {} of {}", offset, buffer);
  if (kind == FaultKind::race)
    text += fmt::format("; {} {}{}, {}", other, detail, at_line(other_line),
                        in_flight ? "with the copy still under way" : "with no barrier between");
  else if (kind == FaultKind::block_conflict)
    text +=
        fmt::format("; {} {}{}", other_block ? block_text(*other_block) : "another block", detail, at_line(other_line));
  else if (!detail.empty())
    text += "; " + detail;
  if (count > 1) text += fmt::format(" ({} times)", count);
  return text;
}

std::string Report::text() const {
  std::string text;
  for (const Fault& fault : faults) text += fault.text() + "\n";
  text += fmt::format("{} blocks, {} different faults, compiled in {:.1f} ms, ran in {:.1f} ms\n", blocks,
                      faults.size(), compile_ms, run_ms);
  const auto global = [&](const char* what, const GlobalTraffic& t) {
    text += fmt::format("{:>8}: {} requests, {} sectors (ideal {}, per block {}, distinct {}), {} bytes\n", what,
                        t.requests, t.sectors, t.ideal, t.per_block, t.distinct, t.bytes);
  };
  global("read", read);
  global("written", written);
  text += fmt::format("{:>8}: {} requests, {} wavefronts (ideal {})\n", "shared", shared.requests, shared.wavefronts,
                      shared.ideal);
  for (const LineTraffic& row : lines)
    text +=
        fmt::format("  line {:>4}: {:6} {:5} of {:2} bytes: {} requests, {} {} (ideal {})\n",
                    row.line ? std::to_string(row.line) : "?", word(row.space), row.write ? "write" : "read", row.bytes,
                    row.requests, row.units, row.space == Space::shared ? "wavefronts" : "sectors", row.ideal);
  return text;
}

struct SimulatedKernel::State {
  explicit State(const Launch& given) : launch(given), image(given) {}
  Launch launch;
  Image image;
  std::mutex running;  // shared variables are memory of the image
};

SimulatedKernel::SimulatedKernel(const Launch& launch) : state_(std::make_unique<State>(launch)) {}
SimulatedKernel::~SimulatedKernel() = default;
SimulatedKernel::SimulatedKernel(SimulatedKernel&&) noexcept = default;
SimulatedKernel& SimulatedKernel::operator=(SimulatedKernel&&) noexcept = default;

Launch& SimulatedKernel::launch() noexcept { return state_->launch; }

Report SimulatedKernel::run(void** arguments, std::span<const Buffer> buffers, const Options& options) {
  const std::lock_guard lock(state_->running);
  const auto start = std::chrono::steady_clock::now();
  const auto& launch = state_->launch;
  std::vector<void*> values(arguments, arguments + launch.parameter_types.size() - launch.maps.size());
  std::vector<TensorMap> maps;
  for (const auto& map : launch.maps)
    maps.push_back(encoded(map, *static_cast<void* const*>(values[static_cast<std::size_t>(map.array)])));
  for (auto& map : maps) values.push_back(&map);
  Machine machine(state_->image, launch, values.data(), buffers, options);
  machine.run();
  Report report;
  machine.fill(report);
  report.compile_ms = state_->image.compile_ms();
  report.run_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return report;
}

Report run(const Launch& launch, void** arguments, std::span<const Buffer> buffers, const Options& options) {
  return SimulatedKernel(launch).run(arguments, buffers, options);
}

}  // namespace ricci::simt
