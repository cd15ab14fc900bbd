// Plan cache: plans of earlier one-call runs in this process, by a textual key.
#pragma once

#include <functional>
#include <string>

#include "ricci/plan.hpp"
#include "ricci/runtime.hpp"

namespace ricci::runtime {

/// Everything that decides a plan, as text; append the rest of the arguments, then look up.
std::string key_of(const char* kind, std::string_view spec, const PlanOptions& options);
void append(std::string& key, const Layout& layout);
void append(std::string& key, Scalar factor);

/// The plan of an earlier call with this key, or a new one. About a microsecond when it is there.
Plan cached_plan(const std::string& key, const std::function<Plan()>& make);

}  // namespace ricci::runtime
