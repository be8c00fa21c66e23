// Dense layers and recurrences whose inputs are rounded before they are multiplied.
#pragma once

#include <algorithm>
#include <cstddef>

#include "acoustic/frames_in_turn.h"
#include "shared/threads.h"

namespace acoustic {

constexpr std::size_t kMostTogether = 32;  // inputs whose sums are computed together

// The kernels of one kind of machine. `Rounded` holds rounded inputs, with one row for each frame.
template <class Rounded, class Layer, class Weights>
struct RoundedKernels {
  // Rounds inputs [rows], which become input `number` of `rounded`.
  void (*round)(const float* inputs, std::size_t rows, Rounded& rounded, std::size_t number);
  // Compute the blocks from `first` up to, but without, `last`.
  void (*dense)(const Layer& layer, const Rounded& inputs, float low, float high, std::size_t first, std::size_t last,
                float* outputs);
  void (*recurrent_frames)(const Weights& weights, const Rounded& states, const Frame* frames, std::size_t count,
                           std::size_t first, std::size_t last);
};

// Like `dense` of kernels.h, with inputs that are rounded first.
template <class Rounded, class Layer, class Weights>
void rounded_dense(const RoundedKernels<Rounded, Layer, Weights>& chosen, const Layer& layer, const float* inputs, std::size_t frames, float low,
                   float high, std::size_t threads, float* outputs) {
  const std::size_t rows = layer.weights.rows, blocks = layer.weights.blocks;
  Rounded rounded(frames, layer.weights.filled_rows());
  threads = useful_threads(threads, frames, rows, blocks);
  shared::share_out(threads, threads, [&](std::size_t index) {
    for (std::size_t frame = frames * index / threads; frame < frames * (index + 1) / threads; ++frame) {
      chosen.round(inputs + frame * rows, rows, rounded, frame);
    }
  });
  shared::share_out(threads, threads, [&](std::size_t index) {
    chosen.dense(layer, rounded, low, high, blocks * index / threads, blocks * (index + 1) / threads, outputs);
  });
}

// Like `recurrence` of kernels.h, with states that are rounded before each turn.
template <class Rounded, class Layer, class Weights>
void rounded_recurrence(const RoundedKernels<Rounded, Layer, Weights>& chosen, const Weights& weights,
                        const Utterances& utterances, std::size_t threads) {
  Rounded rounded(utterances.lengths.size(), weights.filled_rows());
  const auto round_states = [&](shared::ThreadTeam& team, const Frame* frames, std::size_t count) {
    team.share_out(count, [&](std::size_t each) { chosen.round(frames[each].state, weights.rows, rounded, each); });
  };
  const std::size_t bytes = weights.blocks * weights.filled_rows() * kColumns * sizeof *weights.weights;
  run_in_turns(utterances, weights.blocks, bytes, threads, round_states,
               [&](const Frame* frames, std::size_t count, std::size_t first, std::size_t last) {
                 chosen.recurrent_frames(weights, rounded, frames, count, first, last);
               });
}

}  // namespace acoustic
