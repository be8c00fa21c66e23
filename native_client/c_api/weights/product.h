// Products with weights in blocks, of any precision.
#pragma once

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "acoustic/layers/product.h"
#include "c_api/weights/blocks.h"

namespace speech {

// The numbers that a network multiplies by: as they were trained, or rounded.
enum class Precision { kFloat32, kBfloat16, kInt8 };

// The precision of a name, as in "int8"; "auto" is int8 where the processor has products of its own for it. Throws Failure
// for any other name.
Precision precision_named(const std::string& name);

using acoustic::kInfinity;

// A product with weights, plus a bias.
class Product {
 public:
  // Of a matrix and a bias [columns]. For the gates of an LSTM, outputs are in blocks as the matrix is.
  Product(const Matrix& matrix, const float* bias, Precision precision);

  // The outputs [frames, width()] of inputs [frames, rows], limited to between `low` and `high`.
  std::vector<float> run_filled(const std::vector<float>& inputs, float low, float high, std::size_t threads) const;

  // The same, [frames, columns].
  std::vector<float> run(const std::vector<float>& inputs, float low, float high, std::size_t threads) const;

  // For layers of acoustic/layers, which this must outlive.
  acoustic::Product layer() const;

  std::size_t rows() const { return rows_; }

  // Of the gates of an LSTM, those that fill up blocks are counted, too.
  std::size_t columns() const { return columns_; }

  // Columns, filled up to whole blocks.
  std::size_t width() const { return bias_.size(); }

 private:
  std::size_t rows_, columns_;
  Weights<float> bias_;
  std::variant<FloatBlocks, Bfloat16Blocks, Int8Blocks> weights_;
};

// The first `kept` of the columns of each row.
std::vector<float> first_columns(std::vector<float> rows, std::size_t columns, std::size_t kept);

}  // namespace speech
