// Products of rows with weights of any precision.
#pragma once

#include <cstddef>
#include <limits>
#include <variant>

#include "acoustic/bfloat16.h"
#include "acoustic/int8.h"
#include "acoustic/kernels.h"

namespace acoustic {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

using AnyDenseLayer = std::variant<DenseLayer, Int8DenseLayer, Bfloat16DenseLayer>;

inline std::size_t inputs_of(const DenseLayer& layer) { return layer.rows; }
inline std::size_t inputs_of(const Int8DenseLayer& layer) { return layer.weights.rows; }
inline std::size_t inputs_of(const Bfloat16DenseLayer& layer) { return layer.weights.rows; }

inline std::size_t blocks_of(const DenseLayer& layer) { return layer.blocks; }
inline std::size_t blocks_of(const Int8DenseLayer& layer) { return layer.weights.blocks; }
inline std::size_t blocks_of(const Bfloat16DenseLayer& layer) { return layer.weights.blocks; }

// The first `units` columns of a dense layer.
struct Product {
  AnyDenseLayer layer;
  std::size_t units;

  std::size_t inputs() const {
    return std::visit([](const auto& each) { return inputs_of(each); }, layer);
  }

  // Numbers of a row of outputs, including the padding of the last block.
  std::size_t filled() const {
    return std::visit([](const auto& each) { return blocks_of(each) * kColumns; }, layer);
  }

  // outputs [rows, filled()] = min(max(inputs [rows, inputs()] · weights + bias, low), high), as far as there are units.
  void run(const float* values, std::size_t rows, std::size_t threads, float* outputs, float low = -kInfinity,
           float high = kInfinity, Machine machine = machines().back()) const {
    const auto run_layer = [&](const auto& each) {
      dense(without_unused(each), values, rows, low, high, threads, outputs, machine);
    };
    std::visit(run_layer, layer);
  }

 private:
  DenseLayer without_unused(DenseLayer each) const {
    each.unused = each.blocks * kColumns - units;
    return each;
  }
  template <class Layer>
  const Layer& without_unused(const Layer& each) const {
    return each;
  }
};

}  // namespace acoustic
