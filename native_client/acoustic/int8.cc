#include "acoustic/int8.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

#include "acoustic/frames_in_turn.h"
#include "shared/threads.h"

#ifdef HAS_SEVERAL_MACHINES
#include <immintrin.h>
#endif

namespace acoustic {
namespace {

// Inputs that are rounded to integers with a scale for each row.
struct Rounded {
  std::vector<std::uint8_t> bytes;  // [count, filled rows]
  std::vector<float> scales;        // [count]

  Rounded(std::size_t count, std::size_t width) : bytes(count * width), scales(count) {}
};

#define KERNELS "acoustic/int8_kernels.inc"

#define MACHINE any_machine
#include KERNELS
#undef MACHINE

#ifdef HAS_SEVERAL_MACHINES
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#define HAS_PAIR_PRODUCTS
#define MACHINE avx2
#include KERNELS
#undef MACHINE
#undef HAS_PAIR_PRODUCTS
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,fma,prefer-vector-width=512")
#define HAS_VNNI
#define MACHINE avx512_vnni
#include KERNELS
#undef MACHINE
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,amx-tile,amx-int8,fma,prefer-vector-width=512")
#define HAS_TILES
#define MACHINE amx
#include KERNELS
#undef MACHINE
#undef HAS_TILES
#undef HAS_VNNI
#pragma GCC pop_options
#endif

struct Kernels {
  decltype(&any_machine::quantize) quantize;
  decltype(&any_machine::dense) dense;
  decltype(&any_machine::recurrent_frames) recurrent_frames;
};

Kernels kernels(Machine machine) {
#ifdef HAS_SEVERAL_MACHINES
  if (machine >= Machine::kAmx) return {amx::quantize, amx::dense, amx::recurrent_frames};
  if (machine >= Machine::kAvx512Vnni) {
    return {avx512_vnni::quantize, avx512_vnni::dense, avx512_vnni::recurrent_frames};
  }
  if (machine >= Machine::kAvx2) return {avx2::quantize, avx2::dense, avx2::recurrent_frames};
#endif
  (void)machine;
  return {any_machine::quantize, any_machine::dense, any_machine::recurrent_frames};
}

}  // namespace

void dense(const Int8DenseLayer& layer, const float* inputs, std::size_t frames, float low, float high,
           std::size_t threads, float* outputs, Machine machine) {
  const Kernels chosen = kernels(machine);
  const std::size_t rows = layer.weights.rows, width = layer.weights.filled_rows(), blocks = layer.weights.blocks;
  Rounded rounded(frames, width);
  threads = std::max<std::size_t>(1, std::min(threads, blocks));
  shared::share_out(threads, threads, [&](std::size_t index) {
    for (std::size_t frame = frames * index / threads; frame < frames * (index + 1) / threads; ++frame) {
      rounded.scales[frame] = chosen.quantize(inputs + frame * rows, rows, width, rounded.bytes.data() + frame * width);
    }
  });
  shared::share_out(threads, threads, [&](std::size_t index) {
    chosen.dense(layer, rounded, low, high, blocks * index / threads, blocks * (index + 1) / threads, outputs);
  });
}

void recurrence(const Int8Weights& weights, const Utterances& utterances, std::size_t threads, Machine machine) {
  const Kernels chosen = kernels(machine);
  const std::size_t width = weights.filled_rows();
  Rounded rounded(utterances.lengths.size(), width);
  const auto round_states = [&](shared::ThreadTeam& team, const Frame* frames, std::size_t count) {
    team.share_out(count, [&](std::size_t each) {
      std::uint8_t* const bytes = rounded.bytes.data() + each * width;
      rounded.scales[each] = chosen.quantize(frames[each].state, weights.rows, width, bytes);
    });
  };
  run_in_turns(utterances, weights.blocks, threads, round_states,
               [&](const Frame* frames, std::size_t count, std::size_t first, std::size_t last) {
                 chosen.recurrent_frames(weights, rounded, frames, count, first, last);
               });
}

}  // namespace acoustic
