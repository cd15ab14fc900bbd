// Programs that people would not write: those of the examples, changed again and again along their grammar. Whatever
// comes out is planned or refused with a typed error: no crash, no ten seconds of processor time, no gigabyte.
//
// Programs are tried in processes of their own. RICCI_FUZZ_CASES=n tries n of them, RICCI_FUZZ_SEED=n begins with the
// n-th; the text of one that fails is printed with its seed.
#include <fmt/format.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "codegen/source.hpp"
#include "ir/own_stack.hpp"
#include "ir/passes/canonical.hpp"
#include "ir/passes/shorten.hpp"
#include "jit/cuda_compiler.hpp"
#include "lower/lower_program.hpp"
#include "plan/plan.hpp"
#include "random_problem.hpp"
#include "ricci/ricci.hpp"

using namespace ricci;

namespace {

constexpr int kSeconds = 10;               // of processor time for one program
constexpr long kMostKilobytes = 1L << 20;  // of memory that a process uses
constexpr std::uint64_t kOfOneProcess = 200;
constexpr std::uint64_t kCompiled = 50;  // one in kCompiled is compiled, too
constexpr std::size_t kSmallStack = 256 << 10;

std::vector<std::string> seeds_of_text() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(RICCI_PROGRAMS)) {
    if (entry.path().extension() == ".ricci") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> texts;
  for (const auto& file : files) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    texts.push_back(text.str());
  }
  texts.emplace_back("grid x = 7\ninput v() : f64 on x\noutput y() : f64 on x\ny() = v()\ny() = y()*y() + v()\n");
  texts.emplace_back(
      "index i = 5\nindex k = 4\ninput x(i) : f32\ninput z(i,k) : f32\noutput y(i) : f32\n"
      "y(i) = sum(k, z(i,k)*x(i)) + select(x(i) < 1, sqrt(x(i)), 2)\ny(i) += guard(x(i) < 3, x(i))\n");
  texts.emplace_back(
      "exact\nindex i = 6\nindex k = 3\ninput n(i) : i64\ninput m(i,k) : i32\noutput s(i+1) : i64\n"
      "output f(9) : i64\nlocal l(i) : i64\nl(i) = n(i)*3 + mod(n(i), 5)\n"
      "s(i) = exclusive_scan(sum, i, l(i) - sum(k, m(i,k)))\nf(n(0)) = compact(i, n(i) < 4, l(i))\n");
  return texts;
}

/// One program, changed: lines are its statements and declarations, words with slots behind them its accesses.
class Mutation {
 public:
  Mutation(const std::vector<std::string>& texts, std::uint64_t seed) : random_(seed) {
    std::istringstream text(texts[random_() % texts.size()]);
    for (std::string line; std::getline(text, line);) {
      if (const auto comment = line.find('#'); comment != std::string::npos) line.resize(comment);
      if (line.find_first_not_of(" \t") != std::string::npos) lines_.push_back(line);
    }
    for (int k = 1 + below(4); k > 0; --k) mutate();
  }

  std::string text() const {
    std::string text;
    for (const auto& line : lines_) text += line + "\n";
    return text;
  }

 private:
  int below(std::size_t n) { return static_cast<int>(random_() % std::max<std::uint64_t>(n, 1)); }
  /// 1 to `most`, as often small as large.
  int size(int most) {
    int bits = 0;
    while (most >> (bits + 1)) ++bits;
    return std::min(most, 1 + below(std::size_t{1} << below(static_cast<std::size_t>(bits) + 1)));
  }
  bool is_statement(const std::string& line) const {
    return line.find('=') != std::string::npos && line.find('(') < line.find('=');
  }

  int any_line(bool statement) {
    std::vector<int> list;
    for (std::size_t k = 0; k < lines_.size(); ++k) {
      if (!statement || is_statement(lines_[k])) list.push_back(static_cast<int>(k));
    }
    return list.empty() ? -1 : list[static_cast<std::size_t>(below(list.size()))];
  }

