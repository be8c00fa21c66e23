// The kernels of inference with bfloat16 weights, which are the upper 16 bits of a float, and inputs that are rounded
// to bfloat16. Products are exact, and their sums are floats.
#pragma once

#include <cstddef>
#include <cstdint>

#include "acoustic/kernels.h"

namespace acoustic {

struct Bfloat16Weights {
  static constexpr std::size_t kPair = 2;       // rows whose weights of a column are adjacent
  static constexpr std::size_t kRowsFill = 32;  // rows are padded with zeros to a multiple of this

  const std::uint16_t* weights;  // [blocks, pairs, 64, 2]
  std::size_t blocks;
  std::size_t rows;  // before padding

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
