// A library with cuTT's functions, mangled as cuTT's are, that permutes on the host and counts the plans that are
// alive.
#include <cstring>
#include <map>
#include <vector>

#include "peers/api.hpp"

namespace cutt = ricci::tools::cutt;
struct CUstream_st;
using cutt::Handle;

namespace {

struct Plan {
  std::vector<int> extents, order;
  std::size_t bytes;
};
std::map<Handle, Plan> plans;
Handle next = 0;

int make(Handle* handle, int rank, const int* extents, const int* order, std::size_t bytes) {
  if (rank < 2 || (bytes != 4 && bytes != 8)) return cutt::kInvalidParameter;
  for (int k = 0; k < rank; ++k) {
    if (extents[k] < 2) return cutt::kInvalidParameter;
    if (extents[k] == 13) return cutt::kInternalError;
  }
  *handle = next++;
  plans[*handle] = {{extents, extents + rank}, {order, order + rank}, bytes};
  return cutt::kSuccess;
}

}  // namespace

extern "C" std::size_t fake_plans() { return plans.size(); }

int cuttPlan(Handle* handle, int rank, int* extents, int* order, std::size_t bytes, CUstream_st*);
int cuttPlan(Handle* handle, int rank, int* extents, int* order, std::size_t bytes, CUstream_st*) {
  return make(handle, rank, extents, order, bytes);
}

int cuttPlanMeasure(Handle* handle, int rank, int* extents, int* order, std::size_t bytes, CUstream_st*, void* from,
                    void* to);
int cuttPlanMeasure(Handle* handle, int rank, int* extents, int* order, std::size_t bytes, CUstream_st*, void* from,
                    void* to) {
  if (from == nullptr || to == nullptr || from == to) return cutt::kInvalidParameter;
  std::size_t volume = bytes;
  for (int k = 0; k < rank; ++k) volume *= static_cast<std::size_t>(extents[k]);
  std::memset(to, -1, volume);  // as cuTT does to clear the caches
  return make(handle, rank, extents, order, bytes);
}

int cuttDestroy(Handle handle);
int cuttDestroy(Handle handle) { return plans.erase(handle) == 1 ? cutt::kSuccess : cutt::kInvalidPlan; }

int cuttExecute(Handle handle, void* from, void* to);
int cuttExecute(Handle handle, void* from, void* to) {
  const auto place = plans.find(handle);
  if (place == plans.end()) return cutt::kInvalidPlan;
  const auto& [extents, order, bytes] = place->second;
  std::size_t count = 1;
  std::vector<std::size_t> strides;
  for (const int n : extents) {
    strides.push_back(count);
    count *= static_cast<std::size_t>(n);
  }
  for (std::size_t at = 0; at < count; ++at) {
    std::size_t rest = at, source = 0;
    for (const int axis : order) {
      const auto k = static_cast<std::size_t>(axis);
      source += rest % static_cast<std::size_t>(extents[k]) * strides[k];
      rest /= static_cast<std::size_t>(extents[k]);
    }
    std::memcpy(static_cast<char*>(to) + at * bytes, static_cast<const char*>(from) + source * bytes, bytes);
  }
  return cutt::kSuccess;
}
