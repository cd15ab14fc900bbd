#include "access_tracing.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include <llvm/Analysis/InlineCost.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/IPO/Inliner.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>

namespace ricci::clang_plugin {
namespace {

using namespace llvm;

constexpr char kHook[] = "ricci_trace";
constexpr char kAsWritten[] = "ricci_trace_as_written";
constexpr char kLines[] = "ricci_trace_lines";
constexpr char kAtSite[] = "ricci_at_site_";
constexpr unsigned kWriteBit = 1u << 5;
constexpr unsigned kSiteShift = 8;
constexpr std::uint64_t kLargestAccess = 16;

class AccessTracing : public PassInfoMixin<AccessTracing> {
 public:
  /// as_written: the pass that stands in front of the optimiser, not that behind it.
  explicit AccessTracing(bool as_written) : as_written_(as_written) {}

  PreservedAnalyses run(Module& module, ModuleAnalysisManager& analyses) {
    hook_ = module.getGlobalVariable(kHook);
    if (!hook_ || (module.getGlobalVariable(kAsWritten) != nullptr) != as_written_) return PreservedAnalyses::all();
    if (as_written_) resolve_locals(module, analyses);
    lines_.clear();
    loops_ = 0;
    for (Function& function : module)
      if (!function.isDeclaration() && !function.hasFnAttribute(Attribute::DisableSanitizerInstrumentation))
        trace(function);
    emit_lines(module);
    StripDebugInfo(module);
    return PreservedAnalyses::none();
  }

  // Also at -O0, where other passes are skipped.
  static bool isRequired() { return true; }

 private:
  /// Calls inlined, so that every pointer to a local variable is known for one; loops with one way in, one way round
  /// and ways out of their own.
  static void resolve_locals(Module& module, ModuleAnalysisManager& analyses) {
    constexpr int kAnySize = 1 << 20;
    ModulePassManager passes;
    passes.addPass(ModuleInlinerWrapperPass(getInlineParams(kAnySize)));
    passes.addPass(createModuleToFunctionPassAdaptor(SROAPass(SROAOptions::PreserveCFG)));
    passes.addPass(createModuleToFunctionPassAdaptor(LoopSimplifyPass()));
    passes.run(module, analyses);
  }

  void trace(Function& function) {
    std::vector<Instruction*> accesses;
    for (BasicBlock& block : function)
      for (Instruction& instruction : block)
        if (instruction.mayReadOrWriteMemory()) accesses.push_back(&instruction);
    if (as_written_) show_loops(function);
    const DataLayout& layout = function.getDataLayout();
    for (Instruction* access : accesses) {
      if (auto* load = dyn_cast<LoadInst>(access)) {
        trace(load, load->getPointerOperand(), layout.getTypeStoreSize(load->getType()), load->getAlign(), false);
      } else if (auto* store = dyn_cast<StoreInst>(access)) {
        trace(store, store->getPointerOperand(), layout.getTypeStoreSize(store->getValueOperand()->getType()),
              store->getAlign(), true);
      } else if (auto* memory = dyn_cast<MemIntrinsic>(access)) {
        const auto* length = dyn_cast<ConstantInt>(memory->getLength());
        if (!length) {
          refuse(access, "a copy or fill whose size is not a constant");
          continue;
        }
        if (auto* transfer = dyn_cast<MemTransferInst>(memory))
          trace(transfer, transfer->getSource(), length->getZExtValue(), transfer->getSourceAlign().valueOrOne(),
                false);
        trace(memory, memory->getDest(), length->getZExtValue(), memory->getDestAlign().valueOrOne(), true);
      } else if (auto* call = dyn_cast<CallInst>(access);
                 call && call->getCalledFunction() && call->getCalledFunction()->getName().starts_with(kAtSite)) {
        call->setArgOperand(call->arg_size() - 1,
                            ConstantInt::get(Type::getInt32Ty(function.getContext()), new_site(call)));
      } else if (isa<AtomicRMWInst>(access) || isa<AtomicCmpXchgInst>(access)) {
        refuse(access, "an atomic operation");
      }
    }
  }

