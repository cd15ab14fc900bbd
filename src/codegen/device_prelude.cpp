#include "prelude.hpp"

namespace ricci::codegen {

std::string device_prelude(const DeviceParts& parts) {
  std::string text = prelude::kCuda;
  if (parts.async) text.append("\n").append(prelude::kAsync);
  if (parts.tensor_core) text.append("\n").append(prelude::kTensorCore);
  if (parts.reduce) text.append("\n").append(prelude::kReduce);
  return text;
}

}  // namespace ricci::codegen
