#include "c_api/network/row_layers.h"

namespace speech {

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

}  // namespace speech
