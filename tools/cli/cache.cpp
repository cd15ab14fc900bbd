// `ricci cache`: the kernels on disk, listed, checked, thinned out, carried elsewhere.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "cache/admin.hpp"
#include "cache/config.hpp"
#include "cli/subcommands.hpp"
#include "io/files.hpp"
#include "report/progress.hpp"
#include "report/report.hpp"
#include "report/text.hpp"
#include "ricci/error.hpp"

namespace ricci::tools {
namespace {

using cache::EntryInfo;
using Clock = std::chrono::system_clock;

constexpr std::size_t kShortName = 12;  // digits that tell any two kernels apart in practice

std::string time_text(Clock::time_point time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(Clock::to_time_t(time)));
}

std::string age_text(Clock::time_point time) {
  constexpr std::int64_t kMinute = 60, kHour = 3600, kDay = 86400;
  const std::int64_t seconds = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - time).count();
  if (seconds < 2 * kMinute) return "now";
  if (seconds < 2 * kHour) return fmt::format("{} min", seconds / kMinute);
  if (seconds < 2 * kDay) return fmt::format("{} h", seconds / kHour);
  return fmt::format("{} days", seconds / kDay);
}

// Metadata is what the runtime wrote; a later version may write something else.
Json metadata_of(const std::string& text) {
  const auto json = Json::parse(text);
  return json && json->is_object() ? *json : Json::object();
}

// What was measured and what was chosen is kept among the kernels: the second word of the key.
std::string kind_of(const EntryInfo& entry) {
  for (const char* kind : {"tuning", "choice", "device_model"}) {
    if (entry.key.starts_with(fmt::format("ricci {} ", kind))) return kind;
  }
  return "kernel";
}

std::string kernel_name(const EntryInfo& entry) {
  const Json metadata = metadata_of(entry.metadata);
  for (const char* name : {"tuned", "chosen", "kernel"}) {
    if (metadata.contains(name) && metadata[name].is_string()) return metadata[name].text();
  }
  return entry.key.substr(0, entry.key.find('\n'));
}

std::string schedule_text(const EntryInfo& entry) {
  const auto kind = kind_of(entry);
  if (kind != "tuning" && kind != "choice") return {};
  return fmt::format(": {}, {}", kind == "tuning" ? "tuned" : "chosen",
                     metadata_of(entry.metadata)["schedule"].text_or("?"));
}

Json entry_json(const EntryInfo& entry) {
  return {{"name", entry.name},
          {"kind", kind_of(entry)},
          {"kernel", kernel_name(entry)},
          {"path", entry.path.string()},
          {"file_bytes", entry.file_bytes},
          {"source_bytes", entry.source_bytes},
          {"binary_bytes", entry.binary_bytes},
          {"used", time_text(entry.used)},
          {"read_only", entry.read_only},
          {"metadata", metadata_of(entry.metadata)}};
}

cache::Config config() { return cache::Config::from_environment(); }

// Lower case, as names are stored; a path of an entry's file is not a name.
std::string name_prefix(std::string prefix) {
  for (char& c : prefix) {
    if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
  }
  if (prefix.empty() || prefix.find_first_not_of("0123456789abcdef") != std::string::npos) {
    throw CacheError(fmt::format(
        "'{}' is no name of a kernel: up to 32 hexadecimal digits, as `ricci cache ls` prints them", prefix));
  }
  return prefix;
}

int run_ls(const std::string& prefix, bool json) {
  const auto entries = prefix.empty() ? cache::list(config()) : cache::find_by_name(config(), name_prefix(prefix));
  if (json) {
    Json array = Json::array();
    for (const auto& entry : entries) array.push_back(entry_json(entry));
    print_json({{"entries", array}});
    return kDone;
  }
  std::size_t choices = 0;
  for (const auto& entry : entries) {
    if (prefix.empty() && kind_of(entry) == "choice") {
      ++choices;
      continue;
    }
    print("{}  {:>8}  {:>8}  {}{}\n", entry.name.substr(0, kShortName),
          bytes_text(static_cast<double>(entry.file_bytes)), age_text(entry.used),
          kernel_name(entry) + schedule_text(entry), entry.read_only ? "  (read-only)" : "");
  }
  if (choices > 0) print("and what the model chose for {} of them (--json lists that too)\n", choices);
  return kDone;
}

struct ShowOptions {
  std::string name, binary;
  bool key = false, metadata = false, source = false;
};

int run_show(const ShowOptions& options, bool json) {
  const cache::Entry entry = cache::load(config(), name_prefix(options.name));
  if (!options.binary.empty()) {
    OutputFile file(options.binary);
    file.write(entry.binary.data(), entry.binary.size());
    file.commit();
  }
  if (json) {
    print_json({{"key", entry.key},
                {"metadata", metadata_of(entry.metadata)},
                {"source", entry.source},
                {"binary_bytes", entry.binary.size()}});
    return kDone;
  }
  const bool chosen = options.key || options.metadata || !options.binary.empty();
  std::vector<std::string> texts;
  if (options.key) texts.push_back(entry.key);
  if (options.metadata) texts.push_back(entry.metadata);
  if (options.source || !chosen) texts.push_back(entry.source);
  for (const auto& text : texts) print("{}{}", text, text.empty() || text.back() == '\n' ? "" : "\n");
  return kDone;
}

