// What the acoustic model spends its time on, for one utterance: dense layers over many frames, and the part of the LSTM
// that goes frame by frame.
//
// Weights are 16-bit integers with a scale for each column, which halves what has to be read from memory and keeps more
// than four digits. Columns lie in blocks of 64.
#pragma once

#include <cstddef>
#include <cstdint>

namespace acoustic {

constexpr std::size_t kLanes = 16;
constexpr std::size_t kColumns = 4 * kLanes;

struct Weights {
  const std::int16_t* values;  // [blocks, rows, 64]
  const float* scales;         // [blocks, 64]: a weight is its value times its column's scale
  const float* bias;           // [blocks, 64]
  std::size_t blocks;          // of columns; the last may be filled up with zeros
  std::size_t rows;
};

// outputs [frames, blocks * 64] = inputs [frames, rows] times the weights, plus the bias, and between `low` and `high`.
// The blocks are shared out to so many threads.
void dense(const Weights& weights, const float* inputs, std::size_t frames, float low, float high, std::size_t threads,
           float* outputs);

// Runs an LSTM. A block holds the input, candidate, forget and output gates, in this order, of 16 hidden units; the last
// units may be there only to fill it up, and have no row. `gates` [frames, blocks, 64] is what comes from the input;
// `hidden` [frames, 16 * blocks] receives the hidden states. `cell` and `state`, each [16 * blocks], are the cell and
// hidden state before the first frame and become those after the last. The bias is not used.
void recurrence(const Weights& weights, const float* gates, std::size_t frames, float* cell, float* state,
                float* hidden);

}  // namespace acoustic
