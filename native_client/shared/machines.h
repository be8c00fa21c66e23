// The kinds of machines that kernels are compiled for, and the kinds that fit this machine.
#pragma once

#include <cstddef>
#include <vector>

#if defined(__linux__) && defined(__x86_64__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define HAS_SEVERAL_MACHINES
#endif

namespace shared {

// Numbers in the largest vector of vectors.inc, and hidden units in a block of weights.
constexpr std::size_t kLanes = 16;

// Each kind is a superset of those before it.
enum class Machine { kAny, kAvx2, kAvx512, kAvx512Vnni, kAvx512Bfloat16, kAmx };

// Asks the system for permission to use tiles, as it must save their large registers for each thread.
inline bool may_use_tiles() {
#if defined(__linux__) && defined(__x86_64__)
  constexpr long kAskForState = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM of Linux's asm/prctl.h
  return syscall(SYS_arch_prctl, kAskForState, kTileData) == 0;
#else
  return false;
#endif
}

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
  if (!__builtin_cpu_supports("avx512vnni")) return found;
  found.push_back(Machine::kAvx512Vnni);
  if (!__builtin_cpu_supports("avx512bf16")) return found;
  found.push_back(Machine::kAvx512Bfloat16);
  if (__builtin_cpu_supports("amx-int8") && __builtin_cpu_supports("amx-bf16") && may_use_tiles()) {
    found.push_back(Machine::kAmx);
  }
#endif
  return found;
}

// The kinds that fit this machine, the best one last.
inline const std::vector<Machine>& machines() {
  static const std::vector<Machine> found = find_machines();
  return found;
}

}  // namespace shared
