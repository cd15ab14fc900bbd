// `ricci show`: what Ricci makes of a problem, at every level from the program to the machine code.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/problem.hpp"
#include "cli/subcommands.hpp"
#include "report/report.hpp"
#include "ricci/error.hpp"

namespace ricci::tools {
namespace {

struct ShowCommandOptions {
  ProblemOptions problem;
  bool ir = false, passes = false, plan = false, kernel = false, source = false, assembly = false, key = false;
};

std::string assembly_of(const Plan& plan) {
  const std::string text = plan.assembly();
  if (!text.empty()) return text;
  if (plan.device() == Device::gpu) {
    throw DeviceError(
        "SASS is printed by nvdisasm or cuobjdump of the CUDA toolkit, and neither was found; install the toolkit or "
        "put "
        "it on PATH");
  }
  throw PlanError(
      "no assembly can be printed: this problem has no kernel, or Ricci was built without the CPU compiler");
}

std::string plan_text(const Plan& plan) {
  std::string text;
  for (const auto& [word, line] : plan_lines(plan)) text += fmt::format("{:<9}  {}\n", word, line);
  return text;
}

int run(const ShowCommandOptions& options, bool json) {
  const Plan plan = plan_problem(options.problem);
  const bool any = options.ir || options.passes || options.plan || options.kernel || options.assembly || options.key;
  struct Section {
    const char* name;
    std::string text;
  };
  std::vector<Section> sections;
  if (options.ir) sections.push_back({"ir", plan.program()});
  if (options.passes) sections.push_back({"passes", plan.passes()});
  if (options.plan) sections.push_back({"plan", plan_text(plan)});
  if (options.kernel) sections.push_back({"kernel", plan.kernel()});
  if (options.source || !any) sections.push_back({"source", plan.source()});
  if (options.assembly) sections.push_back({"asm", assembly_of(plan)});
  if (options.key) sections.push_back({"key", plan.key()});

  if (json) {
    Json object = {{"spec", options.problem.what}, {"plan", plan_json(plan)}};
    for (const auto& section : sections) {
      if (std::string(section.name) != "plan") object[section.name] = section.text;
    }
    print_json(object);
    return kDone;
  }
  // One section is printed bare, so that it can be sent to a file and compiled.
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const auto& [name, text] = sections[i];
    if (sections.size() > 1) print("{}==== {}\n", i == 0 ? "" : "\n", name);
    print("{}{}", text, text.empty() || text.back() == '\n' ? "" : "\n");
  }
  return kDone;
}

}  // namespace

void add_show(Command& app, Session& session) {
  auto options = std::make_shared<ShowCommandOptions>();
  Command command = app.add_subcommand("show", "Print the program, plan, source or machine code of a problem");
  add_problem_options(command, options->problem);
  command.add_flag("--ir", options->ir, "The canonical program");
  command.add_flag("--passes", options->passes, "The program after each pass");
  command.add_flag("--plan", options->plan, "The schedule, and what the kernel uses");
  command.add_flag(
      "--kernel", options->kernel,
      "The schedule and the loop tree that it builds; where it has an atom, before and after it is expanded "
      "to instructions");
  command.add_flag("--source", options->source, "The generated source (what is printed when nothing is chosen)");
  command.add_flag("--asm", options->assembly, "Assembly; for a GPU SASS, where the toolkit's tools are found");
  command.add_flag("--key", options->key, "The text under which the kernel is cached");
  command.footer(
      "Examples:\n"
      "  ricci show 'abc->cab' a=48 b=32 c=40\n"
      "  ricci show 'occ vir aux -> aux occ vir' occ=16 vir=64 aux=80 --dtype c128 --conj --plan --ir\n"
      "  ricci show 'ab->ba' a=1000 b=1000 --dtype f32 --target sm_90 > transpose.cu      (needs no GPU)");
  run_with(command, session, options, run);
}

}  // namespace ricci::tools
