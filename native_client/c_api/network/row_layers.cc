#include "c_api/network/row_layers.h"

#include <cmath>

namespace speech {
namespace {

constexpr float kEpsilon = 1e-5f;  // that layer normalization adds to the variance

}  // namespace

DenseLayer::DenseLayer(const LayerRecord& record, std::size_t inputs, WeightReader& weights, Precision precision)
    : product_(weights.product(record.name + "/weights", record.name + "/bias", inputs, record.size("units"), precision)),
      low_(record.has("clip") ? 0 : -kInfinity),
      high_(record.has("clip") ? static_cast<float>(record.number("clip")) : kInfinity) {}

std::vector<float> DenseLayer::run(std::vector<float> values, std::size_t threads) const {
  return product_.run(values, low_, high_, threads);
}

Normalizer::Normalizer(const std::string& name, std::size_t numbers, WeightReader& weights)
    : scale(weights.floats(name + "/scale", {static_cast<std::int64_t>(numbers)})),
      offset(weights.floats(name + "/offset", {static_cast<std::int64_t>(numbers)})) {}

void Normalizer::run(std::vector<float>& values) const {
  const std::size_t size = scale.size();
  const auto numbers = static_cast<float>(size);
  for (float* row = values.data(); row != values.data() + values.size(); row += size) {
    float mean = 0, variance = 0;
    for (std::size_t place = 0; place < size; ++place) mean += row[place];
    mean /= numbers;
    for (std::size_t place = 0; place < size; ++place) variance += (row[place] - mean) * (row[place] - mean);
    const float factor = 1 / std::sqrt(variance / numbers + kEpsilon);
    for (std::size_t place = 0; place < size; ++place) {
      row[place] = (row[place] - mean) * factor * scale[place] + offset[place];
    }
  }
}

}  // namespace speech
