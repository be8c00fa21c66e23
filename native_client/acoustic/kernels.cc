#include "acoustic/kernels.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "acoustic/frames_in_turn.h"
#include "shared/threads.h"

#ifdef HAS_SEVERAL_MACHINES
#include <immintrin.h>
#endif

namespace acoustic {
namespace {

#define KERNELS "acoustic/float_kernels.inc"
#include "shared/each_machine.inc"

struct Kernels {
  decltype(&any_machine::dense) dense;
  decltype(&any_machine::recurrent_frames) recurrent_frames;
};

Kernels kernels(Machine machine) {
#ifdef HAS_SEVERAL_MACHINES
  if (machine >= Machine::kAvx512) return {avx512::dense, avx512::recurrent_frames};
  if (machine >= Machine::kAvx2) return {avx2::dense, avx2::recurrent_frames};
#endif
  (void)machine;
  return {any_machine::dense, any_machine::recurrent_frames};
}

}  // namespace

void dense(const DenseLayer& layer, const float* inputs, std::size_t frames, float low, float high,
           std::size_t threads, float* outputs, Machine machine) {
  threads = useful_threads(threads, frames, layer.rows, layer.blocks);
  const auto share = [&](std::size_t index) {
    const std::size_t first = layer.blocks * index / threads;
    const std::size_t last = layer.blocks * (index + 1) / threads;
    kernels(machine).dense(layer, inputs, frames, low, high, first, last, outputs);
  };
  shared::share_out(threads, threads, share);
}

void recurrence(const RecurrentLayer& layer, const Utterances& utterances, std::size_t threads, Machine machine) {
  const Kernels chosen = kernels(machine);
  const auto nothing = [](shared::ThreadTeam&, const Frame*, std::size_t) {};
  const std::size_t bytes = layer.blocks * layer.rows * kColumns * sizeof *layer.weights;
  run_in_turns(utterances, layer.blocks, bytes, threads, nothing,
               [&](const Frame* frames, std::size_t count, std::size_t first, std::size_t last) {
                 chosen.recurrent_frames(layer, frames, count, first, last);
               });
}

}  // namespace acoustic
