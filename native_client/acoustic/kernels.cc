#include "acoustic/kernels.h"

#include <algorithm>
#include <cstring>

#include "shared/threads.h"

namespace acoustic {
namespace {

#define KERNELS "acoustic/machine_kernels.inc"
#include "shared/each_machine.inc"

struct Kernels {
  decltype(&any_machine::dense) dense;
  decltype(&any_machine::recurrence) recurrence;
};

Kernels kernels(Machine machine) {
  switch (machine) {
#ifdef HAS_SEVERAL_MACHINES
    case Machine::kAvx512Bfloat16:
    case Machine::kAvx512: return {avx512::dense, avx512::recurrence};
    case Machine::kAvx2: return {avx2::dense, avx2::recurrence};
#endif
    default: return {any_machine::dense, any_machine::recurrence};
  }
}

}  // namespace

void dense(const DenseLayer& layer, const float* inputs, std::size_t frames, float low, float high,
           std::size_t threads, float* outputs, Machine machine) {
  threads = std::max<std::size_t>(1, std::min(threads, layer.blocks));
  const auto share = [&](std::size_t index) {
    const std::size_t first = layer.blocks * index / threads;
    const std::size_t last = layer.blocks * (index + 1) / threads;
    kernels(machine).dense(layer, inputs, frames, low, high, first, last, outputs);
  };
  shared::share_out(threads, threads, share);
}

void recurrence(const RecurrentLayer& layer, const float* gates, std::size_t frames, float* cell, float* state,
                float* hidden, Machine machine) {
  kernels(machine).recurrence(layer, gates, frames, cell, state, hidden);
}

}  // namespace acoustic
