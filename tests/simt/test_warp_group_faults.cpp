// One deliberate fault of each kind around products of warp groups.
#include <cmath>

#include "simt/fault_bench.hpp"

namespace test_warp_group_faults {

using namespace ricci::simt;
using Catch::Matchers::ContainsSubstring;

namespace {

struct Group : Bench {
  Group() { block = 128; }
  /// Ones times ones: rows of 128 bytes, 64 of A and 8 of B, and 16 columns of each are multiplied.
  Report run(const std::string& fence, const std::string& product, const std::string& end) {
    return Bench::run(
        "static __shared__ __align__(1024) unsigned short a[4096]; static __shared__ __align__(1024) unsigned short "
        "b[512]; const int t = threadIdx.x;\n"
        "for (int i = t; i < 4096; i += 128) a[i] = 0x3f80;\n"
        "for (int i = t; i < 512; i += 128) b[i] = 0x3f80;\n" +
        fence + " __syncthreads();\nfloat sum[1][1][4] = {};\n" + product + "\n" + end +
        "\nif (t < 64) B[t] = sum[0][0][0];\n");
  }
};

const std::string kFence = "fence_shared();";
const std::string kMatrices = "shared_matrix<128>(a, 16, 1024), shared_matrix<128>(b, 16, 1024)";
const std::string kProduct = "wgmma_bf16<0, 0>(sum[0], " + kMatrices + "); ";
const std::string kBegin = "fence_registers(sum); ", kCommit = "commit_products();";
const std::string kWait = "wait_products<0>(sum);";

}  // namespace

TEST_CASE("a product of a warp group arrives where it is waited for") {
  Group group;
  const auto report = group.run(kFence, kBegin + kProduct + kProduct + kCommit, kWait);
  INFO(report.text());
  CHECK(report.clean());
  for (int i = 0; i < 64; ++i) CHECK(group.b[i] == 32);
  CHECK(report.flops == 2 * 2 * 64 * 8 * 16);
}

TEST_CASE("what products of warp groups use must be fenced") {
  Group group;
  auto fault = only(group.run("", kBegin + kProduct + kCommit, kWait));
  CHECK(fault.kind == FaultKind::unfenced_product);
  CHECK_THAT(fault.text(), ContainsSubstring("a is written with no fence since"));
  fault = only(group.run(kFence, kProduct + kCommit, kWait));
  CHECK(fault.kind == FaultKind::unfenced_product);
  CHECK_THAT(fault.text(), ContainsSubstring("its sums have no fence"));
}

TEST_CASE("products of warp groups that are not waited for") {
  Group group;
  auto report = group.run(kFence, kBegin + kProduct + kCommit, "");
  INFO(report.text());
  CHECK(only(report).kind == FaultKind::unfinished_product);
  CHECK(std::isnan(group.b[0]));                         // what the registers hold until then
  report = group.run(kFence, kBegin + kProduct, kWait);  // of no group
  CHECK(only(report).kind == FaultKind::unfinished_product);
  const auto touched = only(group.run(kFence, kBegin + kProduct + kCommit + "sum[0][0][1] = 1;", kWait));
  CHECK(touched.kind == FaultKind::touched_sums);
}

TEST_CASE("operands that are written while a warp group multiplies them") {
  Group group;
  const auto report = group.run(kFence, kBegin + kProduct + kCommit + "__syncthreads(); a[t] = 0;", kWait);
  INFO(report.text());
  REQUIRE_FALSE(report.clean());
  CHECK(report.faults.front().kind == FaultKind::race);
  CHECK(report.faults.front().in_flight);
}

TEST_CASE("what registers hold of a product's factor is fenced and stays") {
  Group group;
  const std::string ones = "unsigned held[4]; for (unsigned& pair : held) pair = 0x3f803f80u; ";
  const std::string product = "wgmma_rs_bf16<0>(sum[0], held, shared_matrix<128>(b, 16, 1024)); ";
  const std::string fence = "fence_registers(held); ";
  auto report = group.run(kFence, ones + kBegin + fence + product + kCommit, kWait);
  INFO(report.text());
  CHECK(report.clean());
  for (int i = 0; i < 64; ++i) CHECK(group.b[i] == 16);
  auto fault = only(group.run(kFence, ones + kBegin + product + kCommit, kWait));
  CHECK(fault.kind == FaultKind::unfenced_product);
  CHECK_THAT(fault.text(), ContainsSubstring("what its registers hold of a factor has no fence"));
  fault = only(group.run(kFence, ones + kBegin + fence + "held[1] = 0; " + product + kCommit, kWait));
  CHECK(fault.kind == FaultKind::unfenced_product);
  fault = only(group.run(kFence, ones + kBegin + fence + product + kCommit + "held[3] = 0;", kWait));
  CHECK(fault.kind == FaultKind::touched_sums);
  CHECK_THAT(fault.text(), ContainsSubstring("a register is written while a product reads it"));
  fault = only(group.run(kFence, ones + kBegin + fence + "if (t < 96) " + product + kCommit, kWait));
  CHECK(fault.kind == FaultKind::absent_lane);
}

TEST_CASE("operands that a warp group is not given") {
  Group group;
  auto fault = only(group.run(kFence,
                              kBegin +
                                  "wgmma_bf16<0, 0>(sum[0], shared_matrix<128>(a, 16, 1024), "
                                  "shared_matrix<128>(b, 16, 1088)); " +
                                  kCommit,
                              kWait));
  CHECK(fault.kind == FaultKind::misaligned);
  fault = only(group.run(kFence,
                         kBegin +
                             "wgmma_bf16<0, 0>(sum[0], shared_matrix<128>(a, 16, 8192), "
                             "shared_matrix<128>(b, 16, 1024)); " +
                             kCommit,
                         kWait));
  CHECK(fault.kind == FaultKind::out_of_bounds);
}

TEST_CASE("warps of a group that do not multiply alike") {
  Group group;
  auto fault = only(group.run(kFence, kBegin + "if (t < 96) " + kProduct + kCommit, kWait));
  CHECK(fault.kind == FaultKind::absent_lane);
  fault = only(group.run(kFence,
                         kBegin +
                             "wgmma_bf16<0, 0>(sum[0], shared_matrix<128>(a + t / 64 * 16, 16, 1024), "
                             "shared_matrix<128>(b, 16, 1024)); " +
                             kCommit,
                         kWait));
  CHECK(fault.kind == FaultKind::absent_lane);
  CHECK_THAT(fault.text(), ContainsSubstring("multiplies other matrices than its warp group"));
  group.block = 64;
  fault = only(group.run(kFence, kBegin + kProduct + kCommit, kWait));
  CHECK(fault.kind == FaultKind::absent_lane);
}

}  // namespace test_warp_group_faults
