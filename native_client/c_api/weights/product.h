// Products with weights in blocks, of any precision.
#pragma once

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "acoustic/layers/product.h"
#include "c_api/weights/blocks.h"

namespace speech {

// The precision of a network's weights: as trained, or rounded.
enum class Precision { kFloat32, kBfloat16, kInt8 };

// The precision of a name, as in "int8"; "auto" is int8 if the processor has special instructions for it, or else
// float32. Throws Failure for any other name.
Precision precision_named(const std::string& name);

using acoustic::kInfinity;

// A product with weights, plus a bias.
class Product {
 public:
  // Takes a matrix and a bias [columns]. For the gates of an LSTM, outputs are in blocks like the matrix.
  Product(const Matrix& matrix, const float* bias, Precision precision);

  // The outputs [frames, width()] of inputs [frames, rows], limited to between `low` and `high`.
  std::vector<float> run_filled(const std::vector<float>& inputs, float low, float high, std::size_t threads) const;

  // The same, [frames, columns].
  std::vector<float> run(const std::vector<float>& inputs, float low, float high, std::size_t threads) const;

  // The product for layers of acoustic/layers; this must outlive them.
  acoustic::Product layer() const;

  std::size_t rows() const { return rows_; }

  // For the gates of an LSTM, this includes the padding of blocks.
  std::size_t columns() const { return columns_; }

  // Columns, padded to whole blocks.
  std::size_t width() const { return bias_.size(); }

 private:
  std::size_t rows_, columns_;
  Weights<float> bias_;
  std::variant<FloatBlocks, Bfloat16Blocks, Int8Blocks> weights_;
};

// The first `kept` of the columns of each row.
std::vector<float> first_columns(std::vector<float> rows, std::size_t columns, std::size_t kept);

}  // namespace speech