  /// Begin and end of an access or a call on the right side of a line.
  bool part_of(const std::string& line, std::size_t& begin, std::size_t& end) {
    std::vector<std::size_t> open;
    for (std::size_t k = line.find('=') + 1; k < line.size(); ++k) {
      const bool word = std::isalnum(static_cast<unsigned char>(line[k - 1])) != 0 || line[k - 1] == '_';
      if (line[k] == '(' && word) open.push_back(k);
    }
    if (open.empty()) return false;
    begin = end = open[static_cast<std::size_t>(below(open.size()))];
    while (begin > 0 && (std::isalnum(static_cast<unsigned char>(line[begin - 1])) != 0 || line[begin - 1] == '_'))
      --begin;
    int depth = 0;
    do {
      depth += line[end] == '(' ? 1 : line[end] == ')' ? -1 : 0;
      ++end;
    } while (depth > 0 && end < line.size());
    return depth == 0;
  }

  void mutate() {
    const int kind = below(7);
    const int k = any_line(kind != 1 && kind != 4);
    if (k < 0) return;
    auto& line = lines_[static_cast<std::size_t>(k)];
    std::size_t begin = 0, end = 0;
    switch (kind) {
      case 0:  // duplicate
        lines_.insert(lines_.begin() + k, static_cast<std::size_t>(size(2000)), std::string(line));
        return;
      case 1:  // delete
        lines_.erase(lines_.begin() + k);
        return;
      case 2: {  // deepen
        if (!part_of(line, begin, end)) return;
        static const char* const kBefore[] = {"sin(", "(", "0.5*(1 + ", "abs(", "-(", "max(1, ", "select(1 < 2, 3, "};
        const std::string before = kBefore[below(std::size(kBefore))];
        const int times = size(250);
        std::string made;
        for (int n = 0; n < times; ++n) made += before;
        made += line.substr(begin, end - begin) + std::string(static_cast<std::size_t>(times), ')');
        line.replace(begin, end - begin, made);
        return;
      }
      case 3: {  // lengthen
        if (!part_of(line, begin, end)) return;
        static const char* const kOps[] = {" + ", "*", " - ", "/"};
        const auto part = line.substr(begin, end - begin);
        const int times = size(static_cast<int>(20000 / (part.size() + 3)) + 1);
        std::string made = part;
        for (int n = 0; n < times; ++n) made += kOps[below(std::size(kOps))] + part;
        line.replace(begin, end - begin, "(" + made + ")");
        return;
      }
      case 4:  // swap lines
        std::swap(line, lines_[static_cast<std::size_t>(any_line(false))]);
        return;
      case 5: {  // swap parts
        auto& other = lines_[static_cast<std::size_t>(any_line(true))];
        std::size_t first = 0, last = 0;
        if (!part_of(line, begin, end) || !part_of(other, first, last)) return;
        const auto mine = line.substr(begin, end - begin), its = other.substr(first, last - first);
        line.replace(begin, end - begin, its);
        if (&line != &other) other.replace(first, last - first, mine);
        return;
      }
      default: {  // feed a statement its own left side, again and again
        const auto left = line.substr(0, line.find_first_of("+-*/=", line.find(')')));
        static const char* const kOps[] = {" = 0.5*", " = ", " += ", " = sin(1)*"};
        const auto made = left + kOps[below(std::size(kOps))] + left + (below(2) ? "" : "*" + left);
        lines_.insert(lines_.begin() + k + 1, static_cast<std::size_t>(size(500)), made);
      }
    }
  }

  std::mt19937_64 random_;
  std::vector<std::string> lines_;
};

