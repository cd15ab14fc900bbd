// `ricci permute`: one .npy file into another, by a kernel made for it.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command.hpp"
#include "ir/problem.hpp"
#include "jit/cuda_driver.hpp"
#include "npy.hpp"
#include "problem.hpp"
#include "progress.hpp"
#include "report.hpp"
#include "ricci/error.hpp"
#include "ricci/runtime.hpp"
#include "text.hpp"

namespace ricci::tools {
namespace {

namespace cuda = jit::cuda;

struct Options {
  std::string input, output, spec;
  std::string device = "cpu", alpha = "1", beta = "0", dtype, in_dtype, order, schedule;
  bool conjugate = false, verify = false;
  int repeat = 1;
};

// What is asked, with both tensors in host memory.
struct Work {
  NpyArray a;
  Layout output;
  Buffer b;
  Buffer old_b;       // what B held before, where it counts
  std::string descr;  // of the output file
  PermuteOptions permute;
};

struct Times {
  double plan_ms = 0, read_ms = 0, write_ms = 0, to_device_ms = 0, to_host_ms = 0;
  std::vector<double> runs_ms;  // in order
  double best_ms() const { return *std::min_element(runs_ms.begin(), runs_ms.end()); }
  double median_ms() const {
    auto sorted = runs_ms;
    std::sort(sorted.begin(), sorted.end());
    return (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]) / 2;
  }
};

class DeviceBuffer {
 public:
  explicit DeviceBuffer(std::size_t bytes) : pointer_(cuda::allocate(std::max<std::size_t>(bytes, 1))) {}
  ~DeviceBuffer() { cuda::release(pointer_); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  void* get() const noexcept { return pointer_; }

 private:
  void* pointer_;
};

bool is_column_major(const Layout& layout) {
  return layout.strides != Layout::row_major(layout.type, layout.extents).strides;
}

// The old output, where beta makes it count: it must be what will be written.
NpyArray read_old_output(const Options& options, const Work& work, const std::vector<std::int64_t>& extents) {
  const bool opaque = options.dtype == "bf16" || work.a.layout.type == DType::bf16;
  NpyArray old = read_npy(options.output, opaque ? std::optional(DType::bf16) : std::nullopt);
  const auto& header = old.header;
  if (header.shape != extents) {
    throw ShapeError(fmt::format("--beta: {} has shape {}, the output has {}\n  {}", options.output,
                                 shape_text(header.shape), shape_text(extents), options.spec));
  }
  if (header.type != work.output.type) {
    throw ShapeError(fmt::format("--beta: {} holds {}, the output is {}; say --dtype {} to keep its type",
                                 options.output, name(header.type), name(work.output.type), name(header.type)));
  }
  if (!options.order.empty() && (options.order == "F") != is_column_major(old.layout)) {
    throw ShapeError(fmt::format("--beta: {} is in {} order; leave --order out", options.output,
                                 is_column_major(old.layout) ? "F" : "C"));
  }
  return old;
}

Work prepare(const Options& options, Progress& progress, Times& times) {
  Work work;
  work.permute.device = options.device == "gpu" ? Device::gpu : Device::cpu;
  work.permute.alpha = parse_scalar(options.alpha, "--alpha");
  work.permute.beta = parse_scalar(options.beta, "--beta");
  work.permute.conjugate = options.conjugate;
  work.permute.schedule = options.schedule;
  const auto wanted = options.dtype.empty() ? std::nullopt : std::optional(parse_dtype(options.dtype));
  std::optional<DType> opaque = wanted == DType::bf16 ? wanted : std::nullopt;
  if (!options.in_dtype.empty()) {
    opaque = parse_dtype(options.in_dtype);
    if (size_of(*opaque) != 2) {
      throw ShapeError("--in-dtype: says what two opaque bytes ('<V2') are: bf16, f16, i16 or u16");
    }
  }
  if (options.repeat < 1) throw ShapeError("--repeat: at least 1");
  // Refused before any work, not after the last step of it.
  Spec::parse(options.spec);
  OutputFile::check(options.output);
  if (work.permute.device == Device::gpu && !cuda::available()) {
    throw DeviceError(
        fmt::format("no GPU: {}\nuse --device cpu; `ricci show SPEC ... --target sm_90` makes and shows a "
                    "GPU kernel without one",
                    cuda::unavailable_reason()));
  }

  double start = now_ms();
  progress.step("reading " + options.input);
  work.a = read_npy(options.input, opaque, [&](double share) { progress.share(share); });
  times.read_ms = now_ms() - start;

  const Layout& a = work.a.layout;
  work.output.type = wanted.value_or(a.type);
  const bool factors = work.permute.alpha != Scalar(1) || work.permute.beta != Scalar(0);
  if (work.a.header.descr.ends_with("b1") && !wanted) {
    if (factors)
      throw ShapeError(options.input + ": factors have no meaning for bool; say --dtype u8 to compute with bytes");
    work.descr = "|b1";
  }
  const auto extents = ir::permuted_row_major(Spec::parse(options.spec), a).extents;  // also refuses a wrong spec
  bool fortran = options.order == "F";
  if (work.permute.beta != Scalar(0)) {
    NpyArray old = read_old_output(options, work, extents);
    fortran = is_column_major(old.layout);
    work.old_b = std::move(old.data);
  }
  work.output =
      fortran ? Layout::column_major(work.output.type, extents) : Layout::row_major(work.output.type, extents);
  return work;
}

void run_on_cpu(const Plan& plan, Work& work, int repeat, Times& times) {
  Buffer scratch;  // repetitions must not add to the result again
  if (repeat > 1 && work.old_b.size() > 0) {
    scratch = Buffer(work.b.size());
    std::memset(scratch.data(), 0, scratch.size());
  }
  for (int i = 0; i < repeat; ++i) {
    std::byte* to = i > 0 && scratch.data() ? scratch.data() : work.b.data();
    const double start = now_ms();
    plan(to, work.a.data.data());
    times.runs_ms.push_back(now_ms() - start);
  }
}

void run_on_gpu(const Plan& plan, Work& work, int repeat, Times& times) {
  const DeviceBuffer a(work.a.data.size());
  const DeviceBuffer b(work.b.size());
  double start = now_ms();
  cuda::copy_to_device(a.get(), work.a.data.data(), work.a.data.size());
  if (work.old_b.size() > 0) cuda::copy_to_device(b.get(), work.old_b.data(), work.old_b.size());
  cuda::synchronize();
  times.to_device_ms = now_ms() - start;

  const bool accumulates = work.old_b.size() > 0;
  std::optional<DeviceBuffer> scratch;
  if (repeat > 1 && accumulates) scratch.emplace(work.b.size());
  cuda::Event before, after;
  for (int i = 0; i < repeat; ++i) {
    void* to = i > 0 && scratch ? scratch->get() : b.get();
    before.record(nullptr);
    plan(to, a.get());
    after.record(nullptr);
    after.wait();
    times.runs_ms.push_back(cuda::Event::ms_between(before, after));
  }
  start = now_ms();
  cuda::copy_to_host(work.b.data(), b.get(), work.b.size());
  times.to_host_ms = now_ms() - start;
}

std::string hex_text(const std::byte* element, std::size_t bytes) {
  std::string text = "0x";
  for (std::size_t i = bytes; i-- > 0;) text += fmt::format("{:02x}", static_cast<unsigned>(element[i]));
  return text;
}

// The interpreter's answer, compared byte by byte: nothing if equal, else what differs.
std::optional<std::string> difference(const Options& options, const Work& work) {
  Buffer expected(work.b.size());
  if (work.old_b.size() > 0) {
    std::memcpy(expected.data(), work.old_b.data(), expected.size());
  } else {
    std::memset(expected.data(), 0, expected.size());
  }
  Runtime::interpret_permute(options.spec, work.a.layout, work.output, work.a.data.data(), expected.data(),
                             work.permute.alpha, work.permute.beta, work.permute.conjugate);
  const auto bytes = static_cast<std::size_t>(size_of(work.output.type));
  std::size_t count = 0, first = 0;
  for (std::size_t at = 0; at < expected.size(); at += bytes) {
    if (std::memcmp(expected.data() + at, work.b.data() + at, bytes) == 0) continue;
    if (count++ == 0) first = at;
  }
  if (count == 0) return std::nullopt;
  std::vector<std::int64_t> index(work.output.extents.size());
  auto rest = static_cast<std::int64_t>(first / bytes);
  for (std::size_t k = 0; k < index.size(); ++k) {  // slowest axis first
    const std::size_t axis = is_column_major(work.output) ? index.size() - 1 - k : k;
    index[axis] = rest / work.output.strides[axis];
    rest %= work.output.strides[axis];
  }
  return fmt::format("{} of {} elements differ from the interpreter's; the first is {}: {} instead of {}", count,
                     expected.size() / bytes, shape_text(index), hex_text(work.b.data() + first, bytes),
                     hex_text(expected.data() + first, bytes));
}

Json tensor_json(const std::string& path, const std::string& descr, const Layout& layout) {
  return {{"path", path},
          {"dtype", name(layout.type)},
          {"descr", descr},
          {"shape", layout.extents},
          {"order", is_column_major(layout) ? "F" : "C"},
          {"bytes", layout.elements() * size_of(layout.type)}};
}

std::string tensor_text(const std::string& path, const Layout& layout) {
  return fmt::format("{}  {} {} in {} order, {}", path, name(layout.type), shape_text(layout.extents),
                     is_column_major(layout) ? "F" : "C",
                     bytes_text(static_cast<double>(layout.elements() * size_of(layout.type))));
}

void print_report(const Options& options, const Work& work, const Plan& plan, const Times& times, bool json) {
  const PlanInfo& info = plan.info();
  const double gbs = static_cast<double>(info.compulsory_bytes) / times.best_ms() / 1e6;
  const std::string show = show_command(options.spec, work.a.layout, work.output, work.permute);
  const std::string descr = work.descr.empty() ? npy_descr(work.output.type) : work.descr;
  if (json) {
    Json object = {{"spec", options.spec},
                   {"input", tensor_json(options.input, work.a.header.descr, work.a.layout)},
                   {"output", tensor_json(options.output, descr, work.output)},
                   {"plan", plan_json(plan)},
                   {"ready_ms", times.plan_ms},
                   {"runs", times.runs_ms.size()},
                   {"first_ms", times.runs_ms.front()},
                   {"best_ms", times.best_ms()},
                   {"median_ms", times.median_ms()},
                   {"GBs", info.origin == "none" ? Json() : Json(gbs)},
                   {"read_ms", times.read_ms},
                   {"write_ms", times.write_ms},
                   {"verified", options.verify ? Json(true) : Json()},
                   {"show", show}};
    if (plan.device() == Device::gpu) {
      object["to_device_ms"] = times.to_device_ms;
      object["to_host_ms"] = times.to_host_ms;
    }
    print_json(object);
    return;
  }
  std::vector<std::pair<std::string, std::string>> lines = {{"in", tensor_text(options.input, work.a.layout)},
                                                            {"out", tensor_text(options.output, work.output)}};
  if (work.a.header.big_endian) lines.front().second += " (big-endian, swapped; the output is little-endian)";
  auto more = plan_lines(plan);
  for (auto& line : more) {
    if (line.first != "file" && line.first != "traffic") lines.push_back(std::move(line));
  }
  lines.emplace_back("ready", fmt::format("{} after the call", ms_text(times.plan_ms)));
  if (info.origin != "none") {
    std::string run = fmt::format("{}, {:.3g} GB/s", ms_text(times.best_ms()), gbs);
    if (times.runs_ms.size() > 1) {
      run += fmt::format("  (best of {}; first {}, median {})", times.runs_ms.size(), ms_text(times.runs_ms.front()),
                         ms_text(times.median_ms()));
    }
    lines.emplace_back("run", run);
  }
  if (plan.device() == Device::gpu) {
    lines.emplace_back(
        "copies", fmt::format("to the device {}, back {}", ms_text(times.to_device_ms), ms_text(times.to_host_ms)));
  }
  if (options.verify) lines.emplace_back("verified", "equal to the interpreter's result, bit for bit");
  lines.emplace_back("file", plan.cache_path().empty() ? "not on disk" : plan.cache_path());
  lines.emplace_back("source", show);
  print_lines(lines);
}

int run(const Options& options, bool json) {
  Progress progress("starting");
  Times times;
  Work work = prepare(options, progress, times);

  progress.step("planning and compiling");
  double start = now_ms();
  const Plan plan = Runtime::global().plan_permute(options.spec, work.a.layout, work.output, work.permute);
  times.plan_ms = now_ms() - start;

  // Memory is touched first, so that the run does not pay for the page faults of a new buffer.
  work.b = Buffer(static_cast<std::size_t>(work.output.elements() * size_of(work.output.type)));
  if (work.old_b.size() > 0) {
    std::memcpy(work.b.data(), work.old_b.data(), work.b.size());
  } else {
    std::memset(work.b.data(), 0, work.b.size());
  }
  progress.step("running");
  if (plan.device() == Device::gpu) {
    run_on_gpu(plan, work, options.repeat, times);
  } else {
    run_on_cpu(plan, work, options.repeat, times);
  }
  if (options.verify) {
    progress.step("verifying");
    if (const auto text = difference(options, work)) {
      if (json) print_json({{"spec", options.spec}, {"plan", plan_json(plan)}, {"verified", false}, {"text", *text}});
      print_error("ricci: {}\nnothing was written; please report this with the output of\n  {} --source --key\n", *text,
                  show_command(options.spec, work.a.layout, work.output, work.permute));
      return kDiffers;
    }
  }
  progress.step("writing " + options.output);
  start = now_ms();
  write_npy(options.output, work.output, work.b.data(), work.descr, [&](double share) { progress.share(share); });
  times.write_ms = now_ms() - start;
  print_report(options, work, plan, times, json);
  return kDone;
}

}  // namespace

void add_permute(CLI::App& app, Session& session) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("permute", "Permute the axes of a .npy file: out = alpha * op(in)[perm] + beta * out");
  command->add_option("in", options->input, "Tensor to read (.npy)")->required();
  command->add_option("out", options->output, "File to write (.npy); may be the one that is read")->required();
  command->add_option("spec", options->spec, "Index notation, such as 'abc->cab'")->required();
  command->add_option("--device", options->device, "Where to run: cpu or gpu")
      ->check(CLI::IsMember({"cpu", "gpu"}))
      ->capture_default_str();
  command->add_option("--alpha", options->alpha, "Factor of the input: 2, -0.5, 1-2i")->capture_default_str();
  command->add_option("--beta", options->beta, "Factor of what the output file holds; 0 does not read it")
      ->capture_default_str();
  command->add_flag("--conj", options->conjugate, "Conjugate complex elements");
  command->add_option("--dtype", options->dtype, "Element type of the output; that of the input if left out");
  command->add_option("--in-dtype", options->in_dtype, "What two opaque bytes ('<V2') in the input are: bf16");
  command->add_option("--order", options->order, "Order of the output: C (last axis contiguous) or F (first)")
      ->check(CLI::IsMember({"C", "F"}));
  command->add_flag("--verify", options->verify, "Compare with the interpreter, bit for bit, before writing");
  command->add_option("--schedule", options->schedule, "A candidate of `ricci explain` instead of the model's choice");
  command->add_option("--repeat", options->repeat, "Run this many times, and report the best")->capture_default_str();
  add_json_flag(*command, session);
  command->footer(
      "Examples:\n"
      "  ricci permute in.npy out.npy 'abc->cab'\n"
      "  ricci permute in.npy out.npy 'occ vir aux -> aux occ vir' --verify --repeat 10\n"
      "  ricci permute in.npy out.npy 'ij->ji' --alpha 0.5 --beta 1        add to what out.npy holds\n"
      "  ricci permute half.npy wide.npy 'abcd->dbca' --in-dtype bf16 --dtype f32 --device gpu\n"
      "The run is timed without reading, writing and copying to and from a device.");
  command->callback([options, &session] { session.run = [options, &session] { return run(*options, session.json); }; });
}

}  // namespace ricci::tools
