// Runs one program on .npy files, by the interpreter or on a device: what programs.py drives.
//
// usage: program_runner PROGRAM interpreter|cpu|gpu [NAME=FILE.npy]... [NAME:=NUMBER]... [--extent NAME=N]...
//        --out NAME=FILE.npy...
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "jit/cuda_driver.hpp"
#include "npy.hpp"
#include "ricci/ricci.hpp"

namespace {

using ricci::tools::NpyArray;

struct Words {
  std::string program, device;
  std::map<std::string, std::string> inputs, outputs;  // file of each tensor
  std::map<std::string, double> params;
  std::map<std::string, std::int64_t> extents;
};

std::pair<std::string, std::string> cut(const std::string& word, const std::string& at) {
  const std::size_t place = word.find(at);
  if (place == std::string::npos) throw std::runtime_error("not understood: " + word);
  return {word.substr(0, place), word.substr(place + at.size())};
}

Words read_words(int argc, char** argv) {
  if (argc < 3) throw std::runtime_error("usage: program_runner PROGRAM interpreter|cpu|gpu ...");
  Words words{argv[1], argv[2], {}, {}, {}, {}};
  for (int k = 3; k < argc; ++k) {
    const std::string word = argv[k];
    if (word == "--extent" && k + 1 < argc) {
      const auto [name, value] = cut(argv[++k], "=");
      words.extents[name] = std::stoll(value);
    } else if (word == "--out" && k + 1 < argc) {
      words.outputs.insert(cut(argv[++k], "="));
    } else if (word.find(":=") != std::string::npos) {
      const auto [name, value] = cut(word, ":=");
      words.params[name] = std::stod(value);
    } else {
      words.inputs.insert(cut(word, "="));
    }
  }
  return words;
}

std::string read_text(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(in), {}};
}

using Bytes = std::vector<std::byte>;

/// The arrays of the program's tensors, by name: those of the files, and outputs filled with ones.
std::map<std::string, Bytes> arrays_of(const Words& words, ricci::Program& program) {
  std::map<std::string, Bytes> arrays;
  std::map<std::string, std::vector<std::int64_t>> shapes;
  for (const auto& [name, file] : words.inputs) {
    const NpyArray array = ricci::tools::read_npy(file);
    if (array.header.fortran_order && array.layout.rank() > 1) throw std::runtime_error(file + ": not in C order");
    shapes[name] = array.header.shape;
    arrays[name].assign(array.data.data(), array.data.data() + array.data.size());
  }
  program.bind(shapes);
  for (const auto& tensor : program.tensors()) {
    if (tensor.role != ricci::TensorRole::output) continue;
    std::int64_t bytes = ricci::size_of(tensor.type);
    for (const std::int64_t extent : tensor.shape) bytes *= extent;
    arrays[tensor.name].assign(static_cast<std::size_t>(bytes), std::byte{1});
  }
  return arrays;
}

std::vector<ricci::Scalar> params_of(const Words& words, const ricci::Program& program) {
  std::vector<ricci::Scalar> params;
  for (const auto& param : program.params()) params.emplace_back(words.params.at(param.name));
  return params;
}

/// What a call takes: a pointer for each tensor that is written and each that is only read, as declared.
struct Pointers {
  std::vector<void*> outputs;
  std::vector<const void*> inputs;
};

Pointers pointers_of(const ricci::Program& program, const std::map<std::string, void*>& places) {
  Pointers pointers;
  for (const auto& tensor : program.tensors()) {
    if (tensor.role == ricci::TensorRole::input) {
      pointers.inputs.push_back(places.at(tensor.name));
    } else if (tensor.role == ricci::TensorRole::output || tensor.role == ricci::TensorRole::inout) {
      pointers.outputs.push_back(places.at(tensor.name));
    }
  }
  return pointers;
}

void run_on_host(const Words& words, const ricci::Program& program, std::map<std::string, Bytes>& arrays,
                 const std::vector<ricci::Scalar>& params) {
  std::map<std::string, void*> places;
  for (auto& [name, bytes] : arrays) places[name] = bytes.data();
  const auto pointers = pointers_of(program, places);
  if (words.device == "interpreter") {
    ricci::Runtime::interpret_program(program, pointers.outputs, pointers.inputs, params);
    return;
  }
  ricci::Call call;
  call.params = params;
  ricci::Runtime::global().plan_program(program)(pointers.outputs, pointers.inputs, call);
}

void run_on_gpu(const ricci::Program& program, std::map<std::string, Bytes>& arrays,
                const std::vector<ricci::Scalar>& params) {
  namespace cuda = ricci::jit::cuda;
  ricci::PlanOptions options;
  options.device = ricci::Device::gpu;
  const auto plan = ricci::Runtime::global().plan_program(program, options);
  std::map<std::string, void*> places;
  for (auto& [name, bytes] : arrays) {
    places[name] = cuda::allocate(bytes.size());
    cuda::copy_to_device(places[name], bytes.data(), bytes.size());
  }
  const auto pointers = pointers_of(program, places);
  ricci::Call call;
  call.params = params;
  plan(pointers.outputs, pointers.inputs, call);
  for (auto& [name, bytes] : arrays) {
    cuda::copy_to_host(bytes.data(), places.at(name), bytes.size());
    cuda::release(places.at(name));
  }
}

int run(const Words& words) {
  auto program = ricci::Program::parse(read_text(words.program));
  for (const auto& [index, extent] : words.extents) program.set_extent(index, extent);
  auto arrays = arrays_of(words, program);
  const auto params = params_of(words, program);
  if (words.device != "gpu") {
    run_on_host(words, program, arrays, params);
  } else if (ricci::jit::cuda::available()) {
    run_on_gpu(program, arrays, params);
  } else {
    std::printf("[SKIP] no GPU: %s\n", ricci::jit::cuda::unavailable_reason().c_str());
    return 0;
  }
  for (const auto& tensor : program.tensors()) {
    if (const auto file = words.outputs.find(tensor.name); file != words.outputs.end()) {
      ricci::tools::write_npy(file->second, ricci::Layout::row_major(tensor.type, tensor.shape),
                              arrays.at(tensor.name).data());
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(read_words(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
