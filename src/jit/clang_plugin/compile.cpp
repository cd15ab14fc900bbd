#include "compile.hpp"

#include <clang/Basic/DiagnosticOptions.h>
#include <clang/CodeGen/CodeGenAction.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/VirtualFileSystem.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Host.h>

#include <string>

#include "access_tracing.hpp"
#include "guarded.hpp"

namespace ricci::clang_plugin {
namespace {

using Bytes = llvm::SmallVector<char, 0>;

/// False with the reasons in `log` when Clang refuses the arguments or the source.
bool compile_in_memory(const RicciClangJob& job, Bytes& output, llvm::raw_ostream& log) {
  auto files = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  files->addFile(job.name, 0,
                 llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(job.source, job.source_bytes), job.name));

  const std::string triple = llvm::sys::getProcessTriple();
  llvm::SmallVector<const char*, 64> arguments = {"-triple", triple.c_str()};
  llvm::SmallVector<llvm::StringRef, 16> skipped;
  for (std::size_t k = 0; k < job.argument_count; ++k) {
    llvm::StringRef argument = job.arguments[k];
    if (argument.consume_front("-skip-passes=")) {
      argument.split(skipped, ',');
    } else {
      arguments.push_back(job.arguments[k]);
    }
  }
  arguments.append({"-x", "c++", job.name});

  auto diagnostic_options = llvm::makeIntrusiveRefCnt<clang::DiagnosticOptions>();
  diagnostic_options->ShowPresumedLoc = true;  // lines as #line counts them
  auto* printer = new clang::TextDiagnosticPrinter(log, diagnostic_options.get());
  const auto engine = clang::CompilerInstance::createDiagnostics(diagnostic_options.get(), printer);

  auto invocation = std::make_shared<clang::CompilerInvocation>();
  if (!clang::CompilerInvocation::CreateFromArgs(*invocation, arguments, *engine, "ricci")) return false;
  if (!invocation->getFrontendOpts().LLVMArgs.empty()) {
    log << "error: -mllvm sets options of the whole process and is not supported\n";
    return false;
  }
  // Freeing is what keeps the process flat: with these set, 255 KB stay behind after each compilation.
  invocation->getFrontendOpts().DisableFree = false;
  invocation->getCodeGenOpts().DisableFree = false;
  // Idle unless the source asks for it, as the GPU simulator of the tests does.
  invocation->getCodeGenOpts().PassBuilderCallbacks.emplace_back(register_access_tracing);
  if (!skipped.empty()) {
    invocation->getCodeGenOpts().PassBuilderCallbacks.emplace_back([&skipped](llvm::PassBuilder& builder) {
      builder.getPassInstrumentationCallbacks()->registerShouldRunOptionalPassCallback(
          [&skipped](llvm::StringRef pass, const llvm::Any&) { return !llvm::is_contained(skipped, pass); });
    });
  }

  clang::CompilerInstance compiler;
  compiler.setInvocation(std::move(invocation));
  compiler.setDiagnostics(engine.get());
  compiler.setVerboseOutputStream(llvm::nulls());
  compiler.createFileManager(files);
  compiler.setOutputStream(std::make_unique<llvm::raw_svector_ostream>(output));

  // Clang's own back end runs the passes: it takes vectoriser, sanitizer-coverage and library-call settings from the
  // arguments, and maps errors in inline assembly back to source lines.
  llvm::LLVMContext context;
  if (job.emit == RICCI_CLANG_ASSEMBLY) {
    clang::EmitAssemblyAction action(&context);
    return compiler.ExecuteAction(action) && !engine->hasErrorOccurred();
  }
  clang::EmitObjAction action(&context);
  return compiler.ExecuteAction(action) && !engine->hasErrorOccurred();
}

}  // namespace

RicciClangStatus compile(const RicciClangJob& job) {
  // Outside the guarded frames: these survive a fatal error.
  Bytes output;
  std::string log_text, fatal;
  bool accepted = false;
  const auto status = run_guarded(
      [&] {
        llvm::raw_string_ostream log(log_text);
        accepted = compile_in_memory(job, output, log);
      },
      job.source_bytes, &fatal);
  if (status != RICCI_CLANG_OK) log_text += "LLVM ERROR: " + fatal + "\n";
  if (!log_text.empty()) job.take_log(job.context, log_text.data(), log_text.size());
  if (status != RICCI_CLANG_OK) return status;
  if (!accepted) return RICCI_CLANG_REFUSED;
  job.take_output(job.context, output.data(), output.size());
  return RICCI_CLANG_OK;
}

}  // namespace ricci::clang_plugin
