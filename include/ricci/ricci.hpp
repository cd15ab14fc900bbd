// Everything Ricci offers to C++.
#pragma once

#include "ricci/error.hpp"
#include "ricci/log.hpp"
#include "ricci/plan.hpp"
#include "ricci/program.hpp"
#include "ricci/runtime.hpp"
#include "ricci/spec.hpp"
#include "ricci/tensor.hpp"
#include "ricci/tensor_ref.hpp"
#include "ricci/version.hpp"
