// Reading the weights of a graph, no more than it can hold.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "c_api/graph/frozen_graph.h"
#include "c_api/weights/product.h"

namespace speech {

// The most numbers in a frame, or in the output of a layer.
constexpr std::size_t kWidestLayer = std::size_t{1} << 16;

// All functions throw Failure if weights are missing, misshapen or not finite, or take far more memory than the file.
class WeightReader {
 public:
  explicit WeightReader(const FrozenGraph& graph) : graph_(graph) {}

  // The values of a variable of this shape.
  std::vector<float> floats(const std::string& name, const Shape& shape);

  // The product with the weights [rows, columns] and the bias [columns] of these names.
  Product product(const std::string& weights, const std::string& bias, std::size_t rows, std::size_t columns,
                  Precision precision);

  // Must be called before memory for weights in blocks, [rows, columns], is allocated.
  void hold_blocks(std::size_t rows, std::size_t columns);

  // The bias that the graph's LSTM adds to its forget gate at run time.
  float forget_bias() const;

 private:
  void hold(std::size_t bytes);

  const FrozenGraph& graph_;
  std::size_t held_ = 0;  // bytes
};

}  // namespace speech
