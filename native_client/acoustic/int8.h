// The kernels of inference with weights of 8 bits: a weight is its integer times the scale of its column. Inputs are
// also rounded, with a scale for each row, which is found at run time. Products and sums of integers are exact, so they
// are the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>

#include "acoustic/kernels.h"

namespace acoustic {

constexpr std::size_t kQuad = 4;      // rows whose weights of a column are adjacent
constexpr std::size_t kRowsFill = 64;  // rows are padded with zeros to a multiple of this

struct Int8Weights {
  const std::int8_t* weights;  // [blocks, quads, 64, 4], from -127 to 127
  const float* scales;         // [blocks, 64]
  const std::int32_t* sums;    // [blocks, 64], of the integers of each column
  std::size_t blocks;
  std::size_t rows;  // before padding

  std::size_t filled_rows() const { return (rows + kRowsFill - 1) / kRowsFill * kRowsFill; }
};

struct Int8DenseLayer {
  Int8Weights weights;
  const float* bias;  // [blocks, 64]
};

// As `dense` and `recurrence` of kernels.h.
void dense(const Int8DenseLayer& layer, const float* inputs, std::size_t frames, float low, float high,
           std::size_t threads, float* outputs, Machine machine = machines().back());
void recurrence(const Int8Weights& weights, const Utterances& utterances, std::size_t threads,
                Machine machine = machines().back());

}  // namespace acoustic
