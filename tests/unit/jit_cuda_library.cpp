// Finding NVRTC and its version without opening it, in folders made for the purpose.
#include <elf.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "catch.hpp"
#include "jit/nvrtc_library.hpp"
#include "temporary_folder.hpp"

namespace jit_cuda_library_test {

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;
using ricci::jit::find_nvrtc;
using ricci::jit::nvrtc_file_version;
using ricci::jit::NvrtcFile;
using ricci::jit::NvrtcPlaces;

namespace {

#if defined(__aarch64__)
constexpr Elf64_Half kHere = EM_AARCH64, kElsewhere = EM_X86_64;
constexpr const char* kTarget = "targets/sbsa-linux/lib";
#else
constexpr Elf64_Half kHere = EM_X86_64, kElsewhere = EM_AARCH64;
constexpr const char* kTarget = "targets/x86_64-linux/lib";
#endif

class Folder : public ricci::tests::TemporaryFolder {
 public:
  /// A shared library as far as headers and one section of read-only data go.
  fs::path library(const fs::path& name, const std::string& data = "", Elf64_Half machine = kHere) const {
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_type = ET_DYN;
    header.e_machine = machine;
    header.e_shoff = sizeof header;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = 1;
    Elf64_Shdr section{};
    section.sh_type = SHT_PROGBITS;
    section.sh_flags = SHF_ALLOC;
    section.sh_offset = sizeof header + sizeof section;
    section.sh_size = data.size();
    const fs::path path = *this / name;
    fs::create_directories(path.parent_path());
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(&header), sizeof header);
    file.write(reinterpret_cast<const char*>(&section), sizeof section);
    file << data;
    return path;
  }
};

NvrtcPlaces nowhere() {
  NvrtcPlaces places;
  places.toolkit.clear();
  places.linker = false;
  return places;
}

}  // namespace

TEST_CASE("the version is read from the file name behind the links") {
  const Folder folder;
  folder.library("libnvrtc.so.12.8.93");
  fs::create_symlink("libnvrtc.so.12.8.93", folder / "libnvrtc.so.12");
  fs::create_symlink("libnvrtc.so.12", folder / "libnvrtc.so");
  CHECK(nvrtc_file_version((folder / "libnvrtc.so").string()) == "12.8.93");
}

TEST_CASE("the version is read from the data where the name does not say it") {
  const Folder folder;
  const std::string decoys = "Cuda compilation tools, release %d.%d,\nCuda compilation tools, release 9.0, Vx\n";
  const fs::path full = folder.library(
      "a/libnvrtc.so.12", std::string(10000, 'x') + decoys + "Cuda compilation tools, release 12.4, V12.4.127\nBuild");
  CHECK(nvrtc_file_version(full.string()) == "12.4.127");
  CHECK(nvrtc_file_version(folder.library("b/libnvrtc.so.12", decoys).string()).empty());
  CHECK(nvrtc_file_version(folder.library("c/libnvrtc.so.12", "Cuda compilation tools, release ").string()).empty());
  CHECK(nvrtc_file_version((folder / "none").string()).empty());
}

TEST_CASE("a damaged library has no version and is not taken") {
  const Folder folder;
  const fs::path path = folder.library("libnvrtc.so.13", "Cuda compilation tools, release 13.0, V13.0.88");
  REQUIRE(nvrtc_file_version(path.string()) == "13.0.88");
  fs::resize_file(path, 100);  // the section table lies beyond the end
  CHECK(nvrtc_file_version(path.string()).empty());
  fs::resize_file(path, 10);
  NvrtcPlaces places = nowhere();
  places.cuda_home = (folder / "").string();
  const NvrtcFile found = find_nvrtc(places);
  CHECK(found.path.empty());
  REQUIRE(!found.looked_in.empty());
  CHECK_THAT(found.looked_in.front(),
             ContainsSubstring("libnvrtc.so.13") && ContainsSubstring("not a library for this machine"));
}

TEST_CASE("places are searched in order") {
  const Folder folder;
  NvrtcPlaces places = nowhere();
  places.cuda_home = (folder / "home").string();
  places.cuda_path = (folder / "path").string();
  places.toolkit = (folder / "toolkit").string();
  places.hint = (folder / "hint").string();
  places.library_path = "::" + (folder / "empty").string() + ":" + (folder / "ld").string();

  const auto found = [&] { return fs::path(find_nvrtc(places).path).lexically_relative(folder / "").string(); };
  CHECK(find_nvrtc(places).path.empty());
  CHECK(find_nvrtc(places).looked_in.size() == 6);
  folder.library("ld/libnvrtc.so.13");
  CHECK(found() == "ld/libnvrtc.so.13");
  folder.library("hint/nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
  CHECK(found() == "hint/nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
  folder.library("hint/nvidia/cu13/lib/libnvrtc.so.13");
  CHECK(found() == "hint/nvidia/cu13/lib/libnvrtc.so.13");
  folder.library("hint/libnvrtc.so.13");
  CHECK(found() == "hint/libnvrtc.so.13");
  folder.library("toolkit/lib/libnvrtc.so.12");
  CHECK(found() == "toolkit/lib/libnvrtc.so.12");
  folder.library("toolkit/lib/libnvrtc.so.13");
  CHECK(found() == "toolkit/lib/libnvrtc.so.13");
  folder.library("path/lib64/libnvrtc.so.14");
  CHECK(found() == "toolkit/lib/libnvrtc.so.13");  // a release to come is known by its unversioned link only
  fs::create_symlink("libnvrtc.so.14", folder / "path/lib64/libnvrtc.so");
  CHECK(found() == "path/lib64/libnvrtc.so.14");
  folder.library("home/lib64/libnvrtc.so.13", "", kElsewhere);
  CHECK(found() == "path/lib64/libnvrtc.so.14");
  folder.library(fs::path("home") / kTarget / "libnvrtc.so.12");
  CHECK(found() == std::string("home/") + kTarget + "/libnvrtc.so.12");
  places.built = false;
  CHECK(find_nvrtc(places).path.empty());
}

TEST_CASE("RICCI_NVRTC is the only place when it is set") {
  const Folder folder;
  NvrtcPlaces places = nowhere();
  places.cuda_home = (folder / "home").string();
  folder.library("home/lib64/libnvrtc.so.13");
  const fs::path own = folder.library("own/my-nvrtc.so", "Cuda compilation tools, release 12.9, V12.9.86");
  places.ricci_nvrtc = own.string();
  CHECK(find_nvrtc(places).path == own.string());
  CHECK(find_nvrtc(places).version == "12.9.86");
  places.ricci_nvrtc = (folder / "own").string();
  CHECK(find_nvrtc(places).path.empty());
  CHECK_THAT(find_nvrtc(places).looked_in.back(), ContainsSubstring("RICCI_NVRTC"));
  folder.library("own/lib/libnvrtc.so.12");
  CHECK(find_nvrtc(places).path == (folder / "own/lib/libnvrtc.so.12").string());
  places.ricci_nvrtc = (folder / "missing").string();
  CHECK(find_nvrtc(places).path.empty());
  CHECK_THAT(find_nvrtc(places).looked_in.back(), ContainsSubstring("missing (no such file), which RICCI_NVRTC names"));
}

}  // namespace jit_cuda_library_test
