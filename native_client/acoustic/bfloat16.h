// The kernels of inference with weights of 16 bits that are the upper half of a float's (bfloat16), and inputs that are
// rounded likewise. Products are exact, and their sums are floats.
#pragma once

#include <cstddef>
#include <cstdint>

#include "acoustic/kernels.h"

namespace acoustic {

struct Bfloat16Weights {
  static constexpr std::size_t kPair = 2;       // rows whose weights of a column lie side by side
  static constexpr std::size_t kRowsFill = 32;  // rows are filled up with zeros to a multiple of this

  const std::uint16_t* weights;  // [blocks, pairs, 64, 2]
  std::size_t blocks;
  std::size_t rows;  // before they are filled up

  std::size_t filled_rows() const { return (rows + kRowsFill - 1) / kRowsFill * kRowsFill; }
};

struct Bfloat16DenseLayer {
  Bfloat16Weights weights;
  const float* bias;  // [blocks, 64]
};

// As `dense` and `recurrence` of kernels.h.
void dense(const Bfloat16DenseLayer& layer, const float* inputs, std::size_t frames, float low, float high,
           std::size_t threads, float* outputs, Machine machine = machines().back());
void recurrence(const Bfloat16Weights& weights, const Utterances& utterances, std::size_t threads,
                Machine machine = machines().back());

}  // namespace acoustic
