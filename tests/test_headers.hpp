// Headers of all tests, parsed once.
#pragma once

#include "../cmake/precompiled.hpp"
#include "catch.hpp"
