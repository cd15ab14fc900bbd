// The rules of an atom: every element of its operands is in one register of one lane.
#include <fmt/format.h>

#include "kernel/verify.hpp"
#include "ricci/error.hpp"

namespace ricci::kernel {
namespace {

void verify(const Atom& atom, const Fragment& fragment, const char* operand, int rows, int columns) {
  const auto fail = [&](const std::string& rule) {
    throw InternalError(fmt::format("kernel: operand {} of atom {}: {}", operand, atom.name, rule));
  };
  if (fragment.rows() != rows || fragment.columns() != columns)
    fail(fmt::format("{} x {} instead of {} x {}", fragment.rows(), fragment.columns(), rows, columns));
  if (const auto copies = fragment.layout.replicas(); copies > 1)
    fail(fmt::format("every element is held {} times", copies));
  if (const auto fault = fragment.layout.fault(); !fault.empty()) fail(fault);
}

}  // namespace

void verify(const Atom& atom) {
  verify(atom, atom.a, "A", atom.m, atom.k);
  verify(atom, atom.b, "B", atom.k, atom.n);
  verify(atom, atom.c, "C", atom.m, atom.n);
}

}  // namespace ricci::kernel