  void trace(Instruction* access, Value* address, std::uint64_t bytes, Align align, bool write) {
    const Value* object = getUnderlyingObject(address);
    if (isa<AllocaInst>(object)) return;
    if (const auto* global = dyn_cast<GlobalVariable>(object); global && global->isConstant()) return;
    IRBuilder<> builder(access);
    Type* pointer = builder.getPtrTy();
    const std::uint64_t largest = std::min(kLargestAccess, align.value());
    for (std::uint64_t offset = 0; offset < bytes;) {
      const std::uint64_t piece = std::min(largest, std::bit_floor(bytes - offset));
      const unsigned code = new_site(access) << kSiteShift | (write ? kWriteBit : 0u) | static_cast<unsigned>(piece);
      Value* shown = offset ? builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), address, offset) : address;
      builder.CreateCall(FunctionType::get(builder.getVoidTy(), {pointer, builder.getInt32Ty()}, false),
                         builder.CreateLoad(pointer, hook_), {shown, builder.getInt32(code)});
      offset += piece;
    }
  }

  /// Which round of which loops a thread is in, as accesses of no bytes: address 0 where it enters a loop, 1 where the
  /// next round begins, 2 where it leaves; the loop's number in place of a site.
  void show_loops(Function& function) {
    enum Mark : std::uint64_t { enters, next_round, leaves };
    const DominatorTree dominators(function);
    const LoopInfo loops(dominators);
    for (const Loop* loop : loops.getLoopsInPreorder()) {
      const unsigned code = loops_++ << kSiteShift;
      const auto show = [&](Instruction* before, Mark mark) {
        IRBuilder<> builder(before);
        Type* pointer = builder.getPtrTy();
        builder.CreateCall(FunctionType::get(builder.getVoidTy(), {pointer, builder.getInt32Ty()}, false),
                           builder.CreateLoad(pointer, hook_),
                           {ConstantExpr::getIntToPtr(builder.getInt64(mark), pointer), builder.getInt32(code)});
      };
      BasicBlock *before = loop->getLoopPreheader(), *last = loop->getLoopLatch();
      if (!before || !last) {
        refuse(loop->getHeader()->getTerminator(), "a loop with several ways in");
        continue;
      }
      show(before->getTerminator(), enters);
      show(last->getTerminator(), next_round);
      SmallVector<BasicBlock*> exits;
      loop->getUniqueExitBlocks(exits);
      for (BasicBlock* exit : exits) show(&*exit->getFirstInsertionPt(), leaves);
    }
  }

  unsigned new_site(const Instruction* access) {
    lines_.push_back(line(access));
    return static_cast<unsigned>(lines_.size()) - 1;
  }

  static std::uint32_t line(const Instruction* instruction) {
    const DILocation* location = instruction->getDebugLoc().get();
    while (location && location->getInlinedAt()) location = location->getInlinedAt();
    return location ? location->getLine() : 0;
  }

  static void refuse(const Instruction* instruction, const char* what) {
    instruction->getContext().emitError(
        instruction, Twine("access tracing cannot show ") + what + " (line " + Twine(line(instruction)) + ")");
  }

  void emit_lines(Module& module) {
    std::vector<std::uint32_t> table{static_cast<std::uint32_t>(lines_.size())};
    table.insert(table.end(), lines_.begin(), lines_.end());
    Constant* data = ConstantDataArray::get(module.getContext(), table);
    new GlobalVariable(module, data->getType(), true, GlobalValue::ExternalLinkage, data, kLines);
  }

  bool as_written_;
  GlobalVariable* hook_ = nullptr;
  std::vector<std::uint32_t> lines_;
  unsigned loops_ = 0;  // that have been numbered
};

}  // namespace

void register_access_tracing(PassBuilder& builder) {
  builder.registerPipelineStartEPCallback(
      [](ModulePassManager& passes, OptimizationLevel) { passes.addPass(AccessTracing(true)); });
  builder.registerOptimizerLastEPCallback(
      [](ModulePassManager& passes, OptimizationLevel) { passes.addPass(AccessTracing(false)); });
}

}  // namespace ricci::clang_plugin
