// Weights in blocks of 64 columns, the layout of the kernels; see acoustic/kernels.h, int8.h and bfloat16.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "acoustic/bfloat16.h"
#include "acoustic/int8.h"
#include "acoustic/kernels.h"
#include "c_api/weights/large_pages.h"

namespace speech {

// A matrix [rows, columns], row by row, and the arrangement of its columns in blocks: in order, or, for the gates
// [4, units] of an LSTM, all four gates of 16 units in each block.
struct Matrix {
  const float* values;
  std::size_t rows, columns;
  bool gates;

  std::size_t blocks() const;
};

struct FloatBlocks {
  explicit FloatBlocks(const Matrix& matrix);
  acoustic::DenseLayer with(const float* bias) const { return {weights.data(), bias, blocks, rows}; }

  std::size_t blocks, rows;
  Weights<float> weights;
};

// Rounded to 16 bits, only for recurrences.
struct Int16Blocks {
  explicit Int16Blocks(const Matrix& matrix);
  acoustic::RecurrentLayer layer() const { return {weights.data(), scales.data(), blocks, rows}; }

  std::size_t blocks, rows;
  Weights<std::int16_t> weights;
  Weights<float> scales;
};

struct Int8Blocks {
  explicit Int8Blocks(const Matrix& matrix);
  acoustic::Int8Weights layer() const { return {weights.data(), scales.data(), sums.data(), blocks, rows}; }
  acoustic::Int8DenseLayer with(const float* bias) const { return {layer(), bias}; }

  std::size_t blocks, rows;
  Weights<std::int8_t> weights;
  Weights<float> scales;
  Weights<std::int32_t> sums;
};

struct Bfloat16Blocks {
  explicit Bfloat16Blocks(const Matrix& matrix);
  acoustic::Bfloat16Weights layer() const { return {weights.data(), blocks, rows}; }
  acoustic::Bfloat16DenseLayer with(const float* bias) const { return {layer(), bias}; }

  std::size_t blocks, rows;
  Weights<std::uint16_t> weights;
};


}  // namespace speech
