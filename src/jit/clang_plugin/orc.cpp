#include "orc.hpp"

#include <llvm/ExecutionEngine/Orc/ExecutionUtils.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/Error.h>
#include <llvm/Support/MemoryBuffer.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "guarded.hpp"

struct RicciOrcObject {
  llvm::orc::JITDylib* library;
};

namespace ricci::clang_plugin {
namespace {

using llvm::Error;
using llvm::Expected;

/// What ORC reported on this thread while it linked: look-ups name what failed, the reporter is told why.
thread_local std::string* causes = nullptr;

/// One for the process, never destroyed: kernels may run until its very end. Null with the reason when it cannot be
/// made.
llvm::orc::LLJIT* the_jit(std::string& reason) {
  static std::mutex mutex;
  static llvm::orc::LLJIT* jit = nullptr;
  const std::lock_guard lock(mutex);
  if (jit != nullptr) return jit;
  // Kernels have no static constructors, so no platform has to run any.
  auto made = llvm::orc::LLJITBuilder().setPlatformSetUp(llvm::orc::setUpInactivePlatform).create();
  if (!made) {
    reason = "LLJIT: " + llvm::toString(made.takeError());
    return nullptr;
  }
  jit = made->release();
  // ORC links on the calling thread, and would print to stderr.
  jit->getExecutionSession().setErrorReporter([](Error error) {
    std::string text = llvm::toString(std::move(error));
    if (causes != nullptr) *causes += "\n" + text;
  });
  return jit;
}

llvm::orc::JITDylib* link(llvm::StringRef object, std::string& reason) {
  llvm::orc::LLJIT* jit = the_jit(reason);
  if (jit == nullptr) return nullptr;
  static std::atomic<std::uint64_t> next{0};
  // A library of its own for each object, so that the names of two kernels may be equal.
  Expected<llvm::orc::JITDylib&> library = jit->createJITDylib("ricci." + std::to_string(next++));
  if (!library) {
    reason = llvm::toString(library.takeError());
    return nullptr;
  }
  const auto fail = [&](Error error) -> llvm::orc::JITDylib* {
    reason = llvm::toString(std::move(error));
    llvm::consumeError(jit->getExecutionSession().removeJITDylib(*library));
    return nullptr;
  };
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(object, library->getName());
  // ORC links lazily, at the first look-up; what is wrong with the object has to come out now.
  auto parsed = llvm::object::ObjectFile::createObjectFile(buffer->getMemBufferRef());
  if (!parsed) return fail(parsed.takeError());
  llvm::orc::SymbolLookupSet names;
  for (const llvm::object::SymbolRef& symbol : (*parsed)->symbols()) {
    Expected<uint32_t> flags = symbol.getFlags();
    if (!flags) return fail(flags.takeError());
    const bool defined = !(*flags & llvm::object::SymbolRef::SF_Undefined) &&
                         (*flags & llvm::object::SymbolRef::SF_Global) &&
                         !(*flags & llvm::object::SymbolRef::SF_Hidden);
    if (!defined) continue;
    Expected<llvm::StringRef> name = symbol.getName();
    if (!name) return fail(name.takeError());
    names.add(jit->mangleAndIntern(*name));
  }
  if (Error error = jit->addObjectFile(*library, std::move(buffer))) return fail(std::move(error));
  std::string reported;
  causes = &reported;
  auto found = jit->getExecutionSession().lookup(
      {{&*library, llvm::orc::JITDylibLookupFlags::MatchExportedSymbolsOnly}}, std::move(names));
  causes = nullptr;
  if (found) return &*library;
  fail(found.takeError());
  reason += reported;
  return nullptr;
}

}  // namespace

RicciClangStatus orc_load(const void* bytes, size_t byte_count, RicciOrcObject** object, void* context,
                          RicciClangSink take_log) {
  *object = nullptr;
  llvm::orc::JITDylib* library = nullptr;
  std::string reason, fatal;
  const auto status = run_guarded(
      [&] { library = link(llvm::StringRef(static_cast<const char*>(bytes), byte_count), reason); }, 0, &fatal);
  if (status != RICCI_CLANG_OK) reason = "LLVM ERROR: " + fatal;
  if (library == nullptr) {
    take_log(context, reason.data(), reason.size());
    return status == RICCI_CLANG_OK ? RICCI_CLANG_REFUSED : status;
  }
  *object = new RicciOrcObject{library};
  return RICCI_CLANG_OK;
}

void* orc_symbol(RicciOrcObject* object, const char* name) {
  std::string reason;
  Expected<llvm::orc::ExecutorAddr> address = the_jit(reason)->lookup(*object->library, name);
  if (address) return address->toPtr<void*>();
  llvm::consumeError(address.takeError());
  return nullptr;
}

void orc_unload(RicciOrcObject* object) {
  std::string reason;
  llvm::consumeError(the_jit(reason)->getExecutionSession().removeJITDylib(*object->library));
  delete object;
}

}  // namespace ricci::clang_plugin
