// The part of an LSTM that goes frame by frame, for one utterance.
//
// Hidden units lie in blocks of 16. A block has 64 columns: 16 for each of its units' input, candidate, forget and
// output gates, in this order. Weights are 16-bit integers with a scale for each column, which halves what has to be
// read from memory in every frame and keeps more than four digits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace acoustic {

constexpr std::size_t kLanes = 16;
constexpr std::size_t kColumns = 4 * kLanes;

struct Weights {
  const std::int16_t* values;  // [blocks, units, 64]
  const float* scales;         // [blocks, 64]: a weight is its value times its column's scale
  std::size_t blocks;          // of hidden units; the last may be filled up with units whose weights are zero
  std::size_t units;           // that feed back: rows of the weights, at most 16 * blocks
};

// Runs `frames` frames. `gates` [frames, blocks, 64] are the products of the input and the bias; `hidden`
// [frames, 16 * blocks] receives the hidden states. `cell` and `state`, each [16 * blocks], are the cell and hidden
// state before the first frame and become those after the last.
void run(const Weights& weights, const float* gates, std::size_t frames, float* cell, float* state, float* hidden);

}  // namespace acoustic
