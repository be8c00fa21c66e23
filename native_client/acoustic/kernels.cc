#include "acoustic/kernels.h"

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

namespace acoustic {
namespace {

#define MACHINE any_machine
#include "acoustic/machine_kernels.inc"
#undef MACHINE

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define HAS_SEVERAL_KERNELS

#pragma GCC push_options
#pragma GCC target("avx2,fma")
#define MACHINE avx2
#include "acoustic/machine_kernels.inc"
#undef MACHINE
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,fma,prefer-vector-width=512")
#define MACHINE avx512
#include "acoustic/machine_kernels.inc"
#undef MACHINE
#pragma GCC pop_options
#endif

struct Kernels {
  decltype(&any_machine::dense) dense;
  decltype(&any_machine::recurrence) recurrence;
};

Kernels kernels(Machine machine) {
  switch (machine) {
#ifdef HAS_SEVERAL_KERNELS
    case Machine::kAvx512: return {avx512::dense, avx512::recurrence};
    case Machine::kAvx2: return {avx2::dense, avx2::recurrence};
#endif
    default: return {any_machine::dense, any_machine::recurrence};
  }
}

std::vector<Machine> find_machines() {
  std::vector<Machine> found{Machine::kAny};
#ifdef HAS_SEVERAL_KERNELS
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return found;
  found.push_back(Machine::kAvx2);
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    found.push_back(Machine::kAvx512);
  }
#endif
  return found;
}

}  // namespace

const std::vector<Machine>& machines() {
  static const std::vector<Machine> found = find_machines();
  return found;
}

void dense(const DenseLayer& layer, const float* inputs, std::size_t frames, float low, float high,
           std::size_t threads, float* outputs, Machine machine) {
  threads = std::max<std::size_t>(1, std::min(threads, layer.blocks));
  const auto share = [&](std::size_t index) {
    const std::size_t first = layer.blocks * index / threads;
    const std::size_t last = layer.blocks * (index + 1) / threads;
    kernels(machine).dense(layer, inputs, frames, low, high, first, last, outputs);
  };
  std::vector<std::thread> others;
  for (std::size_t index = 1; index < threads; ++index) others.emplace_back(share, index);
  share(0);
  for (std::thread& other : others) other.join();
}

void recurrence(const RecurrentLayer& layer, const float* gates, std::size_t frames, float* cell, float* state,
                float* hidden, Machine machine) {
  kernels(machine).recurrence(layer, gates, frames, cell, state, hidden);
}

}  // namespace acoustic
