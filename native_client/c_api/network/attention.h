// Attention with several heads and rotary positions, chunk by chunk or over a whole utterance;
// deepspeech/network/description/attention.py has the equations.
#pragma once

#include <vector>

#include "c_api/graph/layer_records.h"
#include "c_api/network/row_layers.h"
#include "c_api/weights/weight_reader.h"

namespace speech {

class SelfAttentionLayer : public Layer {
 public:
  SelfAttentionLayer(const LayerRecord& record, std::size_t inputs, WeightReader& weights, Precision precision);

  std::size_t outputs() const override { return width_; }
  std::unique_ptr<LayerRun> begin() const override;

 private:
  class Run;

  // Rows of one head, [rows, size] each.
  struct Head {
    std::vector<float> queries, keys, values;
  };

  static std::size_t checked_heads(const LayerRecord& record, std::size_t inputs);
  void add_rows(const std::vector<float>& rows, std::size_t position, std::size_t threads, std::vector<Head>& heads) const;
  void rotate(float* values, std::size_t position) const;
  void attend(const float* queries, std::size_t count, const Head& head, std::size_t first, std::size_t last,
              std::size_t threads, float* means) const;

  std::size_t width_, heads_, size_, chunk_, left_;
  Normalizer normalizer_;
  Product inner_, outer_;
  std::vector<double> waves_;  // [size / 2]
};

}  // namespace speech
