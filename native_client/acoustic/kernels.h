// What the acoustic model spends its time on, for one utterance: dense layers over many frames, and the part of the
// LSTM that goes frame by frame. Columns of weights lie in blocks of 64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace acoustic {

constexpr std::size_t kLanes = 16;
constexpr std::size_t kColumns = 4 * kLanes;

// The kinds of machine that there are kernels for, each a superset of those before.
enum class Machine { kAny, kAvx2, kAvx512 };

// Those that this machine is, the best one last.
const std::vector<Machine>& machines();

struct DenseLayer {
  const float* weights;  // [blocks, rows, 64]
  const float* bias;     // [blocks, 64]
  std::size_t blocks;    // of columns; the last may be filled up with zeros
  std::size_t rows;
};

// outputs [frames, blocks * 64] = inputs [frames, rows] times the weights, plus the bias, from `low` to `high`.
// The blocks are shared out to so many threads.
void dense(const DenseLayer& layer, const float* inputs, std::size_t frames, float low, float high,
           std::size_t threads, float* outputs, Machine machine = machines().back());

// A block holds the input, candidate, forget and output gates, in this order, of 16 hidden units. All weights are
// read from memory in every frame, so they are 16-bit integers with a scale for each column: half as much, and more
// than four digits.
struct RecurrentLayer {
  const std::int16_t* weights;  // [blocks, rows, 64]
  const float* scales;          // [blocks, 64]: a weight is its integer times its column's scale
  std::size_t blocks;
  std::size_t rows;  // hidden units; those beyond, which fill up the last block, do not feed back
};

// Runs an LSTM. `gates` [frames, blocks, 64] is what comes from the input and the bias; `hidden` [frames, 16 * blocks]
// receives the hidden states. `cell` and `state`, each [16 * blocks], are the cell and hidden state before the first
// frame and become those after the last.
void recurrence(const RecurrentLayer& layer, const float* gates, std::size_t frames, float* cell, float* state,
                float* hidden, Machine machine = machines().back());

}  // namespace acoustic
