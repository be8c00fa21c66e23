// The layers of a conformer block beside its attention; deepspeech/network/description/attention.py has the equations.
#pragma once

#include <string>
#include <vector>

#include "c_api/graph/layer_records.h"
#include "c_api/network/row_layers.h"
#include "c_api/weights/weight_reader.h"

namespace speech {

class FeedForwardLayer : public RowLayer {
 public:
  FeedForwardLayer(const LayerRecord& record, std::size_t inputs, WeightReader& weights, Precision precision);

  std::size_t outputs() const override { return outer_.columns(); }
  std::vector<float> run(std::vector<float> values, std::size_t threads) const override;

 private:
  Normalizer normalizer_;
  Product inner_, outer_;
};

class ConvolutionModuleLayer : public Layer {
 public:
  ConvolutionModuleLayer(const LayerRecord& record, std::size_t inputs, WeightReader& weights, Precision precision);

  std::size_t outputs() const override { return width_; }
  std::unique_ptr<LayerRun> begin() const override;

 private:
  class Run;

  std::vector<float> gated(std::vector<float> values, std::size_t threads) const;
  std::vector<float> convolved(const std::vector<float>& gated, std::size_t rows) const;

  std::size_t width_, before_, after_;
  Normalizer normalizer_, second_normalizer_;
  Product inner_, outer_;
  std::vector<float> kernel_, bias_;  // [before + 1 + after, width] and [width]
};

// The product of a layer's weights of this name, `inner` or `outer`.
Product residual_product(const LayerRecord& record, const char* name, std::size_t inputs, std::size_t outputs,
                         WeightReader& weights, Precision precision);

}  // namespace speech
