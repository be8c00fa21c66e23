// The kinds of machine that kernels are compiled for, and those that this machine is.
#pragma once

#include <cstddef>
#include <vector>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define HAS_SEVERAL_MACHINES
#endif

namespace shared {

// Numbers in one of the vectors of vectors.inc.
constexpr std::size_t kLanes = 16;

// Each is a superset of those before.
enum class Machine { kAny, kAvx2, kAvx512, kAvx512Bfloat16 };

inline std::vector<Machine> find_machines() {
  std::vector<Machine> found{Machine::kAny};
#ifdef HAS_SEVERAL_MACHINES
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return found;
  found.push_back(Machine::kAvx2);
  if (!__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512dq") ||
      !__builtin_cpu_supports("avx512vl")) {
    return found;
  }
  found.push_back(Machine::kAvx512);
  if (__builtin_cpu_supports("avx512bf16")) found.push_back(Machine::kAvx512Bfloat16);
#endif
  return found;
}

// The kinds that this machine is, the best one last.
inline const std::vector<Machine>& machines() {
  static const std::vector<Machine> found = find_machines();
  return found;
}

}  // namespace shared
