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

}  // namespace

void dense(const DenseLayer& layer, const float* inputs, std::size_t frames, float low, float high,
           std::size_t threads, float* outputs, Machine machine) {
  threads = useful_threads(threads, frames, layer.rows, layer.blocks);
  const auto share = [&](std::size_t index) {
    const std::size_t first = layer.blocks * index / threads;
    const std::size_t last = layer.blocks * (index + 1) / threads;
    OF_MACHINE(machine, dense)(layer, inputs, frames, low, high, first, last, outputs);
  };
  shared::share_out(threads, threads, share);
}

void recurrence(const RecurrentLayer& layer, const Utterances& utterances, std::size_t threads, Machine machine) {
  const auto compute = OF_MACHINE(machine, recurrent_frames);
  const auto nothing = [](shared::ThreadTeam&, const Frame*, std::size_t) {};
  const std::size_t bytes = layer.blocks * layer.rows * kColumns * sizeof *layer.weights;
  run_in_turns(utterances, layer.blocks, bytes, threads, nothing,
               [&](const Frame* frames, std::size_t count, std::size_t first, std::size_t last) {
                 compute(layer, frames, count, first, last);
               });
}

}  // namespace acoustic
