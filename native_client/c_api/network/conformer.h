// The layers of a conformer block; deepspeech/network/description/attention.py has the equations.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "acoustic/layers/conformer.h"
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
  std::size_t width_, taps_, after_;
  Normalizer normalizer_, second_normalizer_;
  Product inner_, outer_;
  std::vector<float> kernel_, bias_;  // [taps, width] and [width]
};

// Attention with several heads and rotary positions, chunk by chunk or over a whole utterance.
class SelfAttentionLayer : public Layer {
 public:
  SelfAttentionLayer(const LayerRecord& record, std::size_t inputs, WeightReader& weights, Precision precision);

  std::size_t outputs() const override { return width_; }
  std::unique_ptr<LayerRun> begin() const override;

 private:
  static std::size_t checked_heads(const LayerRecord& record, std::size_t inputs);

  std::size_t width_, heads_, chunk_, left_;
  Normalizer normalizer_;
  Product inner_, outer_;
};

}  // namespace speech