int run_stats(bool json) {
  const cache::Config configuration = config();
  const cache::Stats stats = cache::stats(configuration);
  if (json) {
    Json roots = Json::array();
    for (const auto& root : stats.roots) {
      roots.push_back({{"root", root.root.string()},
                       {"read_only", root.read_only},
                       {"entries", root.entries},
                       {"bytes", root.bytes}});
    }
    print_json({{"roots", roots},
                {"max_bytes", stats.max_bytes},
                {"swept", stats.swept ? Json(time_text(*stats.swept)) : Json()}});
    return kDone;
  }
  if (stats.roots.empty()) print("no directory: kernels are kept in memory only, see `ricci doctor`\n");
  for (const auto& root : stats.roots) {
    print("{}{}\n  {} entries, {}", root.root.string(), root.read_only ? "  (read-only)" : "", root.entries,
          bytes_text(static_cast<double>(root.bytes)));
    if (!root.read_only) {
      print(" of at most {}, swept {}", bytes_text(static_cast<double>(stats.max_bytes)),
            stats.swept ? time_text(*stats.swept) : "never");
    }
    print("\n");
  }
  return kDone;
}

int run_verify(bool remove, bool json) {
  Progress progress("verifying");
  const cache::VerifyReport report = cache::verify(config(), remove);
  if (json) {
    const auto files = [](const std::vector<cache::DamagedFile>& list) {
      Json array = Json::array();
      for (const auto& file : list) array.push_back({{"path", file.path.string()}, {"reason", file.reason}});
      return array;
    };
    print_json({{"sound", report.sound},
                {"other_versions", report.other_versions},
                {"damaged", files(report.damaged)},
                {"unreadable", files(report.unreadable)},
                {"removed", report.removed}});
  } else {
    for (const auto& file : report.damaged) print("damaged     {}: {}\n", file.path.string(), file.reason);
    for (const auto& file : report.unreadable) print("unreadable  {}: {}\n", file.path.string(), file.reason);
    print("{} sound, {} of other versions, {} damaged ({} removed), {} unreadable\n", report.sound,
          report.other_versions, report.damaged.size(), report.removed, report.unreadable.size());
  }
  return report.damaged.size() == report.removed && report.unreadable.empty() ? kDone : kDiffers;
}

struct PruneWords {
  std::string max, older_than;
  bool all = false;
};

// "30d", "12h", "10m", "45s".
std::chrono::seconds parse_age(const std::string& text) {
  const std::string digits = text.substr(0, text.find_first_not_of("0123456789"));
  const std::string unit = text.substr(digits.size());
  const std::int64_t seconds = unit == "d" ? 86400 : unit == "h" ? 3600 : unit == "m" ? 60 : unit == "s" ? 1 : 0;
  if (digits.empty() || digits.size() > 9 || seconds == 0) {
    throw CacheError(fmt::format("--older-than: '{}' is no age; write 30d, 12h, 10m or 45s", text));
  }
  return std::chrono::seconds(std::stoll(digits) * seconds);
}

int run_prune(const PruneWords& words, bool json) {
  cache::PruneOptions options;
  options.all = words.all;
  if (!words.older_than.empty()) options.older_than = parse_age(words.older_than);
  if (!words.max.empty()) {
    options.max_bytes = cache::parse_bytes(words.max);
    if (!options.max_bytes) {
      throw CacheError(fmt::format("--max: '{}' is no number of bytes; write 1048576, 512K, 256M or 2G", words.max));
    }
  }
  const cache::PruneReport report = cache::prune(config(), options);
  if (json) {
    print_json({{"removed_entries", report.removed_entries},
                {"removed_bytes", report.removed_bytes},
                {"entries", report.entries},
                {"bytes", report.bytes}});
  } else {
    print("removed {} entries, {}; {} are left, {}\n", report.removed_entries,
          bytes_text(static_cast<double>(report.removed_bytes)), report.entries,
          bytes_text(static_cast<double>(report.bytes)));
  }
  return kDone;
}

int run_export(const std::string& file, const std::vector<std::string>& names, bool json) {
  std::vector<std::string> prefixes;
  for (const auto& name : names) {
    prefixes.push_back(name_prefix(name));
    if (cache::find_by_name(config(), prefixes.back()).empty()) {
      throw CacheError(fmt::format("no kernel's name begins with {}; see `ricci cache ls`", name));
    }
  }
  const auto chosen = [&](const EntryInfo& entry) {
    for (const auto& prefix : prefixes) {
      if (entry.name.starts_with(prefix)) return true;
    }
    return prefixes.empty();
  };
  Progress progress("exporting");
  const cache::BundleReport report = cache::export_bundle(config(), file, chosen);
  if (json) {
    print_json({{"file", file}, {"entries", report.entries}, {"bytes", report.bytes}});
  } else {
    print("{}: {} entries, {}\n", file, report.entries, bytes_text(static_cast<double>(report.bytes)));
  }
  return kDone;
}

