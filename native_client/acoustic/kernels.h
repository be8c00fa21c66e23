// The kernels of inference: dense layers over many frames, and the LSTM's recurrence, frame by frame for many
// utterances at once. Columns of weights are in blocks of 64.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "shared/machines.h"

namespace acoustic {

using shared::kLanes;
using shared::Machine;
using shared::machines;

constexpr std::size_t kColumns = 4 * kLanes;

struct DenseLayer {
  const float* weights;  // [blocks, rows, 64]
  const float* bias;     // [blocks, 64]
  std::size_t blocks;    // of columns; the last may be padded with zeros
  std::size_t rows;
  std::size_t unused = 0;  // last columns, which only pad blocks: their outputs need not be written
};

constexpr std::size_t kProductsWorthThreads = std::size_t{1} << 24;  // smaller products take little time

// The number of threads, at most `threads`, that are worth starting for a product of this size.
inline std::size_t useful_threads(std::size_t threads, std::size_t frames, std::size_t rows, std::size_t blocks) {
  if (frames * rows * blocks * kColumns < kProductsWorthThreads) return 1;
  return std::max<std::size_t>(1, std::min(threads, blocks));
}

// outputs [frames, blocks * 64] = min(max(inputs [frames, rows] · weights + bias, low), high), on at most `threads`
// threads, each with its share of the blocks.
void dense(const DenseLayer& layer, const float* inputs, std::size_t frames, float low, float high,
           std::size_t threads, float* outputs, Machine machine = machines().back());

// A block holds the input, candidate, forget and output gates, in this order, of 16 hidden units. All weights are
// read from memory in every frame, so they are 16-bit integers with a scale for each column: half the memory of floats,
// and precise to more than four digits.
struct RecurrentLayer {
  const std::int16_t* weights;  // [blocks, rows, 64]
  const float* scales;          // [blocks, 64]: a weight is its integer times its column's scale
  std::size_t blocks;
  std::size_t rows;  // hidden units; units beyond, which pad the last block, do not feed back
};

// Utterances that an LSTM runs over together: in each frame, one product for all their states.
struct Utterances {
  std::vector<std::size_t> lengths;  // frames of each, in any order
  const float* gates;                // [sum of lengths, blocks, 64], one utterance after the other
  float* cells;                      // [utterances, 16 * blocks]
  float* states;                     // [utterances, 16 * blocks]
  float* hidden;                     // [sum of lengths, 16 * blocks]
};

// Runs an LSTM without peepholes (Hochreiter and Schmidhuber, 1997; with the forget gate of Gers et al., 2000). From
// the cell c and the hidden state h of the previous frame, with U the layer's weights and a the frame's `gates`,
//
//   i = sigmoid(a_i + h U_i)    g = tanh(a_g + h U_g)    f = sigmoid(a_f + h U_f)    o = sigmoid(a_o + h U_o)
//   c' = f c + i g              h' = o tanh(c')
//
// `gates` is the part from the input and the bias; `hidden` receives the hidden states. `cells` and `states` are c and
// h before each utterance's first frame, and become those after its last. An utterance's results do not depend, bit for
// bit, on the others or on the number of threads.
void recurrence(const RecurrentLayer& layer, const Utterances& utterances, std::size_t threads,
                Machine machine = machines().back());

}  // namespace acoustic
