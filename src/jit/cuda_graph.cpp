#include "jit/cuda_graph.hpp"

#include <fmt/format.h>

#include "jit/cuda_driver_library.hpp"

namespace ricci::jit::cuda {
namespace {

api::KernelNode node_of(const KernelGraph::Kernel& kernel) {
  api::KernelNode node;
  node.function = static_cast<api::Function>(kernel.function);
  node.grid_x = kernel.blocks;
  node.block_x = kernel.threads;
  node.shared_bytes = static_cast<unsigned>(kernel.dynamic_shared);
  node.args = kernel.args;
  return node;
}

}  // namespace

bool has_graphs() {
  const auto& call = Driver::need().call;
  return call.graph_create && call.graph_add_kernel && call.graph_instantiate && call.graph_set_kernel &&
         call.graph_launch && call.graph_executable_destroy && call.graph_destroy && call.stream_is_capturing;
}

bool is_captured(Stream stream) {
  int status = 0;
  const auto& call = Driver::need().call;
  return call.stream_is_capturing(static_cast<api::StreamHandle>(stream), &status) != api::kSuccess || status != 0;
}

KernelGraph::KernelGraph(std::span<const Kernel> kernels, int ordinal) : ordinal_(ordinal) {
  const Driver& driver = Driver::need();
  const ContextScope scope(driver, ordinal);
  const auto doing = fmt::format("making a graph of {} kernels on device {}", kernels.size(), ordinal);
  api::GraphHandle graph = nullptr;
  driver.check(driver.call.graph_create(&graph, 0), "cuGraphCreate", doing);
  graph_ = graph;
  try {
    for (const auto& kernel : kernels) {
      std::vector<api::GraphNode> after;
      for (const int earlier : kernel.after)
        after.push_back(static_cast<api::GraphNode>(nodes_[static_cast<std::size_t>(earlier)]));
      const auto wanted = node_of(kernel);
      api::GraphNode node = nullptr;
      driver.check(driver.call.graph_add_kernel(&node, graph, after.data(), after.size(), &wanted),
                   "cuGraphAddKernelNode", doing);
      nodes_.push_back(node);
    }
    api::GraphExecutable executable = nullptr;
    driver.check(driver.call.graph_instantiate(&executable, graph, 0), "cuGraphInstantiateWithFlags", doing);
    executable_ = executable;
  } catch (...) {
    destroy();
    throw;
  }
}

KernelGraph::~KernelGraph() { destroy(); }

// At the end of a process the driver may be gone first, and graphs with it: nothing is lost.
void KernelGraph::destroy() noexcept {
  const auto& call = Driver::get().call;
  if (executable_) call.graph_executable_destroy(static_cast<api::GraphExecutable>(executable_));
  if (graph_) call.graph_destroy(static_cast<api::GraphHandle>(graph_));
}

void KernelGraph::update(std::size_t number, const Kernel& kernel) {
  const Driver& driver = Driver::need();
  const auto wanted = node_of(kernel);
  driver.check(driver.call.graph_set_kernel(static_cast<api::GraphExecutable>(executable_),
                                            static_cast<api::GraphNode>(nodes_[number]), &wanted),
               "cuGraphExecKernelNodeSetParams", "giving a kernel of a graph its arguments");
}

void KernelGraph::launch(Stream stream) {
  const Driver& driver = Driver::need();
  const int code =
      driver.call.graph_launch(static_cast<api::GraphExecutable>(executable_), static_cast<api::StreamHandle>(stream));
  if (code != api::kSuccess)
    driver.fail(code, "cuGraphLaunch",
                fmt::format("launching a graph of {} kernels on device {}", nodes_.size(), ordinal_));
}

}  // namespace ricci::jit::cuda