int run_import(const std::string& file, bool json) {
  Progress progress("importing");
  const cache::BundleReport report = cache::import_bundle(config(), file);
  if (json) {
    print_json({{"file", file},
                {"entries", report.entries},
                {"already_present", report.already_present},
                {"bytes", report.bytes}});
  } else {
    print("{}: {} entries added, {} were there already\n", file, report.entries, report.already_present);
  }
  return kDone;
}

}  // namespace

void add_cache(Command& app, Session& session) {
  Command group = app.add_subcommand("cache", "List, check, thin out and carry the kernels on disk");
  group.require_subcommand();
  group.footer(
      "Examples:\n"
      "  ricci cache ls\n"
      "  ricci cache export kernels.ricci && scp kernels.ricci other:      then there: ricci cache import "
      "kernels.ricci\n"
      "The directory is RICCI_CACHE_DIR, or else $XDG_CACHE_HOME/ricci/v1, or else ~/.cache/ricci/v1.");
  const auto add = [&](const char* word, const char* what, const char* examples) {
    Command command = group.add_subcommand(word, what);
    command.add_json_flag(session);
    command.footer(examples);
    return command;
  };

  auto prefix = std::make_shared<std::string>();
  Command ls = add("ls", "List kernels, those used last first: name, size, last use, kernel",
                   "Examples:\n  ricci cache ls\n  ricci cache ls 3fa8 --json");
  ls.add_option("name", *prefix, "Only names that begin with these digits");
  ls.callback([prefix, &session] { session.run = [prefix, &session] { return run_ls(*prefix, session.json); }; });

  auto shown = std::make_shared<ShowOptions>();
  Command show = add(
      "show", "Print one kernel: its source, or what else is stored with it",
      "Examples:\n  ricci cache show 3fa86e1b\n  ricci cache show 3fa86e1b --binary kernel.o && objdump -d kernel.o");
  show.add_option("name", shown->name, "The name, or enough of its first digits").required();
  show.add_flag("--source", shown->source, "The generated source (what is printed when nothing is chosen)");
  show.add_flag("--key", shown->key, "The text under which it is stored");
  show.add_flag("--metadata", shown->metadata, "What the runtime noted about it");
  show.add_option("--binary", shown->binary, "Write the object or CUBIN to this file");
  show.callback([shown, &session] { session.run = [shown, &session] { return run_show(*shown, session.json); }; });

  Command stats = add("stats", "Count entries and bytes of each directory", "Example:\n  ricci cache stats");
  stats.callback([&session] { session.run = [&session] { return run_stats(session.json); }; });

  auto remove = std::make_shared<bool>(false);
  Command verify = add("verify", "Read every kernel and check it; exit code 1 when damaged files stay",
                       "Examples:\n  ricci cache verify\n  ricci cache verify --remove");
  verify.add_flag("--remove", *remove, "Remove damaged files");
  verify.callback(
      [remove, &session] { session.run = [remove, &session] { return run_verify(*remove, session.json); }; });

  auto words = std::make_shared<PruneWords>();
  Command prune =
      add("prune", "Remove kernels, those used longest ago first; without options down to RICCI_CACHE_MAX",
          "Examples:\n  ricci cache prune --older-than 30d\n  ricci cache prune --max 64M\n  ricci cache prune --all");
  prune.add_option("--max", words->max, "Down to this size: 64M, 2G");
  prune.add_option("--older-than", words->older_than, "What was last used longer ago than: 30d, 12h, 10m, 45s");
  prune.add_flag("--all", words->all, "Everything");
  prune.callback([words, &session] { session.run = [words, &session] { return run_prune(*words, session.json); }; });

  auto out = std::make_shared<std::string>();
  auto names = std::make_shared<std::vector<std::string>>();
  Command packed = add("export", "Pack kernels into one file",
                       "Examples:\n  ricci cache export kernels.ricci\n  ricci cache export two.ricci 3fa86e1b 77c0");
  packed.add_option("file", *out, "The file to write").required();
  packed.add_option("names", *names, "Only kernels whose names begin so");
  packed.callback([out, names, &session] {
    session.run = [out, names, &session] { return run_export(*out, *names, session.json); };
  });

  auto in = std::make_shared<std::string>();
  Command unpacked =
      add("import", "Add the kernels of such a file; it holds code that will run, so know where it is from",
          "Example:\n  ricci cache import kernels.ricci");
  unpacked.add_option("file", *in, "The file to read").required();
  unpacked.callback([in, &session] { session.run = [in, &session] { return run_import(*in, session.json); }; });
}

}  // namespace ricci::tools
