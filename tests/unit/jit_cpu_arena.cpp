// The small loader, by itself: this program has no compiler, and never opens one.
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "jit/elf_object.hpp"
#include "jit/executable_arena.hpp"
#include "jit/object_loader.hpp"
#include "jit_cpu_elf.hpp"
#include "ricci/error.hpp"

namespace jit_cpu_arena_test {

using namespace ricci;
using jit::ExecutableArena;
using jit::Loader;

namespace {

using IntFunction = int (*)();

int call(const jit::LoadedObject& object, const char* name) {
  void* function = object.symbol(name);
  REQUIRE(function != nullptr);
  return reinterpret_cast<IntFunction>(function)();
}

std::size_t lines_of_maps(const std::string& containing = "") {
  std::ifstream maps("/proc/self/maps");
  std::size_t lines = 0;
  for (std::string line; std::getline(maps, line);) lines += line.find(containing) != std::string::npos;
  return lines;
}

void write_answer(const ExecutableArena::CodeBlock& block, unsigned char number) {
  const unsigned char code[] = {0xb8, number, 0, 0, 0, 0xc3};
  std::memcpy(block.write, code, sizeof(code));
}

int run(const ExecutableArena::CodeBlock& block) { return reinterpret_cast<IntFunction>(block.run)(); }

/// Runs `body` in a child process; true when it returned true there.
template <class Body>
bool in_child(const Body& body) {
  const pid_t child = fork();
  if (child == 0) {
    bool good = false;
    try {
      good = body();
    } catch (...) {
    }
    _exit(good ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// From now on mprotect(PROT_EXEC) fails in this process, as under SELinux without execmem.
bool forbid_mprotect_exec() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[2])),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program{static_cast<unsigned short>(std::size(filter)), filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

std::string refusal(const ObjectBuilder& object) {
  std::string reason;
  CHECK_FALSE(jit::is_simple_object(object.build(), &reason));
  return reason;
}

ObjectBuilder with_answer() {
  ObjectBuilder object;
  object.symbol("answer", object.text({0xb8, 1, 0, 0, 0, 0xc3}), 0, 6);
  return object;
}

using Catch::Matchers::ContainsSubstring;

}  // namespace

TEST_CASE("arena: blocks run, are reused, and neighbours do not touch", "[jit]") {
  const auto mapping =
      GENERATE(ExecutableArena::Mapping::automatic, ExecutableArena::Mapping::protect, ExecutableArena::Mapping::dual);
  ExecutableArena arena(mapping);
  const auto first = arena.allocate(6);
  write_answer(first, 1);
  arena.publish(first);
  const auto second = arena.allocate(6);
  write_answer(second, 2);
  CHECK(run(first) == 1);  // while its neighbour is being written
  arena.publish(second);
  CHECK(run(second) == 2);
  CHECK(arena.chunk_count() == 1);
  CHECK(arena.used_bytes() == first.bytes + second.bytes);

  arena.release(first);
  CHECK(arena.used_bytes() == second.bytes);
  const auto third = arena.allocate(6);
  CHECK(third.run == first.run);
  CHECK(third.write[0] == std::byte{0});  // the old pages went back to the system
  write_answer(third, 3);
  arena.publish(third);
  CHECK(run(third) == 3);
  CHECK(run(second) == 2);

  const auto large = arena.allocate(5u << 20);  // more than a chunk
  write_answer(large, 4);
  arena.publish(large);
  CHECK(run(large) == 4);
  CHECK(arena.chunk_count() == 2);
  arena.release(large);
  CHECK(arena.chunk_count() == 1);
  arena.release(second);
  arena.release(third);
  CHECK(arena.used_bytes() == 0);
  CHECK(arena.chunk_count() == 1);
}

TEST_CASE("arena: memory is never writable and executable at one address", "[jit]") {
  ExecutableArena protect(ExecutableArena::Mapping::protect), dual(ExecutableArena::Mapping::dual);
  for (ExecutableArena* arena : {&protect, &dual}) {
    const auto block = arena->allocate(6);
    write_answer(block, 1);
    arena->publish(block);
    CHECK(lines_of_maps("rwx") == 0);
  }
}

TEST_CASE("arena: where mprotect may not make memory executable, a second mapping does", "[jit]") {
  CHECK(in_child([] {
    if (!forbid_mprotect_exec()) return false;
    ExecutableArena refused(ExecutableArena::Mapping::protect);
    const auto lost = refused.allocate(6);
    write_answer(lost, 1);
    bool threw = false;
    try {
      refused.publish(lost);
    } catch (const InternalError&) {
      threw = true;
    }
    ExecutableArena arena;
    const auto block = arena.allocate(6);
    write_answer(block, 5);
    arena.publish(block);
    return threw && block.run != block.write && run(block) == 5;
  }));
}

TEST_CASE("arena: a forked process does not write into memory that it shares with its parent", "[jit]") {
  ExecutableArena arena(ExecutableArena::Mapping::dual);
  const auto mine = arena.allocate(6);
  write_answer(mine, 1);
  arena.publish(mine);
  const auto child_is_apart = in_child([&] {
    const auto own = arena.allocate(6);
    write_answer(own, 2);
    arena.publish(own);
    const bool good = run(own) == 2 && run(mine) == 1 && arena.chunk_count() == 2;
    arena.release(mine);  // what a kernel's destructor does in the child
    return good;
  });
  CHECK(child_is_apart);
  CHECK(run(mine) == 1);
}

TEST_CASE("arena: threads allocate, run and release at once", "[jit]") {
  ExecutableArena arena;
  std::vector<int> wrong(4, 0);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (unsigned i = 0; i < 300; ++i) {
        const auto block = arena.allocate(1 + i % 3 * 5000);
        write_answer(block, static_cast<unsigned char>(t * 50 + i % 50));
        arena.publish(block);
        wrong[t] += run(block) != static_cast<int>(t * 50 + i % 50);
        arena.release(block);
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(4, 0));
  CHECK(arena.used_bytes() == 0);
}

TEST_CASE("loader: a function is found, run, and unloaded with the last reference", "[jit]") {
  const std::size_t before = ExecutableArena::process().used_bytes();
  auto first = jit::load_object(answer_object(42));
  auto second = jit::load_object(answer_object(43));
  CHECK(call(*first, "answer") == 42);
  CHECK(call(*second, "answer") == 43);  // equal names do not meet
  CHECK(first->symbol("question") == nullptr);
  auto copy = first;
  first.reset();
  CHECK(call(*copy, "answer") == 42);
  copy.reset();
  second.reset();
  CHECK(ExecutableArena::process().used_bytes() == before);
}

TEST_CASE("loader: two thousand kernels cost few entries of the map and give their space back", "[jit]") {
  const std::size_t maps = lines_of_maps(), bytes = ExecutableArena::process().used_bytes();
  {
    std::vector<std::shared_ptr<const jit::LoadedObject>> loaded;
    for (int i = 0; i < 2000; ++i) loaded.push_back(jit::load_object(answer_object(i)));
    int wrong = 0;
    for (int i = 0; i < 2000; ++i) wrong += call(*loaded[static_cast<std::size_t>(i)], "answer") != i;
    CHECK(wrong == 0);
    CHECK(lines_of_maps() < maps + 30);
  }
  CHECK(ExecutableArena::process().used_bytes() == bytes);
  CHECK(ExecutableArena::process().chunk_count() == 1);
}

TEST_CASE("loader: every relocation, local, near and through a jump to libc", "[jit]") {
  const auto object = full_object();
  std::string reason;
  REQUIRE(jit::is_simple_object(object, &reason));
  CHECK(reason.empty());
  const auto loaded = jit::load_object(object, Loader::arena);
  CHECK(call(*loaded, "constant") == 42);
  CHECK(call(*loaded, "indirect") == 7);
  CHECK(call(*loaded, "near") == 42);
  CHECK(loaded->symbol("rows") == nullptr);  // local
  char text[] = "abcdefgh";
  using Copy = void* (*)(void*, const void*, std::size_t);
  using Fill = void* (*)(void*, int, std::size_t);
  reinterpret_cast<Copy>(loaded->symbol("copy"))(text, "xyz", 3);
  CHECK(std::string(text) == "xyzdefgh");
  reinterpret_cast<Copy>(loaded->symbol("move"))(text + 1, text, 4);
  CHECK(std::string(text) == "xxyzdfgh");
  reinterpret_cast<Fill>(loaded->symbol("fill"))(text, '-', 2);
  CHECK(std::string(text) == "--yzdfgh");
  using Give = Copy (*)();
  reinterpret_cast<Give>(loaded->symbol("far_copy"))()(text, "12", 2);
  CHECK(std::string(text) == "12yzdfgh");
}

TEST_CASE("loader: what it does not know is refused with the reason", "[jit]") {
  const auto section = [](const std::string& name, unsigned type, std::uint64_t flags) {
    ObjectBuilder object = with_answer();
    object.section(name, type, flags, {1, 2, 3, 4, 5, 6, 7, 8});
    return refusal(object);
  };
  CHECK_THAT(section(".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE), ContainsSubstring("section .data (8 bytes)"));
  CHECK_THAT(section(".bss", SHT_NOBITS, SHF_ALLOC | SHF_WRITE), ContainsSubstring("section .bss of type 8"));
  CHECK_THAT(section(".init_array", SHT_INIT_ARRAY, SHF_ALLOC | SHF_WRITE), ContainsSubstring(".init_array"));
  CHECK_THAT(section(".tdata", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE | SHF_TLS), ContainsSubstring("thread-local"));
  CHECK_THAT(section(".text.hot", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR | SHF_WRITE), ContainsSubstring(".text.hot"));
  CHECK_THAT(section(".textual", SHT_PROGBITS, SHF_ALLOC), ContainsSubstring(".textual"));

  const auto relocation = [](std::uint64_t type, const char* undefined) {
    ObjectBuilder object;
    const unsigned text = object.text({0xe8, 0, 0, 0, 0, 0xc3});
    const unsigned function = object.symbol("answer", text, 0, 6);
    object.relocate(text, 1, type, undefined != nullptr ? object.undefined(undefined) : function, -4);
    return refusal(object);
  };
  CHECK_THAT(relocation(R_X86_64_PLT32, "getenv"), ContainsSubstring("undefined symbol 'getenv'"));
  CHECK_THAT(relocation(R_X86_64_GOTPCREL, nullptr), ContainsSubstring("relocation type 9 in .text"));
  CHECK_THAT(relocation(R_X86_64_32S, nullptr), ContainsSubstring("relocation type 11"));

  ObjectBuilder common = with_answer();
  common.symbol("shared", SHN_COMMON, 8, 8, STB_GLOBAL, STT_OBJECT);
  CHECK_THAT(refusal(common), ContainsSubstring("special section"));
  ObjectBuilder indirect = with_answer();
  indirect.symbol("chosen", 1, 0, 6, STB_GLOBAL, STT_GNU_IFUNC);
  CHECK_THAT(refusal(indirect), ContainsSubstring("resolved at load time"));
  CHECK_THROWS_AS(jit::load_object(common.build(), Loader::arena), PlanError);
}

TEST_CASE("loader: an object that contradicts itself is damaged", "[jit]") {
  const auto load = [](const ObjectBuilder& object) { return jit::load_object(object.build(), Loader::arena); };
  ObjectBuilder long_symbol;
  long_symbol.symbol("answer", long_symbol.text({0xc3}), 0, 2);
  CHECK_THROWS_AS(load(long_symbol), InternalError);

  const auto relocated = [&](std::uint64_t offset, std::uint64_t symbol, std::int64_t addend) {
    ObjectBuilder object;
    const unsigned text = object.text({0xe9, 0, 0, 0, 0});
    object.symbol("answer", text, 0, 5);
    object.relocate(text, offset, R_X86_64_PC32, symbol, addend);
    return object;
  };
  CHECK_NOTHROW(load(relocated(1, 1, -4)));
  CHECK_THROWS_AS(load(relocated(2, 1, -4)), InternalError);
  CHECK_THROWS_AS(load(relocated(~std::uint64_t{0}, 1, -4)), InternalError);
  CHECK_THROWS_AS(load(relocated(1, 2, -4)), InternalError);
  CHECK_THROWS_AS(load(relocated(1, 0, -4)), InternalError);
  CHECK_THROWS_AS(load(relocated(1, 1, std::int64_t{1} << 40)), InternalError);
  CHECK_THROWS_AS(load(relocated(1, 1, std::numeric_limits<std::int64_t>::min())), InternalError);
  CHECK_THROWS_AS(jit::load_object({}, Loader::automatic), InternalError);
  const std::vector<std::byte> zeros(4096);
  CHECK_THROWS_AS(jit::load_object(zeros, Loader::automatic), InternalError);
}

TEST_CASE("loader: no damage to any byte crashes it", "[jit]") {
  const auto good = full_object();
  int refused = 0, taken = 0;
  const auto try_to_load = [&](std::span<const std::byte> object) {
    try {
      jit::load_object(object, Loader::arena);
      ++taken;  // a changed instruction, say; nothing here is run
    } catch (const Error&) {
      ++refused;
    }
  };
  for (std::size_t i = 0; i < good.size(); ++i) {
    auto bad = good;
    for (unsigned flip : {0x01u, 0x10u, 0x80u, 0xffu}) {
      bad[i] = good[i] ^ static_cast<std::byte>(flip);
      try_to_load(bad);
    }
    for (unsigned value : {0x00u, 0x7fu, 0xffu}) {
      bad[i] = static_cast<std::byte>(value);
      try_to_load(bad);
    }
  }
  CHECK(refused > 1000);
  CHECK(taken > 1000);
  for (std::size_t bytes = 0; bytes < good.size(); ++bytes) {
    // A copy of exactly this size, so that the address sanitizer sees any read behind its end.
    const std::vector<std::byte> cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(bytes));
    CHECK_THROWS_AS(jit::load_object(cut, Loader::arena), InternalError);
  }
  // Wide fields: every aligned 8 bytes become huge.
  for (std::size_t i = 0; i + 8 <= good.size(); i += 8) {
    auto bad = good;
    for (std::uint64_t value :
         {~std::uint64_t{0}, std::uint64_t{1} << 63, ~std::uint64_t{0} - 15, std::uint64_t{1} << 32}) {
      std::memcpy(bad.data() + i, &value, 8);
      try_to_load(bad);
    }
  }
}

TEST_CASE("loader: RICCI_LOADER is checked", "[jit]") {
  setenv("RICCI_LOADER", "arena", 1);
  CHECK(call(*jit::load_object(answer_object(1)), "answer") == 1);
  setenv("RICCI_LOADER", "llvm", 1);
  CHECK_THROWS_WITH(jit::load_object(answer_object(1)), ContainsSubstring("RICCI_LOADER is 'llvm'"));
  unsetenv("RICCI_LOADER");
}

TEST_CASE("loader: a process that only loads maps no LLVM", "[jit]") {
  CHECK(call(*jit::load_object(answer_object(9)), "answer") == 9);
  CHECK(lines_of_maps("ricci-clang") == 0);
  CHECK(lines_of_maps("LLVM") == 0);
}

}  // namespace jit_cpu_arena_test
