// Convolutions over time and frequency, each a product with the patches that its outputs depend on.
#pragma once

#include <memory>

#include "acoustic/layers/convolution.h"
#include "c_api/graph/layer_records.h"
#include "c_api/network/layer.h"
#include "c_api/weights/weight_reader.h"

namespace speech {

// deepspeech/network/description/convolution.py has the equations.
class ConvolutionLayer : public Layer {
 public:
  ConvolutionLayer(const LayerRecord& record, std::size_t inputs, WeightReader& weights, Precision precision);

  std::size_t outputs() const override { return sizes_.outputs(); }
  std::unique_ptr<LayerRun> begin() const override;

 private:
  using Sizes = acoustic::ConvolutionSizes;

  static Sizes checked_sizes(const LayerRecord& record, std::size_t inputs);
  static Product read_product(const Sizes& sizes, const LayerRecord& record, WeightReader& weights, Precision precision);

  Sizes sizes_;
  Product product_;
  float low_, high_;
};

}  // namespace speech
