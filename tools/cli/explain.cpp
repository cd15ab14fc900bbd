// `ricci explain`: the candidates of a problem, and why one was taken.
#include <fmt/format.h>

#include <memory>

#include "cli/problem.hpp"
#include "cli/subcommands.hpp"
#include "report/report.hpp"

namespace ricci::tools {

void add_explain(Command& app, Session& session) {
  auto options = std::make_shared<ProblemOptions>();
  Command command = app.add_subcommand("explain", "Print every candidate schedule with what it is predicted to take");
  add_problem_options(command, *options);
  command.add_json_flag(session);
  command.footer(
      "Examples:\n"
      "  ricci explain 'abc->cab' a=48 b=32 c=40\n"
      "  ricci explain 'abcd->dbca' a=27 b=31 c=16 d=40 --dtype f32 --target sm_90");
  command.callback([options, &session] {
    session.run = [options, &session] {
      const Plan plan = plan_problem(*options);
      if (session.json) {
        Json candidates = Json::array();
        for (const auto& candidate : plan.candidates()) {
          candidates.push_back({{"name", candidate.name},
                                {"predicted_us", candidate.predicted_us},
                                {"step", candidate.step},
                                {"written", candidate.written},
                                {"measured_us", candidate.measured_us > 0 ? Json(candidate.measured_us) : Json()},
                                {"chosen", candidate.chosen}});
        }
        print_json({{"spec", options->what},
                    {"plan", plan_json(plan)},
                    {"candidates", candidates},
                    {"explain", plan.explain()}});
      } else {
        const std::string text = plan.explain();
        print("{}{}", text, text.empty() || text.back() == '\n' ? "" : "\n");
      }
      return kDone;
    };
  });
}

}  // namespace ricci::tools
