// Convolutions over time and frequency, each a product with the patches that its outputs depend on.
#pragma once

#include <vector>

#include "c_api/graph/layer_records.h"
#include "c_api/network/layer.h"
#include "c_api/weights/weight_reader.h"

namespace speech {

// deepspeech/network/description/convolution.py has the equations.
class ConvolutionLayer : public Layer {
 public:
  ConvolutionLayer(const LayerRecord& record, std::size_t inputs, WeightReader& weights, Precision precision);

  std::size_t outputs() const override { return frequencies_ * sizes_.channels; }
  std::unique_ptr<LayerRun> begin() const override;

 private:
  class Run;

  struct Sizes {
    explicit Sizes(const LayerRecord& record);
    std::size_t patch() const { return time * frequency * input_channels; }

    std::size_t channels, input_channels, time, frequency, time_stride, frequency_stride;
  };

  static std::size_t checked_frequencies(const Sizes& sizes, const LayerRecord& record, std::size_t inputs);
  static Product read_product(const Sizes& sizes, const LayerRecord& record, WeightReader& weights, Precision precision);
  void add_patches(const float* frames, std::vector<float>& patches) const;
  std::vector<float> run(const std::vector<float>& frames, std::size_t rows) const;

  std::size_t inputs_;
  Sizes sizes_;
  std::size_t frequencies_;  // of the output
  Product product_;
  float low_, high_;
};

}  // namespace speech
