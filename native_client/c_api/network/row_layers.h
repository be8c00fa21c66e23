// Layers that compute each row separately.
#pragma once

#include <string>
#include <vector>

#include "acoustic/layers/rows.h"
#include "c_api/graph/layer_records.h"
#include "c_api/network/layer.h"
#include "c_api/weights/weight_reader.h"

namespace speech {

// A dense layer, clipped or linear: deepspeech/network/description/frames.py has the equations of these layers.
class DenseLayer : public RowLayer {
 public:
  DenseLayer(const LayerRecord& record, std::size_t inputs, WeightReader& weights, Precision precision);

  std::size_t outputs() const override { return product_.columns(); }
  std::vector<float> run(std::vector<float> values, std::size_t threads) const override;

 private:
  Product product_;
  float low_, high_;
};

// The scale and the offset, [numbers] each, of a layer normalization.
struct Normalizer {
  Normalizer(const std::string& name, std::size_t numbers, WeightReader& weights);

  acoustic::Normalization layer() const { return {scale.data(), offset.data(), scale.size()}; }

  std::vector<float> scale, offset;
};

class LayerNormalizationLayer : public RowLayer {
 public:
  LayerNormalizationLayer(const LayerRecord& record, std::size_t inputs, WeightReader& weights, Precision)
      : normalizer_(record.name, inputs, weights) {}

  std::size_t outputs() const override { return normalizer_.scale.size(); }
  std::vector<float> run(std::vector<float> values, std::size_t) const override {
    acoustic::normalize(normalizer_.layer(), values.data(), values.size() / outputs(), values.data());
    return values;
  }

 private:
  Normalizer normalizer_;
};

}  // namespace speech