/// Throws what Ricci throws; InternalError is a defect.
void try_one(const std::string& text, std::uint64_t seed) {
  auto program = Program::parse(text);
  for (const auto& index : program.open_extents()) {
    program.set_extent(index, 3 + static_cast<std::int64_t>(seed % 4));
  }
  (void)program.print();
  on_stack_of(kPlainStack, [&] {
    const auto sequence = ir::shorten(ir::lower(program.formula()));
    plan::CpuModel cpu;
    const auto gpu = plan::GpuModel::of_capability(90);
    for (const auto& step : sequence.steps) {
      const auto free = step.program.free_indices();
      bool empty = false;
      for (std::size_t q = 0; q < free.size(); ++q) empty = empty || (free[q] && step.program.indices[q].extent == 0);
      if (empty) continue;
      const auto canonical = ir::canonicalise(step.program);
      (void)codegen::emit(canonical, plan::candidates(canonical, cpu).front().schedule, kernel::Target::cpu, {});
      (void)codegen::emit(canonical, plan::best_candidate(canonical, gpu).schedule, kernel::Target::cuda, {});
    }
  });
  if (seed % kCompiled != 0) return;
  (void)Runtime::global().plan_program(program);
  if (jit::cuda_compiler_version().empty() || seed % (4 * kCompiled) != 0) return;
  PlanOptions options;
  options.device = Device::gpu;
  options.target_sm = 90;
  (void)Runtime::global().plan_program(program, options);
}

/// What the processes tell the one that waits for them.
struct Told {
  std::atomic<std::uint64_t> seed, planned, refused;
};

/// In a process of its own: exits with 0, or is ended by what went wrong.
[[noreturn]] void work(const std::vector<std::string>& texts, std::uint64_t first, std::uint64_t last, Told& told) {
  struct Job {
    const std::vector<std::string>& texts;
    Told& told;
    std::uint64_t seed;
    std::string wrong;
  };
  const auto run = [](void* argument) -> void* {
    auto& job = *static_cast<Job*>(argument);
    try {
      try_one(Mutation(job.texts, job.seed).text(), job.seed);
      ++job.told.planned;
    } catch (const InternalError& error) {
      job.wrong = error.what();
    } catch (const Error&) {
      ++job.told.refused;
    } catch (const std::exception& error) {
      job.wrong = error.what();
    }
    return nullptr;
  };
  for (auto seed = first; seed < last; ++seed) {
    told.seed = seed;
    const itimerval limit{{0, 0}, {kSeconds, 0}};
    setitimer(ITIMER_PROF, &limit, nullptr);  // SIGPROF ends the process
    Job job{texts, told, seed, {}};
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (seed % 2 == 1) pthread_attr_setstacksize(&attributes, kSmallStack);
    pthread_t thread;
    if (pthread_create(&thread, &attributes, run, &job) != 0) _exit(3);
    pthread_join(thread, nullptr);
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    if (used.ru_maxrss > kMostKilobytes) job.wrong = fmt::format("{} KB of memory", used.ru_maxrss);
    if (job.wrong.empty()) continue;
    std::fprintf(stderr, "%s\n", job.wrong.c_str());
    _exit(2);
  }
  _exit(0);
}

}  // namespace

TEST_CASE("mutated programs are planned or refused") {
  const auto texts = seeds_of_text();
  REQUIRE(texts.size() > 10);
  const auto begin = fuzz::first_seed(1), end = begin + static_cast<std::uint64_t>(fuzz::cases(500));
  std::printf("seeds %llu to %llu\n", static_cast<unsigned long long>(begin), static_cast<unsigned long long>(end - 1));
  auto* told =
      static_cast<Told*>(mmap(nullptr, sizeof(Told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  REQUIRE(told != MAP_FAILED);
  int failures = 0;
  for (auto first = begin; first < end && failures < 10;) {
    const auto last = std::min(first + kOfOneProcess, end);
    std::fflush(nullptr);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) work(texts, first, last, *told);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    first = last;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    ++failures;
    first = told->seed + 1;
    const auto text = Mutation(texts, told->seed).text();
    const auto how = !WIFSIGNALED(status)          ? std::string("went wrong")
                     : WTERMSIG(status) == SIGPROF ? fmt::format("took {} seconds", kSeconds)
                                                   : fmt::format("ended by signal {}", WTERMSIG(status));
    FAIL_CHECK("the program of seed " << told->seed << " " << how << ":\n" << text.substr(0, 3000));
  }
  std::printf("%llu planned, %llu refused\n", static_cast<unsigned long long>(told->planned),
              static_cast<unsigned long long>(told->refused));
  if (failures == 0) CHECK(told->planned > (end - begin) / 10);
  munmap(told, sizeof(Told));
}
