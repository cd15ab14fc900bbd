// Random contractions as products of a library, in each way that the planner lists.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "fuzz/random_product.hpp"
#include "ricci/ricci.hpp"

namespace ricci::fuzz {

/// Runs a plan on an einsum's tensors, and leaves the result in the last of them.
using RunProduct = std::function<void(const Plan& plan, RandomEinsum& e)>;

/// Fails at the first seed of which a way gives an element beyond the bound of its dot product, saying all of it.
///   runtime   with the library `file`
///   threads   of a seed's plans; 0: the runtime's
void check_library_products(Runtime& runtime, Device device, const std::string& file, std::uint64_t usual_seed,
                            int usual_cases, const std::function<int(std::uint64_t seed)>& threads,
                            const RunProduct& run);

}  // namespace ricci::fuzz
